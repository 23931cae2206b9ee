/**
 * Calls of a provider's connector over real HTTP, as the suite of all connectors makes them.
 * @module
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ChatCompletionChunk, ChatCompletionRequest } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  CompletionRequest,
  CompletionResponse,
  FailureKind,
  Provider,
} from "../../src/contracts/provider.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import { loadedProviders } from "../support/connectors.ts";
import type { DialectFacts, Reply } from "../support/_dialects.ts";
import { type Behaviour, type Script, startUpstream, type Upstream } from "../support/upstream.ts";
import { gather } from "./_anthropic.ts";

/** The text of replies, as a stream has it. */
export const pieces: readonly string[] = ["Hello", " wörld", ", how", " are you?"];

/** A connector, and the replies of its vendor. */
export interface ProviderFixture extends Pick<DialectFacts, "connector" | "model" | "respond" | "eventsToContent"> {
  /** An event of a stream that means nothing to anybody, as it is written. */
  readonly unknownEvent: string | Uint8Array;
  /** The entry's `config`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** What follows the provider's address. */
  readonly path?: string;
}

/** A call under way. */
export interface Call {
  readonly provider: Provider;
  readonly upstream: Upstream;
  readonly controller: AbortController;
  complete(body?: Partial<ChatCompletionRequest>): Promise<CompletionResponse>;
  stream(body?: Partial<ChatCompletionRequest>): AsyncIterable<ChatCompletionChunk>;
}

/** A provider that replies as its vendor does, and calls of it. */
export interface Scene {
  readonly eventsToContent: number;
  readonly unknownEvent: string | Uint8Array;
  /** A reply of the vendor's, `pieces` unless said. */
  reply(more?: Reply): Behaviour;
  /** Starts a provider for the time of some calls. */
  over<Result>(script: Script, use: (call: Call) => Promise<Result>): Promise<Result>;
}

/** Makes the scene of a connector. */
export function createScene(fixture: ProviderFixture): Scene {
  return {
    eventsToContent: fixture.eventsToContent,
    unknownEvent: fixture.unknownEvent,
    reply: (more = {}) => fixture.respond({ pieces, ...more }),
    async over(script, use) {
      await using upstream = await startUpstream(script);
      return await use(createCall(fixture, upstream));
    },
  };
}

/** The failure of a non-streaming response and of a stream; both have to be the same. */
export async function catchFaults(
  script: Script,
  { over }: Pick<Scene, "over">,
): Promise<readonly [kind: FailureKind, isRetryable: boolean]> {
  const seen = await over(script, async ({ provider, complete, stream }) => {
    const faults = [await catchFailure(() => complete()), await catchFailure(() => listTexts(stream()))];
    return faults.map((error) => [provider.classifyError(error), provider.isRetryable(error)] as const);
  });
  assertEquals(seen[0], seen[1], "whole and streamed");
  return seen[0]!;
}

/** The key of every call. */
export const credential = "key-of-the-vendor-0123456789";

/** A provider at an address on loopback, and what a call of it needs. */
interface ConnectedProvider {
  readonly provider: Provider;
  readonly controller: AbortController;
  readonly options: CallOptions;
}

/** Makes the provider of a connector. */
export function connected(
  { connector: id, config = {}, path }: Pick<ProviderFixture, "connector" | "config" | "path">,
  upstream: Upstream,
): ConnectedProvider {
  const connector = loadedProviders.find((one) => one.id === id);
  assert(connector !== undefined, id);
  const runtime = testRuntime({ send: denoRuntime().send });
  const baseUrl = path === undefined ? upstream.url : upstream.url.replace(/\/v1$/, path);
  const provider = connector.create({ id, baseUrl, config }, runtime);
  const controller = new AbortController();
  const { signal } = controller;
  return { provider, controller, options: { signal, credential, send: (sent) => runtime.send({ ...sent, signal }) } };
}

function createCall(fixture: ProviderFixture, upstream: Upstream): Call {
  const { provider, controller, options } = connected(fixture, upstream);
  const request = (stream: boolean, body: Partial<ChatCompletionRequest> = {}): CompletionRequest => ({
    model: { id: fixture.model },
    stream,
    body: { messages: [{ role: "user", content: "Hi" }], ...(stream ? { stream } : {}), ...body },
  });
  return {
    provider,
    upstream,
    controller,
    complete: (body) => provider.complete(request(false, body), options) as Promise<CompletionResponse>,
    async *stream(body) {
      for await (const { value, others = [] } of provider.stream!(request(true, body), options)) {
        yield* [value, ...others];
      }
    },
  };
}

/** What a task fails with. */
export async function catchFailure(task: () => Promise<unknown>): Promise<unknown> {
  return await assertRejects(task);
}

/** The text of a stream. */
export async function listTexts(chunks: AsyncIterable<ChatCompletionChunk>): Promise<string> {
  return gather(await Array.fromAsync(chunks)).content ?? "";
}

/** The same, each byte by itself: in the middle of events, lines and characters. */
export function inBytes(behaviour: Behaviour): Behaviour {
  return {
    async play(exchange) {
      const write = async (data: string | Uint8Array) => {
        const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
        for (let at = 0; at < bytes.length; at++) await exchange.write(bytes.subarray(at, at + 1));
      };
      await behaviour.play({ ...exchange, write });
    },
  };
}

/** The same stream with an event before its others. */
export function withEvent(event: string | Uint8Array, behaviour: Behaviour): Behaviour {
  return {
    async play(exchange) {
      let count = 0;
      const write = async (data: string | Uint8Array) => {
        await exchange.write(data);
        if (++count > 1) return;
        const { length } = typeof event === "string" ? new TextEncoder().encode(event) : event;
        const isChunked = String(data).includes("transfer-encoding: chunked");
        if (isChunked) await exchange.write(`${length.toString(16)}\r\n`);
        await exchange.write(event);
        if (isChunked) await exchange.write("\r\n");
      };
      await behaviour.play({ ...exchange, write });
    },
  };
}
