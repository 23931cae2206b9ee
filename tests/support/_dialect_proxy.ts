/**
 * A proxy over scripted providers of several dialects, and clients of it.
 * @module
 */
import OpenAI, { type ClientOptions } from "openai";
import type { Mesh } from "../../proxy.ts";
import { engineOf } from "../../src/engine/engine_of.ts";
import { type Dialect, type Json, speaking } from "./_dialects.ts";
import { startTestProxy, type TestProxy, type TestProxyOptions } from "./proxy.ts";

/** A provider behind the proxy. */
export interface DialectProvider {
  readonly dialect: Dialect;
  /** With `/v1`. */
  readonly url: string;
  /** The dialect's plain one unless said. */
  readonly model?: string;
  /** Further settings of the model. */
  readonly settings?: Json;
}

/**
 * A proxy over providers of any dialect, by model name, in order of priority.
 *
 * @param providers Its providers.
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
      api_key: keyOf(name),
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

/** The key of a provider. */
export function keyOf(name: string): string {
  return `key-of-${encodeURIComponent(name)}-0123456789`;
}

/** Requests under way of one model of the pool `chat`, and whether it is active. */
export function stateOf(mesh: Mesh, name: string): { inFlight: number; failures: number; status: string } {
  const member = engineOf(mesh).registry.pool("chat")!.members.find(({ model }) => model.name === name)!;
  const { inFlight, consecutiveFailures, status } = member.state;
  return { inFlight, failures: consecutiveFailures, status };
}

/**
 * The official client; it does not retry by default.
 *
 * @param proxy What it calls.
 * @param options More of its options.
 */
export function sdkOf({ url }: { readonly url: string }, options: ClientOptions = {}): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-of-the-client", maxRetries: 0, ...options });
}
