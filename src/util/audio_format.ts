/**
 * Formats of sound, by the names that OpenAI's API has for them.
 * @module
 */

const soundTypes: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

/**
 * The media type of a format of sound.
 *
 * @param format Its name, such as `mp3`.
 */
export function soundTypeOf(format: string): string {
  return Object.hasOwn(soundTypes, format) ? soundTypes[format]! : "application/octet-stream";
}
