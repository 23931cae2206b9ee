/**
 * Image generation by vendors whose requests differ from OpenAI's at the same paths.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationRequest } from "../../src/contracts/provider.ts";
import { toBase64 } from "../../src/util/base64.ts";
import { toText } from "../../src/util/to_text.ts";
import { parseObject, readBytes, upstreamError } from "./_http.ts";
import { imagesIn } from "./_openai_media.ts";
import type { VendorOperation } from "./_openai_vendor.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

/** A translated request, and the parameters that it drops. */
interface WrittenImages {
  /** The request body; contains the model unless the URL does. */
  readonly body: JsonObject;
  readonly dropped: readonly string[];
}

/** A vendor's dialect of image requests. */
interface ImageDialect {
  /** Path relative to the vendor's base URL; may start with `../`. */
  readonly toPath: (model: string) => string;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Translates a request. */
  readonly write: (request: OperationRequest) => WrittenImages;
  /** Extracts the images from a response; `data` by default. */
  readonly imagesIn?: (body: JsonObject) => unknown;
}

/** The dialects, by vendor. */
export type ImageDialectName = "together" | "cloudflare" | "fireworks" | "xai" | "xaiEdits";

/**
 * Image generation in a vendor's dialect.
 *
 * @param name The name of the dialect.
 */
export function imagesByDialect(name: ImageDialectName): VendorOperation {
  const { toPath: pathOf, headers = {}, write, imagesIn: find } = dialects[name];
  return (post, { clock }) => async (request, options) => {
    const { body, dropped } = write(request);
    options.reportDropped?.(dropped);
    const response = await post(pathOf(request.model.id), { ...request, headers, json: body }, options);
    const data = parseObject(decoder.decode(await readBytes(response)));
    return imagesIn(find === undefined ? data : { ...data, data: find(data) }, { clock });
  };
}

/**
 * Width and height in pixels.
 *
 * @param size A size such as `1024x768`.
 * @returns Width and height; undefined for other values, such as `auto`.
 */
function parsePixels(size: unknown): { readonly width: number; readonly height: number } | undefined {
  const [, width, height] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(toText(size)) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/**
 * The aspect ratio of a size, for vendors without pixel sizes.
 *
 * @param size A size such as `1536x1024`.
 * @param ratios The supported ratios, such as `3:2`.
 * @returns Undefined if the ratio is not supported.
 */
export function findAspectRatio(size: unknown, ratios: readonly string[]): string | undefined {
  const pixels = parsePixels(size);
  return pixels && ratios.find((ratio) => {
    const [width, height] = ratio.split(":");
    return pixels.width * Number(height) === pixels.height * Number(width);
  });
}

/**
 * Rejects a request for several images, which the vendor does not support.
 *
 * @throws {UpstreamError} `request`, so that the next model is tried.
 */
export function checkIsOne({ body: { n } }: OperationRequest): void {
  if (n === undefined || n === null || n === 1) return;
  const message = "The model generates one image per request";
  throw upstreamError(400, { message, type: "invalid_request_error", param: "n", code: "invalid_value" });
}

/** Encodes a file as a data URL. */
export function toDataUrl({ type, bytes }: { readonly type: string; readonly bytes: Uint8Array }): string {
  return `data:${type};base64,${toBase64(bytes)}`;
}

/**
 * Removes members from a body, and reports those that were present.
 *
 * @param names The members that the vendor rejects.
 */
function omitNames(body: JsonObject, names: readonly string[]): WrittenImages {
  const isLeftOut = (name: string) => names.includes(name) && body[name] !== undefined && body[name] !== null;
  return {
    body: Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))),
    dropped: Object.keys(body).filter(isLeftOut),
  };
}

/**
 * Together AI: width and height are separate members, and base64 has another name.
 *
 * Source: github.com/togethercomputer/together-typescript, `ImageGenerateParams`.
 */
const together: ImageDialect = {
  toPath: () => "images/generations",
  write({ model, body: { size, response_format: form, ...others } }) {
    const { body, dropped } = omitNames(others, ["quality", "style", "moderation", "output_compression"]);
    const format = form === "b64_json" ? "base64" : form;
    const more = { ...parsePixels(size), ...(format ? { response_format: format } : {}) };
    return { body: { ...body, ...more, model: model.id }, dropped };
  },
};

/** Members that models of Fireworks do not support; those of Cloudflare do not support sizes either. */
const refused = ["quality", "style", "moderation", "background", "output_format", "output_compression"];
/** Members that do not affect the image. */
const neutral = ["model", "n", "response_format", "user"];

/**
 * Cloudflare Workers AI: one image per request, through its native API. Unknown members, such as `steps`, are passed
 * through.
 *
 * Source: developers.cloudflare.com/workers-ai/models/flux-1-schnell.
 */
const cloudflare: ImageDialect = {
  toPath: (model) => `../run/${model}`,
  write(request) {
    checkIsOne(request);
    const { body, dropped } = omitNames(request.body, ["size", ...refused]);
    return { body: omitNames(body, neutral).body, dropped };
  },
  imagesIn: ({ result }) => [{ b64_json: Object(result).image }],
};

const fireworksRatios = ["1:1", "21:9", "16:9", "3:2", "5:4", "4:5", "2:3", "9:16", "9:21", "4:3", "3:4"];

/**
 * Fireworks AI: one image per request, through the model's workflow endpoint.
 *
 * Source: docs.fireworks.ai/api-reference/generate-a-new-image-from-a-text-prompt.
 */
const fireworks: ImageDialect = {
  toPath: (model) => `workflows/${model.split("/").map(encodeURIComponent).join("/")}/text_to_image`,
  headers: { accept: "application/json" },
  write(request) {
    checkIsOne(request);
    const { body, dropped } = omitNames(request.body, refused);
    const ratio = findAspectRatio(request.body.size, fireworksRatios);
    const more = ratio === undefined ? {} : { aspect_ratio: ratio };
    return { body: { ...omitNames(body, [...neutral, "size"]).body, ...more }, dropped };
  },
  // one image or a list of one; as base64 or as a data URL
  imagesIn: ({ base64 }) =>
    [base64].flat().map((image) => ({
      b64_json: typeof image === "string" ? image.replace(/^data:[^,]*,/, "") : image,
    })),
};

const xaiRatios = ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3", "2:1", "1:2"];
const refusedByXai = ["size", "quality", "style", "moderation", "background", "output_compression", "input_fidelity"];

/**
 * xAI: aspect ratios instead of sizes.
 *
 * Sources: docs.x.ai, image generation; github.com/vercel/ai, `packages/xai`; reports of rejected arguments
 * (docs.crazyrouter.com).
 */
const xai: ImageDialect = { toPath: () => "images/generations", write: writeXaiImages };

/** Editing of one image on xAI, which is sent as a data URL. */
const xaiEdits: ImageDialect = {
  toPath: () => "images/edits",
  write(request) {
    const { body, dropped } = writeXaiImages(request);
    const [image] = request.files ?? [];
    return { body: { ...body, image: { url: image && toDataUrl(image), type: "image_url" } }, dropped };
  },
};

/**
 * A size with a supported aspect ratio is sent as that ratio, and still reported as dropped, since its resolution is
 * lost.
 */
function writeXaiImages({ model, body: requested }: OperationRequest): WrittenImages {
  const { body, dropped } = omitNames({ ...requested, model: model.id }, refusedByXai);
  const ratio = findAspectRatio(requested.size, xaiRatios);
  return { body: ratio === undefined ? body : { aspect_ratio: ratio, ...body }, dropped };
}

const dialects: Readonly<Record<ImageDialectName, ImageDialect>> = { together, cloudflare, fireworks, xai, xaiEdits };
