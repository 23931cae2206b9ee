/**
 * Synchronous SHA-256 (FIPS 180-4) of short strings. Web Crypto is asynchronous, which would delay every request.
 * @module
 */

/**
 * First 32 bits of the fractional parts of roots of primes: square roots for the initial state, cube roots for the
 * constants.
 */
const { initial, constants } = primeRoots();

const encoder = new TextEncoder();

/**
 * Returns the SHA-256 of a string or of bytes.
 *
 * @param data A string is encoded as UTF-8.
 * @returns 64 hexadecimal digits.
 */
export function sha256(data: string | Uint8Array): string {
  const state = Uint32Array.from(initial);
  const words = new Uint32Array(64);
  const blocks = new DataView(padded(typeof data === "string" ? encoder.encode(data) : data).buffer);
  for (let start = 0; start < blocks.byteLength; start += 64) {
    for (let index = 0; index < 16; index++) words[index] = blocks.getUint32(start + 4 * index);
    extendWords(words);
    compressBlock(state, words);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** Appends a one bit, zeros, and the length in bits, up to a multiple of the block size. */
function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const blocks = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  blocks.set(bytes);
  blocks[bytes.length] = 0x80;
  new DataView(blocks.buffer).setBigUint64(blocks.length - 8, BigInt(bytes.length) * 8n);
  return blocks;
}

function extendWords(words: Uint32Array): void {
  for (let index = 16; index < 64; index++) {
    const [early, late] = [words[index - 15]!, words[index - 2]!];
    const first = rotated(early, 7) ^ rotated(early, 18) ^ early >>> 3;
    const second = rotated(late, 17) ^ rotated(late, 19) ^ late >>> 10;
    words[index] = words[index - 16]! + first + words[index - 7]! + second;
  }
}

function compressBlock(state: Uint32Array, words: Uint32Array): void {
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let round = 0; round < 64; round++) {
    const choice = e & f ^ ~e & g;
    const majority = a & b ^ a & c ^ b & c;
    const first = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + choice + constants[round]! + words[round]! |
      0;
    const two = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, d + first | 0, c, b, a, first + two | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => state[index]! += word);
}

function rotated(word: number, by: number): number {
  return word >>> by | word << 32 - by;
}

function primeRoots(): { initial: Uint32Array; constants: Uint32Array } {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < 64; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  const fraction = (root: number) => (root - Math.floor(root)) * 2 ** 32;
  return {
    initial: Uint32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    constants: Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  };
}
