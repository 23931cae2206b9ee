/**
 * What the tests of the Anthropic connector share: a provider whose network serves fixtures.
 * @module
 */
import { anthropicConnector } from "../../connectors/providers/_anthropic_provider.ts";
import { anthropic } from "../../connectors/providers/anthropic.ts";
import type { AssistantMessage, ChatCompletion, ChatCompletionChunk } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  CompletionRequest,
  CompletionResponse,
  ModelInfo,
  Provider,
} from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamRequest } from "../../src/contracts/runtime.ts";
import { fakeClock, testRuntime } from "../../src/runtime/test.ts";

/** The tests' wall clock, ms. */
export const now: number = Date.UTC(2026, 10, 21, 12);

const runtime: Runtime = testRuntime({ clock: fakeClock({ now }) });

/** A model that takes sampling parameters and a thinking budget. */
export const haiku: ModelInfo = anthropic.models.find(({ id }) => id === "claude-haiku-4-5")!;

/** The smallest request. */
export function request(stream = false): CompletionRequest {
  return { model: haiku, stream, body: { messages: [{ role: "user", content: "Hello" }] } };
}

/** A recorded response's text. */
export function fixture(name: string): Promise<string> {
  return Deno.readTextFile(new URL(`../fixtures/anthropic/${name}`, import.meta.url));
}

/** A response of the network. */
export interface FakeResponse {
  /** HTTP status; 200 unless said. */
  readonly status?: number;
  /** Answer headers. */
  readonly headers?: Record<string, string>;
  /** The body, in the pieces it arrives in. */
  readonly pieces: readonly Uint8Array[];
}

/** A whole JSON response. */
export function respond(text: string, status = 200, headers: Record<string, string> = {}): FakeResponse {
  return { status, headers: { "content-type": "application/json", ...headers }, pieces: [bytes(text)] };
}

/** A streamed response, in the pieces it arrives in. */
export function events(...pieces: readonly Uint8Array[]): FakeResponse {
  return { headers: { "content-type": "text/event-stream; charset=utf-8" }, pieces };
}

/** Text as UTF-8. */
export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A call whose network gives these responses in order and notes what was sent. */
export function options(answers: readonly FakeResponse[], sent: UpstreamRequest[] = []): CallOptions {
  return {
    signal: new AbortController().signal,
    credential: "sk-ant-test",
    send(upstream) {
      const { status = 200, headers, pieces } = answers[sent.length]!;
      sent.push(upstream);
      const body = ReadableStream.from(pieces);
      return Promise.resolve({ status, headers: new Headers(headers), body, reader: () => body.getReader() });
    },
  };
}

/** The provider under test. */
export function provider(settings: Record<string, unknown> = {}): Provider {
  return anthropicConnector().create({ id: "anthropic.claude.v1", ...settings }, runtime);
}

/** Asks for a non-streaming response and is given this one. */
export async function complete(given: FakeResponse): Promise<ChatCompletion> {
  return (await provider().complete(request(), options([given])) as CompletionResponse).body;
}

/** Asks for a stream and is given this one. */
export async function stream(given: FakeResponse, of: Provider = provider()): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const { value } of of.stream!(request(true), options([given]))) chunks.push(value);
  return chunks;
}

/** Puts a stream together as OpenAI's own clients do. */
export function gather(chunks: readonly ChatCompletionChunk[]): AssistantMessage {
  const message: AssistantMessage = { role: "assistant", content: null, refusal: null };
  for (const { delta } of chunks.flatMap(({ choices }) => choices)) {
    if (delta.content) message.content = (message.content ?? "") + delta.content;
    if (delta.reasoning_content) {
      message.reasoning_content = (message.reasoning_content ?? "") + delta.reasoning_content;
    }
    for (const { index, ...piece } of delta.tool_calls ?? []) {
      message.tool_calls ??= [];
      const call = message.tool_calls[index];
      if (call === undefined) message.tool_calls[index] = structuredClone(piece) as typeof message.tool_calls[number];
      else call.function.arguments += piece.function?.arguments ?? "";
    }
  }
  return message;
}
