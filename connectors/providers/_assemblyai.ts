/**
 * AssemblyAI: uploads the audio, requests a transcript, and polls until it is complete.
 *
 * Source: www.assemblyai.com/docs/api-reference, by AssemblyAI/assemblyai-api-spec, `openapi.yml`.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { CallOptions, OperationCall, OperationRequest, OperationResponse } from "../../src/contracts/provider.ts";
import type { Clock } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { findTranscriptType } from "../../src/util/audio_format.ts";
import { readJsonObject, readResponseText } from "./_base.ts";
import { upstreamError } from "./_http.ts";
import { undeclaredParams } from "./_dropped_params.ts";
import type { Post } from "./_openai_vendor.ts";
import { toText } from "../../src/util/to_text.ts";

const translated: ReadonlySet<string> = /* @__PURE__ */ new Set([
  ...["model", "language", "response_format", "timestamp_granularities", "stream"],
]);
/** Polling interval, ms. */
const pollMs = 1_000;

/** State of one transcription. */
interface TranscriptOrder {
  readonly post: Post;
  readonly request: OperationRequest;
  readonly options: CallOptions;
}

/**
 * Transcription.
 *
 * @param post Posts to the vendor.
 * @param runtime Times the polling.
 */
export function assemblyAiTranscription(post: Post, { clock }: { readonly clock: Clock }): OperationCall {
  return async (request, options) => {
    const { body } = request;
    const left = undeclaredParams(body, translated);
    if (left.length > 0) options.reportDropped?.(left);
    const order = { post, request, options };
    const transcript = await finished(await ordered(order), { ...order, clock });
    return await toTranscriptionResponse(transcript, order);
  };
}

async function ordered({ post, request, options }: TranscriptOrder): Promise<JsonObject> {
  const { body: { language }, model, files = [] } = request;
  const { bytes } = files.find(({ field }) => field === "file")!;
  const raw = { type: "application/octet-stream", chunks: [bytes] };
  const { upload_url: address } = await readJsonObject(await post("upload", { ...request, raw }, options));
  if (typeof address !== "string") throw createFault("no upload URL");
  const json = {
    audio_url: address,
    speech_models: [model.id],
    ...(language ? { language_code: language } : { language_detection: true }),
  };
  return await readJsonObject(await post("transcript", { ...request, json }, options));
}

async function finished(
  transcript: JsonObject,
  order: TranscriptOrder & { readonly clock: Clock },
): Promise<JsonObject> {
  const { options, clock } = order;
  let latest = transcript;
  for (;;) {
    const { id, status } = latest;
    if (typeof id !== "string") throw createFault("no transcript");
    if (status === "completed") return latest;
    if (status === "error") throw toTranscriptionFailure(latest);
    if (status !== "queued" && status !== "processing") throw createFault("a transcript without a status");
    await clock.sleep(pollMs, options.signal);
    latest = await readJsonObject(await get(`transcript/${encodeURIComponent(id)}`, order));
  }
}

/** Errors of its servers are marked as such; all others concern the audio. */
function toTranscriptionFailure({ error }: JsonObject): UpstreamError {
  const message = typeof error === "string" && error !== "" ? error : "The transcript failed";
  const isServers = /server error|internal error|try again/i.test(message);
  return upstreamError(isServers ? 500 : 422, { message, type: "", param: null, code: null });
}

async function toTranscriptionResponse(transcript: JsonObject, order: TranscriptOrder): Promise<OperationResponse> {
  const { id, text, audio_duration: seconds } = transcript;
  if (typeof text !== "string") throw createFault("no transcript");
  const { response_format: requested } = order.request.body;
  const format = typeof requested === "string" && requested !== "" ? requested : "json";
  const type = findTranscriptType(format);
  const body = { text, usage: { type: "duration", seconds } };
  const path = `transcript/${encodeURIComponent(toText(id))}`;
  if (type !== undefined) {
    const isText = format === "text";
    const written = isText ? text : await readResponseText(await get(`${path}/${format}`, order));
    if (!isText && !written.includes("-->") && text.trim() !== "") throw createFault("no subtitles");
    return { body, content: { type, bytes: new TextEncoder().encode(written) } };
  }
  if (format !== "verbose_json") return { body };
  const { sentences } = await readJsonObject(await get(`${path}/sentences`, order));
  return { body: { ...body, ...toTranscriptDetails(transcript, sentences) } };
}

/** Converts times from milliseconds to the seconds of OpenAI's API. */
function toTranscriptDetails(
  { language_code: language, audio_duration: duration, words }: JsonObject,
  sentences: unknown,
) {
  const seconds = (ms: unknown) => Number(ms) / 1000;
  return {
    task: "transcribe",
    language: language ?? "",
    duration,
    segments: readUtterances(sentences).map(({ start, end, text }, id) => ({
      id,
      start: seconds(start),
      end: seconds(end),
      text,
    })),
    words: readUtterances(words).map(({ text, start, end }) => ({
      word: text,
      start: seconds(start),
      end: seconds(end),
    })),
  };
}

function get(path: string, { post, request, options }: TranscriptOrder): ReturnType<Post> {
  return post(path, { ...request, method: "GET" }, options);
}

function readUtterances(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map((item) => Object(item)) : [];
}

function createFault(what: string): UpstreamError {
  return new UpstreamError(`The provider responded with ${what}`, { kind: "invalid_response" });
}
