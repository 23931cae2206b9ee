/**
 * Providers that play a model with tools, in any dialect.
 * @module
 */
import { type Dialect, type Json, type Reply, speaking } from "./_dialects.ts";
import type { Behaviour, ReceivedRequest } from "./upstream.ts";

/** What a model sees of a conversation. */
export interface Turn {
  /** Names of the offered tools. */
  readonly tools: readonly string[];
  /** Results of tools, in order, as text. */
  readonly results: readonly string[];
  /** The request as it came. */
  readonly body: string;
}

/** Decides what a model replies. */
export type Play = (turn: Turn) => Reply;

/** A provider whose replies depend on the tools and their results. */
export function playTools(dialect: Dialect, play: Play): (request: ReceivedRequest) => Behaviour {
  return (request) => speaking[dialect].respond(play(readTurn(dialect, request)));
}

/** Reads the tools and the results in a request. */
export function readTurn(dialect: Dialect, request: ReceivedRequest): Turn {
  if (request.path.endsWith("/responses")) return readResponsesTurn(request.json());
  return { ...readers[dialect](request.json()), body: request.body };
}

/** Reads the tools and the results in a request of the Responses API. */
export function readResponsesTurn(
  body: { readonly tools?: readonly Json[]; readonly input: readonly Json[] },
): Turn {
  const { tools = [], input } = body;
  return {
    body: JSON.stringify(body),
    tools: tools.map(({ name }) => String(name)),
    results: input.filter(({ type }) => type === "function_call_output").map(({ output }) => toText(output)),
  };
}

// deno-lint-ignore no-explicit-any
const readers: Readonly<Record<Dialect, (body: any) => Omit<Turn, "body">>> = {
  openai: ({ tools = [], messages }) => ({
    tools: tools.map((tool: { function: { name: string } }) => tool.function.name),
    results: messages.filter(({ role }: Json) => role === "tool").map(({ content }: Json) => toText(content)),
  }),
  anthropic: ({ tools = [], messages }) => ({
    tools: tools.map(({ name }: Json) => name),
    results: messages.flatMap(({ content }: Json) => Array.isArray(content) ? content : [])
      .filter(({ type }: Json) => type === "tool_result").map(({ content }: Json) => toText(content)),
  }),
  gemini: ({ tools = [], contents }) => ({
    tools: tools.flatMap((tool: { functionDeclarations?: Json[] }) => tool.functionDeclarations ?? [])
      .map(({ name }: Json) => name),
    results: contents.flatMap(({ parts }: { parts: Json[] }) => parts)
      .flatMap(({ functionResponse }: { functionResponse?: Json }) =>
        functionResponse === undefined ? [] : [toText(functionResponse.response)]
      ),
  }),
};

function toText(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? "");
}
