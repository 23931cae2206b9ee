/**
 * A proxy over scripted providers of several dialects, and its clients.
 * @module
 */
import OpenAI, { type ClientOptions } from "openai";
import type { Mesh } from "../../proxy.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { type Dialect, type Json, speaking } from "./_dialects.ts";
import { startTestProxy, type TestProxy, type TestProxyOptions } from "./proxy.ts";

/** A provider of the proxy. */
export interface DialectProvider {
  readonly dialect: Dialect;
  /** Base URL, with `/v1`. */
  readonly url: string;
  /** Its model; by default, the plain one of the dialect. */
  readonly model?: string;
  /** Additional settings of the model. */
  readonly settings?: Json;
}

/**
 * Starts a proxy over providers of any dialect.
 *
 * @param providers Providers by model name, in order of priority.
 * @param options Pool settings, provider settings, clock.
 */
export function startDialectProxy(
  providers: Readonly<Record<string, DialectProvider>>,
  { config, ...options }: Omit<TestProxyOptions, "upstreams"> = {},
): Promise<TestProxy> {
  return startTestProxy({ ...options, upstreams: {}, config: { ...dialectConfig(providers, options), ...config } });
}

/** The configuration of a pool `chat` over providers of any dialect. */
export function dialectConfig(
  providers: Readonly<Record<string, DialectProvider>>,
  { pool, provider }: Pick<TestProxyOptions, "pool" | "provider"> = {},
): Json {
  const names = Object.keys(providers);
  const perName = (make: (name: string, provider: DialectProvider) => unknown) =>
    Object.fromEntries(names.map((name) => [name, make(name, providers[name]!)]));
  return {
    providers: perName((name, { dialect, url }) => ({
      connector: speaking[dialect].connector,
      base_url: url,
      api_key: toApiKey(name),
      ...provider,
    })),
    models: perName((name, { dialect, model, settings }) => ({
      provider: name,
      model: model ?? speaking[dialect].model,
      capabilities: ["chat-completion"],
      ...settings,
    })),
    pools: { chat: { models: names, strategy: "priority", model_priority: names, ...pool } },
  };
}

/** Returns the API key of a provider. */
export function toApiKey(name: string): string {
  return `key-of-${encodeURIComponent(name)}-0123456789`;
}

/** Returns requests in flight, consecutive failures and status of a model in the pool `chat`. */
export function readModelState(mesh: Mesh, name: string): { inFlight: number; failures: number; status: string } {
  const member = getEngine(mesh).registry.pool("chat")!.members.find(({ model }) => model.name === name)!;
  const { inFlight, consecutiveFailures, status } = member.state;
  return { inFlight, failures: consecutiveFailures, status };
}

/**
 * Creates the official client, without retries by default.
 *
 * @param options Additional client options.
 */
export function createSdk({ url }: { readonly url: string }, options: ClientOptions = {}): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-of-the-client", maxRetries: 0, ...options });
}
