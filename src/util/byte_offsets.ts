/**
 * Positions in a text, in UTF-8 bytes and in UTF-16 code units.
 * @module
 */

/** Converts positions in one text. */
export class ByteOffsets {
  /** Bytes before each code unit, and at the end. */
  readonly #bytes: Uint32Array;

  /** @param text The text. */
  constructor(text: string) {
    this.#bytes = new Uint32Array(text.length + 1);
    let bytes = 0;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      const isHalf = code >= 0xd800 && code < 0xe000; // of a pair, which has four bytes
      bytes += code < 0x80 ? 1 : code < 0x800 || isHalf ? 2 : 3;
      this.#bytes[index + 1] = bytes;
    }
  }

  /** The bytes before a code unit. */
  toByte(index: number): number {
    return this.#bytes[Math.min(index, this.#bytes.length - 1)]!;
  }

  /** The code units before a byte. */
  toIndex(byte: number): number {
    let [low, high] = [0, this.#bytes.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#bytes[middle]! < byte) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
