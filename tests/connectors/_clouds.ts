/**
 * What the tests of the clouds' connectors share: calls over real HTTP to a provider that is scripted.
 * @module
 */
import { assert, assertRejects } from "@std/assert";
import type { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  CompletionRequest,
  CompletionResponse,
  ModelInfo,
  NativeRequest,
  PromptCacheMarks,
  Provider,
} from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { loadedProviders } from "../support/connectors.ts";
import { type ReceivedRequest, type Script, startUpstream } from "../support/upstream.ts";

/** The tests' wall clock, ms. */
export const now: number = Date.UTC(2026, 10, 22, 12);

/** A call to a cloud. */
export interface CloudCall {
  /** The connector's id. */
  readonly connector: string;
  /** How the provider answers. */
  readonly script: Script;
  /** The model's id, or what is known of it. */
  readonly model: string | ModelInfo;
  /** Members of the request beyond one message. */
  readonly body?: Partial<ChatCompletionRequest>;
  /** The entry's `config`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** The key; null for none. */
  readonly credential?: string | null;
  /** What follows the provider's address. */
  readonly path?: string;
  /** The request in the format of the provider's own API. */
  readonly native?: NativeRequest;
  /** Marks that are to be set in the prompt. */
  readonly promptCache?: PromptCacheMarks;
}

/** What came of a call. */
export interface CloudResponse {
  readonly sent: ReceivedRequest;
  readonly body: ChatCompletion;
  /** Parameters that were left out. */
  readonly dropped: readonly string[];
}

/** Asks for a non-streaming response. */
export function ask(call: CloudCall): Promise<CloudResponse> {
  return over(call, async (provider, options, { sent, dropped }) => {
    const { body } = await provider.complete(toCompletionRequest(call, false), options) as CompletionResponse;
    return { sent: sent(), body, dropped: dropped() };
  });
}

/** Asks for a stream. */
export function stream(call: CloudCall): Promise<{ sent: ReceivedRequest; chunks: ChatCompletionChunk[] }> {
  return over(call, async (provider, options, { sent }) => {
    const chunks: ChatCompletionChunk[] = [];
    for await (const { value } of provider.stream!(toCompletionRequest(call, true), options)) chunks.push(value);
    return { sent: sent(), chunks };
  });
}

/** Asks which models there are. */
export function list(call: Omit<CloudCall, "model">): Promise<{ requests: readonly ReceivedRequest[]; ids: string[] }> {
  return over({ ...call, model: "" }, async (provider, options, { all }) => {
    const models = await provider.listModels(options);
    return { requests: all(), ids: models.map(({ id }) => id) };
  });
}

/** What a call failed with. */
export async function catchFault(call: CloudCall, streamed = false): Promise<UpstreamError> {
  return await assertRejects(() => streamed ? stream(call) : ask(call), UpstreamError);
}

interface Notes {
  readonly sent: () => ReceivedRequest;
  readonly all: () => readonly ReceivedRequest[];
  readonly dropped: () => readonly string[];
}

async function over<Result>(
  { connector: id, script, config = {}, env = {}, credential = "key", path = "" }: CloudCall,
  use: (provider: Provider, options: CallOptions, notes: Notes) => Promise<Result>,
): Promise<Result> {
  await using upstream = await startUpstream(script);
  const connector = loadedProviders.find((one) => one.id === id);
  assert(connector !== undefined, id);
  const { send } = denoRuntime();
  const runtime = testRuntime({ clock: fakeClock({ now }), env, send });
  const baseUrl = upstream.url.replace(/\/v1$/, path);
  const dropped: string[] = [];
  const options: CallOptions = {
    signal: new AbortController().signal,
    credential: credential ?? undefined,
    send: (request) => runtime.send(request),
    reportDropped: (names) => dropped.push(...names),
  };
  return await use(connector.create({ id, baseUrl, config }, runtime), options, {
    sent: () => upstream.requests[0]!,
    all: () => upstream.requests,
    dropped: () => dropped,
  });
}

function toCompletionRequest({ model, body, native, promptCache }: CloudCall, isStream: boolean): CompletionRequest {
  return {
    model: typeof model === "string" ? { id: model } : model,
    stream: isStream,
    body: { messages: [{ role: "user", content: "Hello" }], ...body },
    ...(native === undefined ? {} : { native }),
    ...(promptCache === undefined ? {} : { promptCache }),
  };
}
