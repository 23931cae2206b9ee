/**
 * Image generation by vendors whose requests differ from OpenAI's at the same paths.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationRequest } from "../../src/contracts/provider.ts";
import { toBase64 } from "../../src/util/base64.ts";
import { parseObject, readBytes, upstreamError } from "./_http.ts";
import { imagesIn } from "./_openai_images.ts";
import type { VendorOperation } from "./_openai_vendor.ts";
import { toText } from "../../src/util/to_text.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

/** A translated request, and the parameters that it drops. */
export interface WrittenImages {
  /** The request body; contains the model unless the URL does. */
  readonly body: JsonObject;
  readonly dropped: readonly string[];
}

/** A vendor's dialect of image requests. */
export interface ImageDialect {
  /** Path relative to the vendor's base URL; may start with `../`. */
  readonly toPath: (model: string) => string;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Translates a request. */
  readonly write: (request: OperationRequest) => WrittenImages;
  /** Extracts the images from a response; `data` by default. */
  readonly imagesIn?: (body: JsonObject) => unknown;
}

/**
 * Image generation in a vendor's dialect.
 *
 * @param dialect The vendor's dialect.
 */
export function imagesByDialect(
  { toPath: pathOf, headers = {}, write, imagesIn: find }: ImageDialect,
): VendorOperation {
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
export function parsePixels(size: unknown): { readonly width: number; readonly height: number } | undefined {
  const [, width, height] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(toText(size)) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/**
 * The aspect ratio of a size, for vendors without pixel sizes.
 *
 * @param size A size such as `1536x1024`.
 * @param known The supported ratios, such as `3:2`.
 * @returns Undefined if the ratio is not supported.
 */
export function findAspectRatio(size: unknown, known: readonly string[]): string | undefined {
  const pixels = parsePixels(size);
  return pixels && known.find((ratio) => {
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
export function omitNames(body: JsonObject, names: readonly string[]): WrittenImages {
  const isLeftOut = (name: string) => names.includes(name) && body[name] !== undefined && body[name] !== null;
  return {
    body: Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))),
    dropped: Object.keys(body).filter(isLeftOut),
  };
}
