/**
 * Reads the files that a program passes to a call.
 * @module
 */
import type { UploadedFile } from "../contracts/provider.ts";
import type { UnsupportedRequestError } from "../errors.ts";
import { invalid } from "../pipeline/check_body.ts";
import { concat } from "../util/bytes.ts";

/** A file, in any of the accepted forms. File name and media type are taken from the value where it has them. */
export type FileInput =
  | Blob
  | Response
  | ArrayBuffer
  | ArrayBufferView
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

const typesByEnding: Readonly<Record<string, string>> = {
  flac: "audio/flac",
  m4a: "audio/mp4",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  oga: "audio/ogg",
  ogg: "audio/ogg",
  opus: "audio/ogg",
  wav: "audio/wav",
  webm: "audio/webm",
  pdf: "application/pdf",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
};

/**
 * Reads the files of a request field: a `File`, `Blob`, `Response`, bytes, anything that yields bytes, such as
 * `fs.createReadStream(path)`, or an array of these.
 *
 * @param field The name of the field, such as `file`, for error messages.
 * @param value The field's value; undefined and null mean no file.
 * @throws {UnsupportedRequestError} `invalid_value` for any other value.
 */
export async function readFiles(field: string, value: unknown): Promise<readonly UploadedFile[]> {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [await readFileValue(value, field)];
  return await Promise.all(value.map((item) => readFileValue(item, `${field}[]`)));
}

/** A file whose bytes are read when they are sent. */
interface FileStream {
  readonly name: string;
  /** Media type. */
  readonly type: string;
  /** The bytes. Can be read once. */
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Makes a file stream from a field's value without reading it.
 *
 * @param field The name of the field, such as `file`, for error messages.
 * @param value The field's value.
 * @throws {UnsupportedRequestError} When the value is not a file, immediately or while it is read.
 */
export function toFileStream(field: string, value: unknown): FileStream {
  return { ...readFileFacts(value, field), content: readFileChunks(value, field) };
}

async function readFileValue(value: unknown, field: string): Promise<UploadedFile> {
  return { field, ...readFileFacts(value, field), bytes: await readFileBytes(value, field) };
}

function readFileFacts(value: unknown, field: string): Pick<FileStream, "name" | "type"> {
  const name = findFileName(value) ?? field.replace(/\[\]$/, "");
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  const type = findFileType(value) || (Object.hasOwn(typesByEnding, ending) ? typesByEnding[ending]! : undefined);
  return { name, type: type ?? "application/octet-stream" };
}

async function* readFileChunks(value: unknown, field: string): AsyncGenerator<Uint8Array> {
  const stream = value instanceof Blob ? value.stream() : value instanceof Response ? value.body : value;
  if (stream instanceof ReadableStream) return yield* chunksFrom(stream.getReader());
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return yield await readFileBytes(value, field);
  if (typeof Object(value)[Symbol.asyncIterator] !== "function") throw noFile(field);
  for await (const chunk of value as AsyncIterable<unknown>) {
    if (!(chunk instanceof Uint8Array)) throw invalid(`"${field}" has to yield bytes`, field);
    yield chunk;
  }
}

/** Reads a stream through its reader, since not every browser can iterate over a `ReadableStream`. */
async function* chunksFrom(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => {}); // rejects when the stream has already ended or failed
  }
}

function noFile(field: string): UnsupportedRequestError {
  return invalid(`"${field}" has to be a File, Blob, Response, bytes, or a stream of bytes`, field);
}

async function readFileBytes(value: unknown, field: string): Promise<Uint8Array> {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (value instanceof Blob || value instanceof Response) return new Uint8Array(await value.arrayBuffer());
  if (typeof Object(value)[Symbol.asyncIterator] !== "function") {
    throw noFile(field);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of value as AsyncIterable<unknown>) {
    if (!(chunk instanceof Uint8Array)) throw invalid(`"${field}" has to yield bytes`, field);
    chunks.push(chunk);
  }
  return concat(chunks);
}

/** The file name: that of a `File`, of a stream that reads a file, or the last path segment of a response's URL. */
function findFileName(value: unknown): string | undefined {
  const { name, path, url } = Object(value);
  const source = [name, path, url].find((candidate) => typeof candidate === "string" && candidate !== "") as
    | string
    | undefined;
  return source?.split(/[?#]/, 1)[0]?.split(/[\\/]/).at(-1) || undefined;
}

function findFileType(value: unknown): string | undefined {
  if (value instanceof Response) return value.headers.get("content-type") ?? undefined;
  return value instanceof Blob ? value.type : undefined;
}
