/**
 * Request shapes of the Gemini API, and readers for its responses.
 *
 * Source: https://ai.google.dev/api/generate-content and the types of `@google/genai` 2.32.0, read 2026-11-21.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";

/** A part of a turn. */
export interface GeminiPart {
  /** Text, or the text of a thought. */
  readonly text?: string;
  /** Opaque signature of the thoughts that led to this part. */
  readonly thoughtSignature?: string;
  /** Inline file content, base64. */
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  /** URL of a file. */
  readonly fileData?: { readonly mimeType: string; readonly fileUri: string };
  /** A function call by the model. */
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args: JsonObject };
  /** The result of a function call. */
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response: JsonObject };
}

/** A turn of the conversation. */
export interface Content {
  /** Role of the author; function results have the role `user`. */
  readonly role: "user" | "model";
  /** The parts. */
  readonly parts: GeminiPart[];
}

/** A function that the model may call. */
export interface FunctionDeclaration {
  /** Its name. */
  readonly name: string;
  /** Description of the function. */
  readonly description?: string;
  /** Parameters, JSON Schema. */
  readonly parametersJsonSchema?: JsonObject;
}

/** Which functions the model may, or must, call. */
export interface FunctionCallingConfig {
  /** `NONE`: no calls; `AUTO`: the model decides; `ANY`: a call is required. */
  readonly mode: "NONE" | "AUTO" | "ANY";
  /** The allowed functions under `ANY`. */
  readonly allowedFunctionNames?: readonly string[];
}

/** Thinking settings: a token budget or a level, depending on the generation. */
export interface ThinkingConfig {
  /** Whether the response includes thought text. */
  readonly includeThoughts?: boolean;
  /** Token budget; 0 disables thinking. */
  readonly thinkingBudget?: number;
  /** Thinking level. */
  readonly thinkingLevel?: "MINIMAL" | "LOW" | "MEDIUM" | "HIGH";
}

/** Generation settings. */
export interface GenerationConfig {
  /** Maximum output tokens, including thoughts. */
  readonly maxOutputTokens?: number;
  /** Number of candidates. */
  readonly candidateCount?: number;
  /** Stop sequences. */
  readonly stopSequences?: readonly string[];
  /** Sampling temperature. */
  readonly temperature?: number;
  /** Nucleus sampling. */
  readonly topP?: number;
  /** Top-k sampling. */
  readonly topK?: number;
  /** Seed, 32 bits. */
  readonly seed?: number;
  /** Penalty for tokens that have occurred. */
  readonly presencePenalty?: number;
  /** Penalty for tokens by their frequency so far. */
  readonly frequencyPenalty?: number;
  /** `application/json` for JSON output. */
  readonly responseMimeType?: string;
  /** JSON Schema of the output. */
  readonly responseJsonSchema?: JsonObject;
  /** `TEXT`, `IMAGE`: what the response may contain. */
  readonly responseModalities?: readonly string[];
  /** Settings of generated images. */
  readonly imageConfig?: { readonly aspectRatio?: unknown; readonly imageSize?: unknown };
  /** Thinking settings. */
  readonly thinkingConfig?: ThinkingConfig;
}

/** The body of `generateContent` and `streamGenerateContent`. */
export interface GenerateContentRequest {
  /** The conversation so far, oldest first. */
  readonly contents: readonly Content[];
  /** The system prompt. */
  readonly systemInstruction?: { readonly parts: readonly GeminiPart[] };
  /** Functions that the model may call. */
  readonly tools?: readonly { readonly functionDeclarations: readonly FunctionDeclaration[] }[];
  /** Settings of function calling. */
  readonly toolConfig?: { readonly functionCallingConfig: FunctionCallingConfig };
  /** Generation settings. */
  readonly generationConfig?: GenerationConfig;
}

/** Returns the value if it is a JSON object, otherwise undefined. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : undefined;
}

/** The objects in an array; empty for any other value. */
export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter((entry) => asObject(entry) !== undefined) : [];
}

/** Returns the value if it is a non-empty string, otherwise undefined. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the value if it is a number, otherwise undefined. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Removes members that are undefined or null. */
export function omitUnset<Members extends JsonObject>(members: Members): Partial<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  ) as Partial<Members>;
}
