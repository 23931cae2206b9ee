/**
 * ElevenLabs' requests and responses.
 *
 * Sources: elevenlabs.io/docs/api-reference, `POST /text-to-speech/{voice_id}/stream` and `POST /speech-to-text`;
 * elevenlabs/elevenlabs-python (fields of transcripts).
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationResponse } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { findTranscriptType, getSoundType } from "../../src/util/audio_format.ts";
import { readJsonObject } from "./_base.ts";
import { undeclaredParams } from "./_dropped_params.ts";
import type { Post } from "./_openai_vendor.ts";
import { readAudio } from "./_audio.ts";
import { formatSubtitles, groupSegments, type TimedWord } from "./_subtitles.ts";
import { findOwn } from "../../src/util/entries.ts";
import { toText } from "../../src/util/to_text.ts";

/** Formats that all plans support, at the sample rates of OpenAI's API. */
const formats: Readonly<Record<string, string>> = { mp3: "mp3_44100_128", pcm: "pcm_24000" };
const translated: ReadonlySet<string> = /* @__PURE__ */ new Set([
  ...["model", "input", "voice", "response_format", "speed", "stream_format"],
]);
const transcriptionParams: ReadonlySet<string> = /* @__PURE__ */ new Set([
  ...["model", "language", "response_format", "temperature", "timestamp_granularities", "stream"],
]);

/**
 * Text to speech.
 *
 * @param post Posts to the vendor.
 */
export function elevenLabsSpeech(post: Post): OperationCall {
  return async (request, options) => {
    const { body, model } = request;
    const left = undeclaredParams(body, translated);
    if (left.length > 0) options.reportDropped?.(left);
    const format = typeof body.response_format === "string" ? body.response_format : "mp3";
    const path = `text-to-speech/${encodeURIComponent(toText(body.voice))}/stream?output_format=${
      findOwn(formats, format) ?? format
    }`;
    const settings = typeof body.speed === "number" ? { voice_settings: { speed: body.speed } } : {};
    const json = { text: body.input, model_id: model.id, ...settings };
    const response = await post(path, { ...request, json }, options);
    return { body: {}, content: await readAudio(response, getSoundType(format)) };
  };
}

/**
 * Transcription.
 *
 * @param post Posts to the vendor.
 */
export function elevenLabsTranscription(post: Post): OperationCall {
  return async (request, options) => {
    const { body, model } = request;
    const left = undeclaredParams(body, transcriptionParams);
    if (left.length > 0) options.reportDropped?.(left);
    const { language, temperature, response_format: format } = body;
    const fields = {
      model_id: model.id,
      tag_audio_events: false,
      ...(language ? { language_code: language } : {}),
      ...(temperature === undefined || temperature === null ? {} : { temperature }),
    };
    const data = await readJsonObject(await post("speech-to-text", { ...request, fields }, options));
    return toElevenLabsTranscript(data, typeof format === "string" && format !== "" ? format : "json");
  };
}

function toElevenLabsTranscript(data: JsonObject, format: string): OperationResponse {
  const { text, words: timedWords, language_code: language, audio_duration_secs: seconds } = data;
  if (typeof text !== "string") {
    throw new UpstreamError("The provider's response has no transcript", { kind: "invalid_response" });
  }
  const words = readTimedWords(timedWords);
  const duration = typeof seconds === "number" ? seconds : words.at(-1)?.end;
  const body = { text, ...(duration === undefined ? {} : { usage: { type: "duration", seconds: duration } }) };
  const type = findTranscriptType(format);
  if (type !== undefined) {
    const written = format === "text" ? text : formatSubtitles(groupSegments(words), format);
    return { body, content: { type, bytes: new TextEncoder().encode(written) } };
  }
  if (format !== "verbose_json") return { body };
  const speechParams = words.filter(({ text }) => text.trim() !== "");
  return {
    body: {
      ...body,
      task: "transcribe",
      language: language ?? "",
      duration,
      segments: groupSegments(words),
      words: speechParams.map(({ text: word, start, end }) => ({ word, start, end })),
    },
  };
}

/**
 * The vendor lists spaces between words as words. One without timestamps starts and ends where the previous word ends.
 */
function readTimedWords(value: unknown): TimedWord[] {
  const words: TimedWord[] = [];
  for (const word of Array.isArray(value) ? value : []) {
    const { text, start, end } = Object(word);
    if (typeof text !== "string") continue;
    const from = typeof start === "number" ? start : words.at(-1)?.end ?? 0;
    words.push({ text, start: from, end: typeof end === "number" ? end : from });
  }
  return words;
}
