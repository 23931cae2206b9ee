/**
 * Conversations and responses in one form for all dialects.
 * @module
 */
import type { Json } from "./_dialects.ts";

/** A tool call. */
export interface SaidCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

/** A source, and the part of the text that is based on it. */
export interface SaidCitation {
  readonly url: string;
  readonly title: string;
  readonly text: string;
}

/** What a response consists of. */
export interface Said {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly SaidCall[];
  /** Data URLs. */
  readonly images: readonly string[];
  readonly citations: readonly SaidCitation[];
  /** Why it ended, in chat's words. */
  readonly finish: string;
  /** Input tokens, and those of them that were cached; output tokens. */
  readonly tokens: readonly [input: number, cached: number, output: number];
}

/** A turn of a conversation: of the user, of the model, the results of its calls, or what a client has kept. */
export type Turn =
  | { readonly user: readonly (string | { readonly image: string })[] }
  | { readonly model: Partial<Said> }
  | { readonly results: readonly { readonly call: SaidCall; readonly text: string }[] }
  | { readonly kept: readonly Json[] };

/** A dialect, for its clients. */
export interface ClientDialect {
  readonly path: (stream: boolean) => string;
  /** The request for a conversation, with a system prompt. */
  readonly ask: (turns: readonly Turn[], system?: string) => Json;
  /** The non-streaming response that the events of a stream amount to. */
  readonly gather: (events: readonly Json[]) => Json;
  readonly read: (answer: Json) => Said;
  /** What a client adds to its next request. */
  readonly keep: (answer: Json) => readonly Json[];
}

/** A response, of which something is asserted. */
// deno-lint-ignore no-explicit-any
export type Any = any;

/** Arguments of a call. */
export function parsed(text: string): Json {
  return text === "" ? {} : JSON.parse(text);
}
/** The end of a response, in chat's words. */
export function finishes(words: Json, word: unknown): string {
  return String(words[String(word)] ?? word);
}

/** Media type and data of a data URL. */
export function splitDataUrl(url: string): readonly [type: string, data: string] {
  const [, type, data] = /^data:([^;]+);base64,(.*)$/.exec(url)!;
  return [type!, data!];
}
