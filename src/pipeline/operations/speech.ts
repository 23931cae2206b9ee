/**
 * The operation `speech`: text to speech.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { AudioRequest, AudioResponse, SpeechRequest } from "../../contracts/audio.ts";
import type { JsonObject } from "../../contracts/openai.ts";
import type { CompletionResponse, ModelInfo } from "../../contracts/provider.ts";
import { UpstreamError } from "../../errors.ts";
import type { Member, ModelEntry } from "../../registry/registry.ts";
import { getSoundType } from "../../util/audio_format.ts";
import { isObject } from "../../util/is_object.ts";
import { addText, emptyText, type TextSize } from "../request_size.ts";
import { bodyChecker, checkOptional, invalid, missing, wrongType } from "../check_body.ts";
import { countTokens } from "../estimate.ts";
import type {
  CheckedOperation,
  RequestNeeds,
  ResponseUsage,
  Rewording,
  TakenUsage,
  UsageContext,
} from "../operation.ts";
import { refusedBy } from "./_chat_lacks.ts";
import { dropRefused } from "./_rewording.ts";

const checkMembers = bodyChecker([
  ...["input", "voice", "instructions", "response_format", "speed", "stream_format", "stream"],
]);

/** The default format of OpenAI's API. */
const defaultFormat = "mp3";
/** Characters spoken per second, low; usual values are 16, 12 and 5. */
const charsPerSecond = { latin: 10, alphabetic: 8, ideographic: 3.5 };
/** Audio tokens per second: Gemini counts 25, OpenAI about 21 (0.015 USD a minute at 12 USD per million). */
const tokensPerSecond = 25;

/** Text to speech. Audio is passed on as it arrives, streaming or not. */
export const speech: CheckedOperation<SpeechRequest, JsonObject> = {
  name: "speech",
  serves: (leaf) => servesOperation(leaf, "speech"),
  hasContent: true,
  isStreamed: ({ stream, stream_format: form }) => stream === true || form === "sse",
  check: checkSpeechRequest,
  measureNeeds: findSpeechNeeds,
  interchangeable: (members, first, body) => ofOneFormat(withVoice(members, getVoice(body)), first, body),
  reword: rewordSpeech,
  bridge: { toAudioRequest: audioRequest, read: readAudio },
  isEmpty: () => false,
  usageIn: ({ usage }) => ({ usage, written: () => 0 }),
  readUsage: readSpeechUsage,
};

function checkSpeechRequest(value: unknown): SpeechRequest {
  const body = checkMembers(value);
  const { input, voice, stream_format: form } = body;
  if (input === undefined) throw missing("input");
  if (typeof input !== "string") throw wrongType("input", "a string", input);
  if (input.trim() === "") throw invalid('"input" must not be empty', "input");
  if (voice === undefined) throw missing("voice");
  const name = isObject(voice) ? voice.id : voice;
  if (typeof name !== "string") throw wrongType("voice", "a string, or an object with an id", voice);
  if (name.trim() === "") throw invalid('"voice" must not be empty', "voice");
  for (const member of ["instructions", "response_format"]) {
    checkOptional(body, { name: member, expected: "a string", isValid: (value) => typeof value === "string" });
  }
  checkOptional(body, {
    name: "speed",
    expected: "a number from 0.25 to 4",
    isValid: (value) => typeof value === "number" && value >= 0.25 && value <= 4,
  });
  checkOptional(body, { name: "stream", expected: "true or false", isValid: (value) => typeof value === "boolean" });
  if (form !== undefined && form !== null && form !== "audio" && form !== "sse") {
    throw invalid('"stream_format" has to be "audio" or "sse"', "stream_format");
  }
  return body as unknown as SpeechRequest;
}

function findSpeechNeeds(body: SpeechRequest): RequestNeeds {
  const text = emptyText();
  addText(body.input, text);
  const instructions = emptyText();
  addText(body.instructions ?? "", instructions);
  const output = Math.ceil(estimateSeconds(text) * tokensPerSecond / (body.speed ?? 1));
  return {
    load: {
      input: Math.ceil(countTokens(text) + countTokens(instructions)),
      output,
      units: { characters: body.input.length, audioOutput: output },
    },
    findLack: (model) => findSpeechLack(model, body),
  };
}

function estimateSeconds({ latin, alphabetic, ideographic }: TextSize): number {
  const { latin: latinRate, alphabetic: alphabeticRate, ideographic: ideographicRate } = charsPerSecond;
  return latin / latinRate + alphabetic / alphabeticRate + ideographic / ideographicRate;
}

function findSpeechLack(
  { parameters, response_formats: formats, voices }: ModelInfo,
  body: SpeechRequest,
): string | undefined {
  const { response_format: format, stream_format: form } = body;
  if (form === "sse" && parameters?.refuse?.includes("stream_format")) return "speech as events (stream_format)";
  if (format && formats !== undefined && !formats.includes(format)) return `speech in the format "${format}"`;
  const voice = getVoice(body);
  if (!hasVoice(voices, voice) && voices?.default === undefined) return `voice "${voice}"`;
  return refusedBy(parameters, { ...body, stream_format: undefined });
}

function getVoice({ voice }: SpeechRequest): string {
  return typeof voice === "string" ? voice : voice.id;
}

/** Whether a model has the voice, by the requested name or the vendor's. A model with unknown voices may have any. */
function hasVoice(voices: ModelInfo["voices"], voice: string): boolean {
  return voices === undefined || Object.hasOwn(voices, voice) || Object.values(voices).includes(voice);
}

/** Keeps the models with the voice; if there are none, all models, which use their `default` voice. */
function withVoice(members: readonly Member[], voice: string): readonly Member[] {
  const having = members.filter(({ model }) => hasVoice(model.info.voices, voice));
  return having.length > 0 ? having : members;
}

/** Models have the same format, if the request does not specify one. */
function ofOneFormat(members: readonly Member[], first: Member, { response_format }: SpeechRequest): readonly Member[] {
  if (response_format) return members;
  const reference = members.includes(first) ? first : members[0]!;
  const format = usualFormat(reference.model.info);
  return members.filter(({ model }) => usualFormat(model.info) === format);
}

function usualFormat({ response_formats: formats = [] }: ModelInfo): string {
  return formats.includes(defaultFormat) ? defaultFormat : formats[0] ?? defaultFormat;
}

/** The vendor's voice, and its format if it does not support mp3. */
function rewordSpeech(body: SpeechRequest, model: ModelEntry): Rewording {
  const { info } = model;
  const { edits, dropped } = dropRefused(body, model);
  const voice = getVoice(body);
  const own = Object.hasOwn(info.voices ?? {}, voice) ? info.voices![voice]! : undefined;
  // a custom voice belongs to the vendor, and cannot be replaced by another one
  const isOther = typeof body.voice === "string" && !hasVoice(info.voices, voice);
  const named = own ?? (isOther ? info.voices!.default! : undefined);
  const format = usualFormat(info);
  return {
    edits: {
      ...edits,
      ...(named === undefined || named === body.voice ? {} : { voice: named }),
      ...(body.response_format || format === defaultFormat ? {} : { response_format: format }),
    },
    dropped: isOther ? [...dropped, "voice"] : dropped,
  };
}

function audioRequest(body: SpeechRequest, { model }: { readonly model: ModelInfo }): AudioRequest {
  const { input, response_format: format } = body;
  return { input, voice: getVoice(body), format: format || defaultFormat, model: model.id };
}

function readAudio(
  { audio, usage, duration }: AudioResponse,
  { format }: AudioRequest,
): CompletionResponse<JsonObject> {
  if (audio === undefined) {
    throw new UpstreamError("The provider's response has no audio", { kind: "invalid_response" });
  }
  return {
    body: { ...(usage === undefined ? {} : { usage }), ...(duration === undefined ? {} : { duration }) },
    content: { type: getSoundType(format), bytes: audio },
  };
}

/** Speech has no reported usage: characters are counted, tokens estimated. */
function readSpeechUsage({ usage }: ResponseUsage, { load, model }: UsageContext<SpeechRequest>): TakenUsage {
  const { input_tokens: read, output_tokens: written } = Object(usage);
  const { units: { characters } = {} } = load;
  const isReported = isCount(read) && isCount(written);
  const [input, output] = isReported ? [read, written] : [load.input, load.output ?? 0];
  const byCharacters = model.pricing?.some((price) => price.per_million_characters !== undefined) ?? false;
  return {
    quantities: { input, output, audioOutput: output, characters },
    tokens: input + output,
    isEstimated: !isReported && !byCharacters,
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && value as number >= 0;
}
