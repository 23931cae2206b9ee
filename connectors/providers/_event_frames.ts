/**
 * Parser of AWS's binary event stream encoding, `application/vnd.amazon.eventstream`.
 *
 * Source: https://smithy.io/2.0/aws/amazon-eventstream.html, read 2026-11-22.
 * @module
 */
import type { BodyReader } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";

/** One message of an event stream. */
export interface EventFrame {
  /** Headers with string values. */
  readonly headers: ReadonlyMap<string, string>;
  /** The payload. */
  readonly body: Uint8Array;
}

const preludeBytes = 12;
const checksumBytes = 4;
/** Maximum message size of AWS's own parsers, bytes. */
const maxFrameBytes = 16 * 1024 * 1024;
/** Length of a header value by its type, bytes; types 6 and 7 have a length prefix. */
const valueBytes: readonly number[] = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16];
const textType = 7;

const decoder = /* @__PURE__ */ new TextDecoder();

/** Parses messages from bytes that arrive in arbitrary chunks. */
export class EventFrameParser {
  #parts: Uint8Array[] = [];
  #size = 0;
  #needed = preludeBytes;

  /** Whether the bytes so far end at a message boundary. */
  get isBetweenFrames(): boolean {
    return this.#size === 0;
  }

  /**
   * Appends bytes.
   *
   * @param bytes The next bytes, split at any position.
   * @returns The messages that they complete.
   * @throws {UpstreamError} `invalid_response` if a checksum or length is invalid.
   */
  push(bytes: Uint8Array): EventFrame[] {
    this.#parts.push(bytes);
    this.#size += bytes.length;
    const frames: EventFrame[] = [];
    if (this.#size < this.#needed) return frames;
    let rest = joinParts(this.#parts, this.#size);
    for (;;) {
      this.#needed = frameLength(rest);
      if (rest.length < this.#needed) break;
      frames.push(parseFrame(rest.subarray(0, this.#needed)));
      rest = rest.subarray(this.#needed);
    }
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#size = rest.length;
    return frames;
  }
}

/**
 * Reads a response body as messages, batched as they arrive. Ending the iteration early cancels the body.
 *
 * @param reader Reader of the response body.
 * @throws {UpstreamError} `invalid_response` for an invalid message, or if the body ends within one.
 */
export async function* readEventFrames(reader: BodyReader): AsyncGenerator<EventFrame[]> {
  const parser = new EventFrameParser();
  let done = false;
  try {
    for (;;) {
      const read = await reader.read();
      done = read.done;
      if (read.done) break;
      yield parser.push(read.value);
    }
    if (!parser.isBetweenFrames) throw damaged("it ended within an event");
  } finally {
    if (!done) await reader.cancel().catch(() => {}); // a body that broke off cannot be cancelled, and need not be
  }
}

/** CRC-32, as in gzip. */
export function crc32(bytes: Uint8Array): number {
  const table = crcTable ??= makeTable();
  let sum = ~0;
  for (const byte of bytes) sum = sum >>> 8 ^ table[(sum ^ byte) & 0xff]!;
  return ~sum >>> 0;
}

let crcTable: Uint32Array | undefined;

function makeTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, value) => {
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? value >>> 1 ^ 0xedb88320 : value >>> 1;
    return value;
  });
}

/** Length of the first message, bytes; the length of a prelude while that is incomplete. */
function frameLength(bytes: Uint8Array): number {
  if (bytes.length < preludeBytes) return preludeBytes;
  const view = createView(bytes);
  if (view.getUint32(8) !== crc32(bytes.subarray(0, 8))) throw damaged("a checksum is wrong");
  const length = view.getUint32(0);
  if (length > maxFrameBytes) throw damaged(`an event is over ${maxFrameBytes} bytes`);
  if (preludeBytes + view.getUint32(4) + checksumBytes > length) throw damaged("a length is wrong");
  return length;
}

function parseFrame(bytes: Uint8Array): EventFrame {
  const view = createView(bytes);
  const end = bytes.length - checksumBytes;
  if (view.getUint32(end) !== crc32(bytes.subarray(0, end))) throw damaged("a checksum is wrong");
  const bodyStart = preludeBytes + view.getUint32(4);
  return { headers: parseFrameHeaders(bytes.subarray(preludeBytes, bodyStart)), body: bytes.subarray(bodyStart, end) };
}

function parseFrameHeaders(bytes: Uint8Array): Map<string, string> {
  const view = createView(bytes);
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + bytes[at]!;
    if (nameEnd + 1 > bytes.length) throw damaged("a header is cut off");
    const name = decoder.decode(bytes.subarray(at + 1, nameEnd));
    const type = bytes[nameEnd]!;
    const size = valueBytes[type];
    if (size === undefined) throw damaged("a header has an unknown type");
    const start = nameEnd + (size < 0 ? 3 : 1);
    if (start > bytes.length) throw damaged("a header is cut off");
    at = start + (size < 0 ? view.getUint16(nameEnd + 1) : size);
    if (at > bytes.length) throw damaged("a header is cut off");
    if (type === textType) headers.set(name, decoder.decode(bytes.subarray(start, at)));
  }
  return headers;
}

function createView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function joinParts(parts: readonly Uint8Array[], size: number): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const merged = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    merged.set(part, at);
    at += part.length;
  }
  return merged;
}

function damaged(reason: string): UpstreamError {
  return new UpstreamError(`The provider's event stream is damaged: ${reason}`, { kind: "invalid_response" });
}
