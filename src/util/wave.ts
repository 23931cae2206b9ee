/**
 * WAVE header, for providers that return raw samples.
 * @module
 */

/**
 * Returns the 44-byte header of 16-bit mono samples, little-endian.
 *
 * @param bytes Size of the samples, bytes.
 * @param rate Samples per second.
 */
export function waveHeader(bytes: number, rate: number): Uint8Array {
  const head = new Uint8Array(44);
  const view = new DataView(head.buffer);
  const write = (at: number, text: string) => head.set(new TextEncoder().encode(text), at);
  write(0, "RIFF");
  view.setUint32(4, 36 + bytes, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true); // size of this chunk
  view.setUint16(20, 1, true); // PCM
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  write(36, "data");
  view.setUint32(40, bytes, true);
  return head;
}
