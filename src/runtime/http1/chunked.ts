/**
 * Decodes the chunked transfer coding (RFC 9112, section 7.1) in place.
 * @module
 */
import { MalformedMessage } from "./malformed.ts";
import { isTokenCode } from "./response_head.ts";

/** Maximum length of a chunk's extensions, and of the trailer section, bytes. */
const maxLineBytes = 16 * 1024;

/** Maximum hexadecimal digits of a chunk size, which keep it below 2^53. */
const maxDigits = 13;

const cr = 13;
const semicolon = 59;
const colon = 58;
const lf = 10;

/** Parser states: the part that the next byte belongs to. */
const Part = {
  size: 0,
  extension: 1,
  sizeEnd: 2,
  data: 3,
  dataEnd: 4,
  trailerStart: 5,
  trailerName: 6,
  trailer: 7,
  trailerEnd: 8,
  last: 9,
  over: 10,
};

/** Incremental decoder of a chunked body. */
export class ChunkedDecoder {
  #part = Part.size;
  /** Remaining bytes of the current chunk. */
  #left = 0;
  #digits = 0;
  #lineBytes = 0;

  /** Whether the last chunk and the trailer section have been read. */
  get isOver(): boolean {
    return this.#part === Part.over;
  }

  /** Index at which the last {@linkcode decode} stopped reading: `to`, or the end of the body. */
  consumed = 0;

  /**
   * Decodes `bytes` from `from` to `to`, and moves the data to the start of that range.
   *
   * @returns End index of the data.
   * @throws {MalformedMessage}
   */
  decode(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    let end = from;
    while (at < to && this.#part !== Part.over) {
      if (this.#part === Part.data) {
        const size = Math.min(this.#left, to - at);
        if (end !== at) bytes.copyWithin(end, at, at + size);
        at += size;
        end += size;
        this.#left -= size;
        if (this.#left === 0) this.#part = Part.dataEnd;
      } else this.#step(bytes[at++]!);
    }
    this.consumed = at;
    return end;
  }

  #step(byte: number): void {
    switch (this.#part) {
      case Part.size:
        return this.#takeSize(byte);
      case Part.extension:
      case Part.trailer:
        this.#countLine();
        if (byte === cr) this.#part = this.#part === Part.trailer ? Part.trailerEnd : Part.sizeEnd;
        else if (isControl(byte)) throw new MalformedMessage("a control character in a line about a chunk");
        return;
      case Part.sizeEnd:
        expect(byte, lf);
        this.#lineBytes = 0;
        this.#digits = 0;
        this.#part = this.#left === 0 ? Part.trailerStart : Part.data;
        return;
      case Part.dataEnd:
        // CRLF follows the data of a chunk
        if (this.#lineBytes++ === 0) return expect(byte, cr);
        expect(byte, lf);
        this.#lineBytes = 0;
        this.#part = Part.size;
        return;
      case Part.trailerStart:
      case Part.trailerName:
        this.#countLine();
        if (byte === cr && this.#part === Part.trailerStart) this.#part = Part.last;
        else if (byte === colon && this.#part === Part.trailerName) this.#part = Part.trailer;
        else if (isTokenCode(byte)) this.#part = Part.trailerName;
        else throw new MalformedMessage("an invalid trailer field");
        return;
      case Part.trailerEnd:
        expect(byte, lf);
        this.#part = Part.trailerStart;
        return;
      case Part.last:
        expect(byte, lf);
        this.#part = Part.over;
    }
  }

  #takeSize(byte: number): void {
    const digit = hexadecimal(byte);
    if (digit >= 0) {
      if (++this.#digits > maxDigits) throw new MalformedMessage("a chunk that is too large");
      this.#left = this.#left * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw new MalformedMessage("a chunk without a size");
    if (byte === cr) this.#part = Part.sizeEnd;
    else if (byte === semicolon) this.#part = Part.extension;
    else throw new MalformedMessage("an invalid chunk size");
  }

  #countLine(): void {
    if (++this.#lineBytes > maxLineBytes) throw new MalformedMessage("a line about a chunk that is too long");
  }
}

function expect(byte: number, expected: number): void {
  if (byte !== expected) throw new MalformedMessage("a chunk that does not end where it should");
}

function hexadecimal(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function isControl(byte: number): boolean {
  return byte < 32 && byte !== 9 || byte === 127;
}
