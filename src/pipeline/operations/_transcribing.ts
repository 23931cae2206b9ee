/**
 * The common part of transcription and translation of speech.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { AudioRequest, AudioResponse, Transcription, TranscriptionFields } from "../../contracts/audio.ts";
import type { CompletionResponse, ModelInfo, UploadedFile } from "../../contracts/provider.ts";
import { UpstreamError } from "../../errors.ts";
import { audioSeconds } from "../../util/audio_duration.ts";
import { findTranscriptType } from "../../util/audio_format.ts";
import { addText, emptyText } from "../request_size.ts";
import { bodyChecker, checkOptional, invalid, missing } from "../check_body.ts";
import { countTokens } from "../estimate.ts";
import type { CheckedOperation, RequestNeeds, ResponseUsage, TakenUsage, UsageContext } from "../operation.ts";
import { languageLack, refusedBy } from "./_chat_lacks.ts";
import { dropRefused } from "./_rewording.ts";

const names = ["language", "prompt", "response_format", "temperature", "timestamp_granularities", "stream"];
const checkMembers = bodyChecker(names);
const encoder = /* @__PURE__ */ new TextEncoder();

/** Gemini counts 32 tokens per second of audio; others count fewer. */
const audioTokensPerSecond = 32;
/** Upper bound for fast speech, words per second. */
const textTokensPerSecond = 6;
/** A bound above any audio, seconds: two months. */
const maxSeconds = 5_000_000;

/**
 * Creates an operation from audio to text.
 *
 * @param name Its name. A model that lists it among its lacks is skipped.
 */
export function transcribing(
  name: "transcription" | "audio-translation",
): CheckedOperation<TranscriptionFields, Transcription> {
  return {
    name,
    serves: (leaf) => servesOperation(leaf, name),
    form: { fields: { temperature: "number", stream: "boolean", mesh: "json" } },
    check: checkTranscription,
    measureNeeds: (body, files) => findTranscriptionNeeds(body, { file: fileIn(files), name }),
    reword: dropRefused,
    bridge: { toAudioRequest: audioRequest, read: readAudio },
    isEmpty: () => false, // the transcript of silence is empty
    usageIn: ({ usage, duration }) => ({ usage: usage ?? { seconds: duration }, written: () => 0 }),
    readUsage: readTranscriptionUsage,
  };
}

function checkTranscription(value: unknown, files: readonly UploadedFile[]): TranscriptionFields {
  const body = checkMembers(value);
  const [file, ...others] = files.filter(({ field }) => field === "file");
  if (file === undefined) throw missing("file");
  if (others.length > 0) throw invalid('"file" has to be one file', "file");
  if (file.bytes.length === 0) throw invalid('"file" must not be empty', "file");
  for (const name of ["language", "prompt", "response_format"]) {
    checkOptional(body, { name, expected: "a string", isValid: (value) => typeof value === "string" });
  }
  checkOptional(body, {
    name: "temperature",
    expected: "a number from 0 to 1",
    isValid: (value) => typeof value === "number" && value >= 0 && value <= 1,
  });
  checkOptional(body, {
    name: "timestamp_granularities",
    expected: 'an array of "word" and "segment"',
    isValid: (value) => Array.isArray(value) && value.every((unit) => unit === "word" || unit === "segment"),
  });
  return body as TranscriptionFields;
}

/** The audio file, whose presence {@linkcode checkTranscription} has validated. */
function fileIn(files: readonly UploadedFile[]): UploadedFile {
  return files.find(({ field }) => field === "file")!;
}

function findTranscriptionNeeds(
  body: TranscriptionFields,
  { file, name }: { readonly file: UploadedFile; readonly name: "transcription" | "audio-translation" },
): RequestNeeds {
  const prompt = emptyText();
  addText(body.prompt ?? "", prompt);
  const seconds = audioSeconds(file.bytes);
  const audioInput = Math.ceil(seconds * audioTokensPerSecond);
  return {
    load: {
      input: Math.ceil(countTokens(prompt)) + audioInput,
      output: Math.ceil(seconds * textTokensPerSecond),
      units: { seconds, audioInput },
    },
    findLack: (model) =>
      model.lacks?.includes(name)
        ? `support for ${name}`
        : findTranscriptionLack(model, { body, bytes: file.bytes.length }),
  };
}

function findTranscriptionLack(
  { response_formats: formats, constraints, parameters }: ModelInfo,
  { body, bytes }: { readonly body: TranscriptionFields; readonly bytes: number },
): string | undefined {
  const format = body.response_format || "json";
  if (formats !== undefined && !formats.includes(format)) return `transcript in the format "${format}"`;
  if (bytes > (constraints?.max_file_size ?? Infinity)) return `room for a file of ${bytes} bytes`;
  return languageLack(constraints, body.language) ?? refusedBy(parameters, body);
}

function audioRequest(
  { response_format: format, language }: TranscriptionFields,
  { model, files }: { readonly model: ModelInfo; readonly files: readonly UploadedFile[] },
): AudioRequest {
  return {
    input: fileIn(files).bytes,
    format: format || "json",
    model: model.id,
    ...(language ? { language } : {}),
  };
}

function readAudio(
  { text, duration, usage }: AudioResponse,
  { format }: AudioRequest,
): CompletionResponse<Transcription> {
  if (typeof text !== "string") {
    throw new UpstreamError("The provider's response has no text", { kind: "invalid_response" });
  }
  const body = {
    text,
    ...(duration === undefined ? {} : { duration }),
    ...(usage === undefined ? {} : { usage: usage as Transcription["usage"] }),
  };
  const type = findTranscriptType(format);
  return type === undefined ? { body } : { body, content: { type, bytes: encoder.encode(text) } };
}

/** The unit of the model's price: seconds, which can also be read from the file, or tokens. */
function readTranscriptionUsage(
  { usage }: ResponseUsage,
  { load, model }: UsageContext<TranscriptionFields>,
): TakenUsage {
  const { seconds, prompt_audio_seconds, input_tokens, prompt_tokens, output_tokens, completion_tokens } = Object(
    usage,
  );
  const { input_token_details: details } = Object(usage);
  const read = readSeconds(input_tokens ?? prompt_tokens);
  const written = readSeconds(output_tokens ?? completion_tokens);
  const audioSeconds = [seconds, prompt_audio_seconds].find((reported) =>
    typeof reported === "number" && reported > 0 && reported < maxSeconds
  );
  const byTime = model.pricing?.some((price) => price.per_minute !== undefined) ?? false;
  const input = read ?? load.input;
  const output = written ?? load.output ?? 0;
  const audioInput = read === undefined ? load.units?.audioInput : readSeconds(Object(details).audio_tokens);
  return {
    quantities: { input, output, audioInput, seconds: audioSeconds ?? load.units?.seconds },
    tokens: input + output,
    isEstimated: byTime ? audioSeconds === undefined : read === undefined || written === undefined,
  };
}

function readSeconds(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && value as number >= 0 ? value as number : undefined;
}
