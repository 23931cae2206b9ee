/**
 * Audio files.
 * @module
 */

/**
 * Returns a WAVE file of silence: 8 kHz, 8 bit, mono.
 *
 * @param seconds Duration.
 */
export function createWave(seconds: number): Uint8Array<ArrayBuffer> {
  const rate = 8_000;
  const samples = Math.round(seconds * rate);
  const bytes = new Uint8Array(44 + samples).fill(128);
  const view = new DataView(bytes.buffer);
  const text = (at: number, word: string) => bytes.set(new TextEncoder().encode(word), at);
  text(0, "RIFF");
  view.setUint32(4, 36 + samples, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  text(36, "data");
  view.setUint32(40, samples, true);
  return bytes;
}
