/**
 * Requests with the structure of those that Claude Code, Codex and Gemini CLI send, in our own words: the first turn
 * of a task, and the second one with the results of two parallel calls.
 * @module
 */
import type { Json } from "./_dialects.ts";

/** A turn of a task: 1 calls tools, 2 has their results. */
export type TurnNumber = 1 | 2;

/** How a turn is requested. */
export interface TurnOptions {
  readonly turn: TurnNumber;
  readonly stream: boolean;
  /** Whether the second result is a picture. */
  readonly hasPicture?: boolean;
  /** A pool, an alias or a model. */
  readonly model?: string;
}

/** A request of an agent. */
export interface AgentRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** A call of a tool, in every agent's own words. */
export interface AgentCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

/** An agent. */
export interface AgentFixture {
  /** Its client dialect, as in `_dialect_calls.ts`. */
  readonly dialect: "messages" | "responses" | "gemini";
  request(options: TurnOptions): AgentRequest;
  /** The calls of the first turn. */
  readonly calls: readonly [AgentCall, AgentCall];
}

/** The task, the words that the tools find, and what the model says before it calls them. */
export const task = "Read a.txt and b.txt.";
export const found: readonly [string, string] = ["kumquat", "ranunculus"];
export const intention = "I read both.";

/** A picture that a tool finds, as base64. */
export const picture =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
