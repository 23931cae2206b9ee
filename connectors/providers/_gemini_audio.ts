/**
 * Audio through the Gemini API: speech by `generateContent` with the audio modality, transcription with a recording as
 * input.
 *
 * Sources: https://ai.google.dev/gemini-api/docs/speech-generation (one speaker, 16 bit PCM at 24 kHz),
 * https://ai.google.dev/gemini-api/docs/audio (formats, 20 MB with everything); github.com/vercel/ai, `packages/google`
 * (instructions before the text).
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationRequest, OperationResponse, UploadedFile } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { findTranscriptType, getSoundType } from "../../src/util/audio_format.ts";
import { fromBase64, toBase64 } from "../../src/util/base64.ts";
import { waveHeader } from "../../src/util/wave.ts";
import { findFilterReason, fromGenerateContent, type GeminiFacts, throwIfBlocked } from "./_gemini_response.ts";
import { asNumber, asObject, asObjects, asText } from "./_gemini_wire.ts";
import { upstreamError } from "./_http.ts";
import { undeclaredParams } from "./_dropped_params.ts";
import { toText } from "../../src/util/to_text.ts";

const speechParams: ReadonlySet<string> = /* @__PURE__ */ new Set([
  ...["model", "input", "voice", "instructions", "response_format", "stream_format"],
]);
const transcriptionParams: ReadonlySet<string> = /* @__PURE__ */ new Set([
  ...["model", "language", "prompt", "response_format", "temperature", "timestamp_granularities", "stream"],
]);
const sampleRate = 24_000;
/** Maximum size of a recording, bytes: about 19 MB as base64, within the 20 MB limit of a request. */
const maxFileBytes = 14 * 1024 * 1024;
/** Media types by file extension and alias. */
const audioTypes: Readonly<Record<string, string>> = {
  mp3: "audio/mp3",
  mpeg: "audio/mp3",
  mpga: "audio/mp3",
  wav: "audio/wav",
  wave: "audio/wav",
  "x-wav": "audio/wav",
  flac: "audio/flac",
  "x-flac": "audio/flac",
  ogg: "audio/ogg",
  aac: "audio/aac",
  aiff: "audio/aiff",
};

/** The body of `generateContent` for speech. */
export function toSpeechContent({ body }: OperationRequest): JsonObject {
  const { input, instructions, voice } = body;
  const text = instructions ? `${instructions}: ${input}` : input;
  return {
    contents: [{ role: "user", parts: [{ text }] }],
    generationConfig: {
      responseModalities: ["AUDIO"],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
    },
  };
}

/**
 * The body of `generateContent` for a transcription.
 *
 * @param request The request; its file is the recording, its operation selects transcription or translation.
 * @throws {UpstreamError} `request` if the file is too large for one request.
 */
export function toTranscriptionContent({ body, files = [], operation }: OperationRequest): JsonObject {
  const { language, prompt, temperature } = body;
  const file = files.find(({ field }) => field === "file")!;
  if (file.bytes.length > maxFileBytes) {
    const message = `The model accepts a recording of up to ${maxFileBytes} bytes`;
    throw upstreamError(413, { message, type: "invalid_request_error", param: "file", code: "request_too_large" });
  }
  const text = [
    operation === "transcription"
      ? "Write down word for word what is said in this recording, in the language in which it is said."
      : "Write down in English what is said in this recording.",
    ...(language ? [`The language spoken is "${language}".`] : []),
    ...(prompt ? [`What came before it, or words that may occur in it: ${JSON.stringify(prompt)}.`] : []),
    "Answer with that text alone. If there is no speech, answer with an empty text.",
  ].join(" ");
  return {
    contents: [{ role: "user", parts: [{ text }, { inlineData: toInlineData(file) }] }],
    ...(typeof temperature === "number" ? { generationConfig: { temperature } } : {}),
  };
}

function toInlineData({ type, name, bytes }: UploadedFile): { readonly mimeType: string; readonly data: string } {
  const [ofType, ofName] = [/\/([\w-]+)/, /\.(\w+)$/].map((pattern, at) => pattern.exec([type, name][at]!)?.[1] ?? "");
  const ending = [ofType!, ofName!].map((end) => end.toLowerCase()).find((end) => Object.hasOwn(audioTypes, end));
  return { mimeType: ending === undefined ? type : audioTypes[ending]!, data: toBase64(bytes) };
}

/** The parameters that the translation drops. */
export function droppedAudioParams({ body, operation }: OperationRequest): string[] {
  return undeclaredParams(body, operation === "speech" ? speechParams : transcriptionParams);
}

/**
 * The audio of a response.
 *
 * @param data The response of `generateContent`.
 * @throws {UpstreamError} `invalid_response` if it has no audio.
 */
export function toSpeech(data: JsonObject, { body }: OperationRequest): OperationResponse {
  const parts = asObjects(data.candidates).flatMap(({ content }) => asObjects(asObject(content)?.parts));
  const sound = parts.map(({ inlineData }) => asObject(inlineData)).find((inline) => asText(inline?.data));
  if (sound === undefined) {
    throwIfBlocked(data, "input", findFilterReason(data));
    throw new UpstreamError("The provider's response has no audio", { kind: "invalid_response" });
  }
  const bytes = decodeSamples(sound.data as string);
  const rate = Number(/rate=(\d+)/.exec(asText(sound.mimeType) ?? "")?.[1] ?? sampleRate);
  const isPlain = body.response_format === "pcm";
  return {
    body: readAudioUsage(data),
    content: {
      type: getSoundType(isPlain ? "pcm" : "wav"),
      bytes: isPlain ? bytes : toWave(bytes, rate),
    },
  };
}

function decodeSamples(data: string): Uint8Array {
  try {
    return fromBase64(data);
  } catch {
    throw new UpstreamError("The provider's response has audio that is not valid base64", { kind: "invalid_response" });
  }
}

function toWave(samples: Uint8Array, rate: number): Uint8Array {
  const head = waveHeader(samples.length, rate);
  const joined = new Uint8Array(head.length + samples.length);
  joined.set(head);
  joined.set(samples, head.length);
  return joined;
}

/**
 * The transcript of a response.
 *
 * @param data The response of `generateContent`.
 * @param facts Values to fill in, and the request.
 */
export function toTranscript(
  data: JsonObject,
  { request, ...facts }: GeminiFacts & { readonly request: OperationRequest },
): OperationResponse {
  throwIfBlocked(data, "file", findFilterReason(data));
  const [choice] = fromGenerateContent(data, facts).choices;
  const text = toText(choice?.message.content).trim();
  const { response_format: format } = request.body;
  const type = findTranscriptType(typeof format === "string" ? format : "json");
  const body = { text, ...readAudioUsage(data) };
  return type === undefined ? { body } : { body, content: { type, bytes: new TextEncoder().encode(text) } };
}

function readAudioUsage(data: JsonObject): JsonObject {
  const usage = asObject(data.usageMetadata);
  const input = asNumber(usage?.promptTokenCount);
  const written = asNumber(usage?.candidatesTokenCount);
  if (input === undefined || written === undefined) return {};
  const output = written + (asNumber(usage?.thoughtsTokenCount) ?? 0);
  const sound = asObjects(usage?.promptTokensDetails).find(({ modality }) => modality === "AUDIO");
  const audio = Math.min(input, asNumber(sound?.tokenCount) ?? 0);
  return {
    usage: {
      type: "tokens",
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      input_token_details: { audio_tokens: audio, text_tokens: input - audio },
    },
  };
}
