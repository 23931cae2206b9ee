/**
 * Compressed request bodies. They are decompressed while they are read, so that the limits of bodies hold for what they
 * contain.
 * @module
 */
import type { Decompressor, Runtime } from "../contracts/runtime.ts";
import type { PlainRequest } from "../contracts/shell.ts";
import { readableFrom } from "../util/readable_from.ts";
import { type BodyBounds, readRequestBody } from "./body_reader.ts";
import { HttpError } from "./error_body.ts";

/** Formats by content coding. Those that the runtime lacks are not supported. */
const formats: ReadonlyMap<string, string> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "brotli"],
  ["zstd", "zstd"],
]);

/**
 * Returns a request whose body is decompressed.
 *
 * @param request A request whose body has not been read.
 * @param runtime Creates decompressors.
 * @returns The same request if its body is not compressed.
 * @throws {HttpError} 415 for a coding that is not supported; reading the body throws 400 if it is damaged.
 */
export function withDecompressedBody(request: PlainRequest, runtime: Decompressing): PlainRequest {
  const coding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return request;
  const decompressor = createBodyDecompressor(coding, runtime);
  if (decompressor === undefined) throw createUnsupportedCoding(runtime);
  const { headers } = request;
  return {
    method: request.method,
    url: request.url,
    signal: request.signal,
    headers: {
      get: (name) => isOfCompressed(name) ? null : headers.get(name),
      has: (name) => !isOfCompressed(name) && headers.has(name),
    },
    body: request.body && decompressWith(decompressor, { request, coding }),
    bytes: () => request.bytes(),
  };
}

/**
 * Reads the body of a request with a content coding, decompressed, within the limits of bodies.
 *
 * @throws {HttpError} As {@linkcode withDecompressedBody} and {@linkcode readRequestBody} do.
 */
export async function readCompressed(
  request: PlainRequest,
  bounds: BodyBounds,
  runtime: Decompressing,
): Promise<Uint8Array> {
  return await readRequestBody(withDecompressedBody(request, runtime), bounds);
}

/** Headers that describe the compressed body. */
function isOfCompressed(name: string): boolean {
  return name === "content-length" || name === "content-encoding";
}

type Decompressing = Pick<Runtime, "createDecompressor">;

function createBodyDecompressor(coding: string, runtime: Decompressing): Decompressor | undefined {
  const format = formats.get(coding);
  if (format === undefined) return undefined;
  if (runtime.createDecompressor !== undefined) return runtime.createDecompressor(format);
  try {
    return new DecompressionStream(format as CompressionFormat) as Decompressor;
  } catch {
    return undefined; // the runtime lacks this format
  }
}

async function* decompressWith(
  { readable, writable }: Decompressor,
  { request: { body, signal }, coding }: { readonly request: PlainRequest; readonly coding: string },
): AsyncGenerator<Uint8Array> {
  const feeding = readableFrom(body!).pipeTo(writable);
  feeding.catch(() => {}); // reading fails as well
  try {
    yield* readable;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new HttpError(`The body is not valid ${coding}`, { status: 400, code: "invalid_value" });
  }
}

function createUnsupportedCoding(runtime: Decompressing): HttpError {
  const codings = [...formats.keys()].filter((coding) =>
    coding !== "x-gzip" && createBodyDecompressor(coding, runtime)
  );
  return new HttpError(`A compressed body has to use one of: ${codings.join(", ")}`, {
    status: 415,
    code: "unsupported_media_type",
    headers: { "accept-encoding": codings.join(", ") },
  });
}
