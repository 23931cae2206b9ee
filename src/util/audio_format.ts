/**
 * Formats of sound and of transcripts, by the names that OpenAI's API has for them.
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

const transcriptTypes: Readonly<Record<string, string>> = {
  text: "text/plain; charset=utf-8",
  srt: "application/x-subrip; charset=utf-8",
  vtt: "text/vtt; charset=utf-8",
};

/**
 * The media type of a format of sound.
 *
 * @param format Its name, such as `mp3`.
 */
export function soundTypeOf(format: string): string {
  return Object.hasOwn(soundTypes, format) ? soundTypes[format]! : "application/octet-stream";
}

/**
 * The media type of a transcript that is no JSON.
 *
 * @param format Its name, such as `srt`.
 * @returns Undefined for a format that is JSON, or that is unknown.
 */
export function transcriptTypeOf(format: string): string | undefined {
  return Object.hasOwn(transcriptTypes, format) ? transcriptTypes[format] : undefined;
}
