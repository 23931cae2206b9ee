/**
 * Deepgram's requests and responses: parameters in the query, audio and text in the body.
 *
 * Source: developers.deepgram.com/reference, `POST /speak` and `POST /listen`.
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
import { formatSubtitles } from "./_subtitles.ts";
import { toText } from "../../src/util/to_text.ts";

/** Audio encodings by format. */
const encodings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  mp3: { encoding: "mp3" },
  opus: { encoding: "opus", container: "ogg" },
  aac: { encoding: "aac" },
  flac: { encoding: "flac" },
  wav: { encoding: "linear16", container: "wav" },
  pcm: { encoding: "linear16", container: "none", sample_rate: "24000" },
};
const speechParams: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "model",
  "input",
  "voice",
  "response_format",
  "stream_format",
]);
const transcriptionParams: ReadonlySet<string> = /* @__PURE__ */ new Set([
  ...["model", "language", "response_format", "timestamp_granularities", "stream"],
]);

/**
 * Text to speech. Deepgram's model determines the voice.
 *
 * @param post Posts to the vendor.
 */
export function deepgramSpeech(post: Post): OperationCall {
  return async (request, options) => {
    const { body } = request;
    reportDroppedParams(body, speechParams, options.reportDropped);
    const format = typeof body.response_format === "string" ? body.response_format : "mp3";
    const query = new URLSearchParams({ model: toText(body.voice), ...encodings[format] });
    const response = await post(`speak?${query}`, { ...request, json: { text: body.input } }, options);
    return { body: {}, content: await readAudio(response, getSoundType(format)) };
  };
}

/**
 * Transcription.
 *
 * @param post Posts to the vendor.
 */
export function deepgramTranscription(post: Post): OperationCall {
  return async (request, options) => {
    const { body, model, files = [] } = request;
    reportDroppedParams(body, transcriptionParams, options.reportDropped);
    const { language, response_format: format } = body;
    const query = new URLSearchParams({
      model: model.id,
      smart_format: "true",
      utterances: "true",
      ...(language ? { language: toText(language) } : { detect_language: "true" }),
    });
    const { type, bytes } = files.find(({ field }) => field === "file")!;
    const response = await post(`listen?${query}`, { ...request, raw: { type, chunks: [bytes] } }, options);
    return toDeepgramTranscript(await readJsonObject(response), typeof format === "string" ? format : "json");
  };
}

function toDeepgramTranscript({ results, metadata }: JsonObject, format: string): OperationResponse {
  const channel = Object(Object(Object(results).channels)[0]);
  const { transcript: text, words } = Object(Object(channel.alternatives)[0]);
  if (typeof text !== "string") {
    throw new UpstreamError("The provider's response has no transcript", { kind: "invalid_response" });
  }
  const { duration } = Object(metadata);
  const usage = { type: "duration", seconds: duration };
  const type = findTranscriptType(format);
  const { utterances } = Object(results);
  const segments = readObjectList(utterances).map(({ start, end, transcript }, id) => ({
    id,
    start,
    end,
    text: transcript,
  }));
  if (type !== undefined) {
    const written = format === "text" ? text : formatSubtitles(segments, format);
    return { body: { text, usage }, content: { type, bytes: new TextEncoder().encode(written) } };
  }
  if (format !== "verbose_json") return { body: { text, usage } };
  return {
    body: {
      task: "transcribe",
      language: channel.detected_language ?? "",
      duration,
      text,
      segments,
      words: readObjectList(words).map(({ word, punctuated_word, start, end }) => ({
        word: punctuated_word ?? word,
        start,
        end,
      })),
      usage,
    },
  };
}

function readObjectList(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map((item) => Object(item)) : [];
}

function reportDroppedParams(
  body: JsonObject,
  translated: ReadonlySet<string>,
  report?: (names: readonly string[]) => void,
): void {
  const left = undeclaredParams(body, translated);
  if (left.length > 0) report?.(left);
}
