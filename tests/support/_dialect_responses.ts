/**
 * Requests and responses of each chat dialect, in one form for all: a conversation to a request, a response complete or
 * from its events, and the turn that a client keeps of it for the next request.
 * @module
 */
import type { Json } from "./_dialects.ts";
import type { ClientDialect } from "./_said.ts";
import { chat, responses } from "./_said_in_openai.ts";
import { gemini, messages } from "./_said_in_others.ts";

/** The chat dialects, for their clients. */
export const saidIn: Readonly<Record<string, ClientDialect>> = { chat, messages, responses, gemini };

/** The data of the events of a stream. */
export function dataIn(stream: string): Json[] {
  return stream.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)));
}
