/**
 * The shapes of the Gemini API that the converters write, and readers for what it answers.
 *
 * Source: https://ai.google.dev/api/generate-content and the types of `@google/genai` 2.32.0, read 2026-11-21.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";

/** One part of a turn. */
export interface Part {
  /** Text, or a thought's text. */
  readonly text?: string;
  /** Proof of the thoughts that led to this part; opaque. */
  readonly thoughtSignature?: string;
  /** A file's bytes, base64. */
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  /** A file's address. */
  readonly fileData?: { readonly mimeType: string; readonly fileUri: string };
  /** A function the model wants called. */
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args: JsonObject };
  /** What came of such a call. */
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response: JsonObject };
}

/** One turn of a conversation. */
export interface Content {
  /** Who speaks; results of functions are the user's. */
  readonly role: "user" | "model";
  /** The text. */
  readonly parts: Part[];
}

/** A function the model may call. */
export interface FunctionDeclaration {
  /** Its name. */
  readonly name: string;
  /** Its purpose. */
  readonly description?: string;
  /** Its parameters, in JSON Schema. */
  readonly parametersJsonSchema?: JsonObject;
}

/** Which functions may or have to be called. */
export interface FunctionCallingConfig {
  /** Never, at will, always. */
  readonly mode: "NONE" | "AUTO" | "ANY";
  /** The only ones to choose from under `ANY`. */
  readonly allowedFunctionNames?: readonly string[];
}

/** How much a model thinks: by tokens or by level, depending on its generation. */
export interface ThinkingConfig {
  /** Whether the thoughts come back in words. */
  readonly includeThoughts?: boolean;
  /** Tokens; 0 switches thinking off. */
  readonly thinkingBudget?: number;
  /** Level. */
  readonly thinkingLevel?: "MINIMAL" | "LOW" | "MEDIUM" | "HIGH";
}

/** Settings of the response. */
export interface GenerationConfig {
  /** Token limit, thoughts included. */
  readonly maxOutputTokens?: number;
  /** How many candidates. */
  readonly candidateCount?: number;
  /** Strings that end the response. */
  readonly stopSequences?: readonly string[];
  /** Randomness. */
  readonly temperature?: number;
  /** Nucleus sampling. */
  readonly topP?: number;
  /** Top-k sampling. */
  readonly topK?: number;
  /** Seed, 32 bits. */
  readonly seed?: number;
  /** Penalty for tokens already used at all. */
  readonly presencePenalty?: number;
  /** Penalty for tokens by how often they were used. */
  readonly frequencyPenalty?: number;
  /** `application/json` for answers in JSON. */
  readonly responseMimeType?: string;
  /** The JSON Schema the response holds to. */
  readonly responseJsonSchema?: JsonObject;
  /** Thinking. */
  readonly thinkingConfig?: ThinkingConfig;
}

/** The body of `generateContent` and `streamGenerateContent`. */
export interface GenerateContentRequest {
  /** The conversation so far, oldest first. */
  readonly contents: readonly Content[];
  /** The system prompt. */
  readonly systemInstruction?: { readonly parts: readonly Part[] };
  /** Functions the model may call. */
  readonly tools?: readonly { readonly functionDeclarations: readonly FunctionDeclaration[] }[];
  /** Whether it may or has to. */
  readonly toolConfig?: { readonly functionCallingConfig: FunctionCallingConfig };
  /** Settings of the response. */
  readonly generationConfig?: GenerationConfig;
}

/**
 * A JSON object, or undefined for anything else.
 *
 * @param value Anything.
 */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : undefined;
}

/**
 * The JSON objects of a list; none for anything that is no list.
 *
 * @param value Anything.
 */
export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter((entry) => asObject(entry) !== undefined) : [];
}

/**
 * A string that is not empty, or undefined.
 *
 * @param value Anything.
 */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * A number, or undefined.
 *
 * @param value Anything.
 */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/**
 * The members that are given: not undefined, not null.
 *
 * @param members Anything by name.
 */
export function given<Members extends JsonObject>(members: Members): Partial<Members> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  ) as Partial<Members>;
}
