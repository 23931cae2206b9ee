/**
 * Images by vendors that take other requests than OpenAI's at the same paths.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationRequest } from "../../src/contracts/provider.ts";
import { toBase64 } from "../../src/util/base64.ts";
import { parseObject, readBytes, upstreamError } from "./_http.ts";
import { imagesIn } from "./_openai_images.ts";
import type { VendorOperation } from "./_openai_vendor.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

/** A vendor's request, and the parameters that it leaves out. */
export interface WrittenImages {
  /** The body; it names the model where the address does not. */
  readonly body: JsonObject;
  readonly dropped: readonly string[];
}

/** How a vendor takes requests for images. */
export interface ImageDialect {
  /** Below the vendor's address, or from it by `../`. */
  readonly pathOf: (model: string) => string;
  /** Beside the key's and the content type. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The vendor's request. */
  readonly write: (request: OperationRequest) => WrittenImages;
  /** The images of a response; `data` has them, when left out. */
  readonly imagesIn?: (body: JsonObject) => unknown;
}

/**
 * Images in a vendor's dialect.
 *
 * @param dialect How the vendor takes requests.
 */
export function imagesByDialect({ pathOf, headers = {}, write, imagesIn: find }: ImageDialect): VendorOperation {
  return (post, { clock }) => async (request, options) => {
    const { body, dropped } = write(request);
    options.reportDropped?.(dropped);
    const response = await post(pathOf(request.model.id), { ...request, headers, json: body }, options);
    const answer = parseObject(decoder.decode(await readBytes(response)));
    return imagesIn(find === undefined ? answer : { ...answer, data: find(answer) }, { clock });
  };
}

/**
 * Width and height in pixels.
 *
 * @param size Such as `1024x768`; undefined for anything else, such as `auto`.
 */
export function pixelsOf(size: unknown): { readonly width: number; readonly height: number } | undefined {
  const [, width, height] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(String(size)) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/**
 * The aspect ratio of a size, for vendors that know no pixels.
 *
 * @param size Such as `1536x1024`.
 * @param known Those that the vendor has, such as `3:2`.
 * @returns Undefined when it is none of them.
 */
export function aspectRatioOf(size: unknown, known: readonly string[]): string | undefined {
  const pixels = pixelsOf(size);
  return pixels && known.find((ratio) => {
    const [width, height] = ratio.split(":");
    return pixels.width * Number(height) === pixels.height * Number(width);
  });
}

/**
 * Refuses what a vendor has no word for: more than one image.
 *
 * @throws {UpstreamError} `request`: then the next model is asked.
 */
export function checkIsOne({ body: { n } }: OperationRequest): void {
  if (n === undefined || n === null || n === 1) return;
  const message = "The model makes one image for a request";
  throw upstreamError(400, { message, type: "invalid_request_error", param: "n", code: "invalid_value" });
}

/** A file as a data URL. */
export function dataUrlOf({ type, bytes }: { readonly type: string; readonly bytes: Uint8Array }): string {
  return `data:${type};base64,${toBase64(bytes)}`;
}

/**
 * A body without some members, and the names of those among them that it had.
 *
 * @param body The body.
 * @param names The members that the vendor refuses.
 */
export function without(body: JsonObject, names: readonly string[]): WrittenImages {
  const isLeftOut = (name: string) => names.includes(name) && body[name] !== undefined && body[name] !== null;
  return {
    body: Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))),
    dropped: Object.keys(body).filter(isLeftOut),
  };
}
