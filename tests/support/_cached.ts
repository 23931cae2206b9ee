/**
 * A proxy with a cache, and requests whose responses may be repeated.
 * @module
 */
import type { Json } from "./_dialects.ts";
import { clientDialects } from "./_dialect_calls.ts";
import { startTestProxy, type TestProxy, type TestProxyOptions } from "./proxy.ts";
import { respond, type Script, startUpstream, type Upstream } from "./upstream.ts";

/** Options of a {@linkcode CacheStage}. */
interface CacheStageOptions extends Partial<TestProxyOptions> {
  /** What the provider answers; `Hello world` by default. */
  readonly script?: Script;
  /** The section `cache`; undefined for none. */
  readonly cache?: unknown;
}

/** A proxy with a cache over one provider. */
export interface CacheStage extends TestProxy {
  readonly upstream: Upstream;
  /** Number of requests that the provider has received. */
  sent(): number;
}

/** Starts a provider, and a proxy with a cache over it. */
export async function cacheStage({ script = respond(), ...options }: CacheStageOptions = {}): Promise<CacheStage> {
  const upstream = await startUpstream(script);
  const { cache } = { cache: {}, ...options };
  const config = { ...(cache !== undefined && { cache }), ...options.config };
  const proxy = await startTestProxy({ upstreams: { a: upstream.url }, ...options, config });
  return {
    ...proxy,
    upstream,
    sent: () => upstream.requests.length,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** Requests by dialect whose responses may be repeated. */
export const requests: Readonly<Record<string, Json>> = {
  chat: { model: "chat", messages: [{ role: "user", content: "Hi" }], temperature: 0 },
  messages: { model: "chat", max_tokens: 100, messages: [{ role: "user", content: "Hi" }], temperature: 0 },
  gemini: { contents: [{ role: "user", parts: [{ text: "Hi" }] }], generationConfig: { temperature: 0 } },
  responses: { model: "chat", input: "Hi", temperature: 0 },
};

/** A response of a proxy with a cache. */
interface CachedResponse {
  readonly status: number;
  /** The header `x-mesh-cache`; empty if it is missing. */
  readonly cache: string;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends the request of a dialect.
 *
 * @param url URL of the proxy, without path.
 * @param asked Whether it is streamed, and members and headers in addition.
 */
export async function askCached(url: string, dialect: string, { isStreamed = false, body, headers }: {
  readonly isStreamed?: boolean;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
} = {}): Promise<CachedResponse> {
  const streaming = isStreamed && dialect !== "gemini" ? { stream: true } : {};
  const response = await fetch(url + clientDialects[dialect]!.path(isStreamed), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...requests[dialect], ...streaming, ...body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    cache: response.headers.get("x-mesh-cache") ?? "",
    headers: response.headers,
    text,
  };
}
