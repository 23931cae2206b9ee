/**
 * What the tests of the Gemini connector share: a provider whose network serves fixtures.
 * @module
 */
import { assertEquals } from "@std/assert";
import { toGenerateContent } from "../../connectors/providers/_gemini_request.ts";
import type { GenerateContentRequest } from "../../connectors/providers/_gemini_wire.ts";
import { geminiConnector } from "../../connectors/providers/_gemini_provider.ts";
import type { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest } from "../../src/contracts/openai.ts";
import type { CallOptions, CompletionRequest, CompletionResponse, Provider } from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamRequest } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { fakeClock, testRuntime } from "../../src/runtime/test.ts";

/** The tests' wall clock, ms: four in the morning in California, where it is winter. */
export const now: number = Date.UTC(2026, 10, 21, 12);

const runtime: Runtime = testRuntime({ clock: fakeClock({ now }), random: () => 0.5 });

/** A response of the network. */
export interface FakeResponse {
  /** HTTP status; 200 unless said. */
  readonly status?: number;
  /** Its type; JSON unless said. */
  readonly type?: string;
  /** Further headers. */
  readonly headers?: Record<string, string>;
  /** The body, in the pieces it arrives in. */
  readonly pieces: readonly Uint8Array[];
}

/** A recorded response's text. */
export function fixture(name: string): Promise<string> {
  return Deno.readTextFile(new URL(`../fixtures/gemini/${name}`, import.meta.url));
}

/** Text as UTF-8. */
export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A JSON response. */
export function json(text: string, status = 200, headers: Record<string, string> = {}): FakeResponse {
  return { status, headers, pieces: [bytes(text)] };
}

/** A streamed response, in the pieces it arrives in. */
export function events(...pieces: readonly Uint8Array[]): FakeResponse {
  return { type: "text/event-stream", pieces };
}

/** A call whose network gives these responses in order and notes what was sent. */
export function options(answers: readonly FakeResponse[], sent: UpstreamRequest[] = []): CallOptions {
  return {
    signal: new AbortController().signal,
    credential: "AIza-test",
    send(upstream) {
      const { status = 200, type = "application/json; charset=UTF-8", headers, pieces } = answers[sent.length]!;
      sent.push(upstream);
      const body = ReadableStream.from(pieces);
      return Promise.resolve({
        status,
        headers: new Headers({ "content-type": type, ...headers }),
        body,
        reader: () => body.getReader(),
      });
    },
  };
}

/** The provider under test. */
export function provider(settings: Record<string, unknown> = {}): Provider {
  return geminiConnector.create({ id: "google.gemini.v1", ...settings }, runtime);
}

/** A request; the smallest there is unless said. */
export function request(body: Partial<ChatCompletionRequest> = {}, model = "gemini-2.5-flash"): CompletionRequest {
  return { model: { id: model }, stream: false, body: { messages: [{ role: "user", content: "Hi" }], ...body } };
}

/** Asks for a non-streaming response and is given this one. */
export async function complete(given: FakeResponse): Promise<ChatCompletion> {
  return (await provider().complete(request(), options([given])) as CompletionResponse).body;
}

/** Asks for a stream and is given this one. */
export async function stream(given: FakeResponse): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const { value } of provider().stream!(request(), options([given]))) chunks.push(value);
  return chunks;
}

/** What a call throws. */
export async function catchFailure(call: () => Promise<unknown>): Promise<UpstreamError> {
  try {
    await call();
  } catch (error) {
    if (UpstreamError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("The call did not fail");
}

/** A request's body in Gemini's terms; one that says hello unless said. */
export function sent(body: Partial<ChatCompletionRequest>, model = "gemini-2.5-flash"): GenerateContentRequest {
  return toGenerateContent(model, { messages: [{ role: "user", content: "Hello" }], ...body });
}

/** Why a request cannot be sent: the field at fault and the message. */
export async function fault(body: Partial<ChatCompletionRequest>): Promise<[string | null, string]> {
  const { kind, fault } = await catchFailure(() => Promise.resolve().then(() => sent(body)));
  assertEquals([kind, fault?.status, fault?.error.code], ["request", 400, "invalid_value"]);
  return [fault!.error.param, fault!.error.message];
}
