/**
 * Encodes messages and chunks (RFC 9112, sections 6 and 7.1) into one buffer, since the allocation of an array costs
 * more than copying its contents.
 * @module
 */

/** Bodies up to this size, bytes, are sent with their head. */
const maxJoinedBytes = 64 * 1024;

/** Size, initial and maximum, bytes. Idle connections keep their buffers, so a larger message has one of its own. */
const firstBytes = 1024;
const maxKeptBytes = 16 * 1024;

/** Room for the length and the end of a head, or for the size of a chunk. */
const lengthBytes = 40;

const encoder = new TextEncoder();

/** The end of a chunked body. */
export const lastChunk: Uint8Array = encoder.encode("0\r\n\r\n");

/** A buffer for output. */
export class OutputBuffer {
  #bytes: Uint8Array = new Uint8Array(0);

  /**
   * Encodes a head that is followed by no body.
   *
   * @param head Its lines; ISO-8859-1, without the empty line.
   */
  head(head: string): Uint8Array {
    const bytes = this.#room(head.length + 2);
    return bytes.subarray(0, encodeHead(`${head}\r\n`, bytes, 0));
  }

  /**
   * Encodes a head, the length of a body, and the body unless that is large.
   *
   * @param head Its lines; ISO-8859-1, without the empty line.
   * @returns What to send, in order.
   */
  message(head: string, body: Uint8Array | string): readonly Uint8Array[] {
    const most = typeof body === "string" ? body.length * 3 : body.length;
    if (most > maxJoinedBytes) {
      if (typeof body === "string") return this.message(head, encoder.encode(body));
      return [this.head(`${head}content-length: ${body.length}\r\n`), body];
    }
    const at = head.length + lengthBytes;
    const bytes = this.#room(at + most);
    const length = put(body, bytes, at);
    const whole = `${head}content-length: ${length}\r\n\r\n`;
    encodeHead(whole, bytes, at - whole.length);
    return [bytes.subarray(at - whole.length, at + length)];
  }

  /** Encodes a chunk of a chunked body; undefined without data, since an empty chunk would end the body. */
  chunk(data: Uint8Array | string): Uint8Array | undefined {
    if (data.length === 0) return undefined;
    const bytes = this.#room(lengthBytes + (typeof data === "string" ? data.length * 3 : data.length) + 2);
    const length = put(data, bytes, lengthBytes);
    const size = `${length.toString(16)}\r\n`;
    encoder.encodeInto(size, bytes.subarray(lengthBytes - size.length));
    bytes[lengthBytes + length] = 13;
    bytes[lengthBytes + length + 1] = 10;
    return bytes.subarray(lengthBytes - size.length, lengthBytes + length + 2);
  }

  #room(size: number): Uint8Array {
    if (this.#bytes.length >= size) return this.#bytes;
    const bytes = new Uint8Array(Math.max(firstBytes, 2 ** Math.ceil(Math.log2(size))));
    return size > maxKeptBytes ? bytes : this.#bytes = bytes;
  }
}

function put(data: Uint8Array | string, into: Uint8Array, at: number): number {
  if (typeof data === "string") return encoder.encodeInto(data, into.subarray(at)).written;
  into.set(data, at);
  return data.length;
}

/** Encodes ISO-8859-1. Returns the number of bytes. */
function encodeHead(text: string, into: Uint8Array, at: number): number {
  const { read } = encoder.encodeInto(text, into.subarray(at, at + text.length));
  if (read === text.length) return read; // ASCII: a byte per character
  for (let index = 0; index < text.length; index++) into[at + index] = text.charCodeAt(index);
  return text.length;
}
