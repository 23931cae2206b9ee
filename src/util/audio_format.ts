/**
 * Audio and transcript formats, by their names in OpenAI's API.
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
 * Returns the media type of an audio format.
 *
 * @param format The format's name, such as `mp3`.
 */
export function getSoundType(format: string): string {
  return Object.hasOwn(soundTypes, format) ? soundTypes[format]! : "application/octet-stream";
}

/**
 * Returns the media type of a transcript format other than JSON.
 *
 * @param format The format's name, such as `srt`.
 * @returns Undefined for JSON and unknown formats.
 */
export function findTranscriptType(format: string): string | undefined {
  return Object.hasOwn(transcriptTypes, format) ? transcriptTypes[format] : undefined;
}
