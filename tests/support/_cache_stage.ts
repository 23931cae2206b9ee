/**
 * A proxy with a cache whose storage counts lookups, over scripted providers.
 * @module
 */
import { ModelMesh, type RoutingRecord } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import type { Storage } from "../../src/contracts/storage.ts";
import { type FakeClock, fakeClock, settle } from "../../src/runtime/test.ts";
import { clientDialects, type DialectResponse, readDialectResponse } from "./_dialect_calls.ts";
import type { Json } from "./_dialects.ts";
import { until } from "./patience.ts";
import { testConfig, type TestProxyOptions } from "./proxy.ts";
import { type Behaviour, type Gate, respond, startUpstream, type Upstream } from "./upstream.ts";

/** Options of a stage. */
export type CacheStageOptions = Omit<TestProxyOptions, "upstreams"> & {
  /** Providers in order of priority. */
  readonly providers?: Readonly<Record<string, Behaviour>>;
  readonly cache?: Json;
  /** Gate that lookups wait for. */
  readonly lookups?: Gate;
};

/** A response, as a client reads it. */
export interface CacheStageResponse extends DialectResponse {
  readonly headers: Headers;
  /** The header `x-mesh-cache`. */
  readonly cache: string | null;
}

/** A running proxy, and what has become of its requests. */
export interface CacheStage extends AsyncDisposable {
  readonly url: string;
  readonly mesh: ModelMesh;
  readonly clock: FakeClock;
  readonly records: readonly RoutingRecord[];
  /** The entries of the cache. */
  readonly kept: ReadonlyMap<string, Uint8Array>;
  readonly upstreams: Readonly<Record<string, Upstream>>;
  /** Number of upstream calls. */
  calls(): number;
  /** Resolves when this many requests have looked up a response: each shares a call, or has begun one. */
  joined(count: number): Promise<void>;
  ask(options?: Ask): Promise<CacheStageResponse>;
  /** Asks without a connection, so that leaving takes no time. */
  askDirectly(options: Ask): Promise<CacheStageResponse>;
}

/** Opens a proxy with a cache, whose storage counts lookups. */
export async function openCacheStage(
  { providers = { a: respond() }, cache = {}, lookups: lookupGate, ...options }: CacheStageOptions = {},
): Promise<CacheStage> {
  const upstreams = await Promise.all(
    Object.entries(providers).map(async ([name, behaviour]) => [name, await startUpstream(behaviour)] as const),
  );
  const records: RoutingRecord[] = [];
  const clock = options.clock ?? fakeClock({ skipSleeps: true });
  const mesh = new ModelMesh({
    clock,
    random: () => 0.5,
    on: (record) => void (record.type === "routing" && records.push({ ...record })),
  });
  let lookups = 0;
  const kept = new Map<string, Uint8Array>();
  const entries: Storage["entries"] = {
    async get(key) {
      if (/[0-9a-f]{64}$/.test(key)) lookups++; // not the first call, which connects
      await lookupGate?.pass();
      return kept.get(key);
    },
    set: (key, data) => Promise.resolve(void kept.set(key, data)),
    delete: (key) => Promise.resolve(kept.delete(key)),
    stats: () => Promise.resolve({ entries: kept.size, bytes: 0 }),
    clear: () => Promise.resolve(0),
  };
  const create = () => ({ entries }) as unknown as Storage;
  mesh.registerConnector("test.entries.v1", { id: "test.entries.v1", kind: "storage", hasEntries: true, create });
  await mesh.initialize(testConfig({
    ...options,
    upstreams: Object.fromEntries(upstreams.map(([name, { url }]) => [name, url])),
    pool: { retry: { max_attempts: 0 }, ...options.pool },
    config: { cache: { storage: { connector: "test.entries.v1" }, ...cache }, ...options.config },
  }));
  const handle = createHandler(mesh, options.tokens && { tokens: options.tokens });
  const server = await listen(handle, { port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    mesh,
    clock,
    records,
    kept,
    upstreams: Object.fromEntries(upstreams),
    calls: () => upstreams.map(([, upstream]) => upstream.calls).reduce((sum, calls) => sum + calls),
    async joined(count: number) {
      await until(() => lookups === count, () => `${lookups} of ${count} requests have looked up a response`);
      await settle();
    },
    ask: (options: Ask = {}) => ask(url, options, fetch),
    askDirectly: (options: Ask) => ask(url, options, (url, init) => handle(new Request(url, init))),
    async [Symbol.asyncDispose]() {
      await server.stop(0);
      await mesh.close();
      for (const [, upstream] of upstreams) await upstream[Symbol.asyncDispose]();
    },
  };
}

/** A request of a client. */
export interface Ask {
  readonly body?: Json;
  readonly stream?: boolean;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  readonly dialect?: string;
}

/** A request in each dialect whose response may be repeated. */
export const cacheableBodies: Readonly<Record<string, Json>> = {
  chat: { model: "chat", messages: [{ role: "user", content: "Hi" }], temperature: 0 },
  messages: { model: "chat", max_tokens: 100, messages: [{ role: "user", content: "Hi" }], temperature: 0 },
  gemini: { contents: [{ role: "user", parts: [{ text: "Hi" }] }], generationConfig: { temperature: 0 } },
  responses: { model: "chat", input: "Hi", temperature: 0 },
};

/** A response, with the text that its dialect has. */
async function ask(
  url: string,
  { body = {}, stream = false, signal, headers = {}, dialect = "chat" }: Ask,
  send: (url: string, init: RequestInit) => Promise<Response>,
) {
  const { path } = clientDialects[dialect]!;
  const response = await send(url + path(stream), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...cacheableBodies[dialect], ...(stream && dialect !== "gemini" && { stream }), ...body }),
    ...(signal && { signal }),
  });
  const { headers: received } = response;
  return {
    headers: received,
    cache: received.get("x-mesh-cache"),
    ...await readDialectResponse(response, { dialect, stream }),
  };
}

/** Waits for a test before it responds. */
export function held(behaviour: Behaviour, gate: Gate): Behaviour {
  return {
    play: async (exchange) => {
      await gate.pass();
      await behaviour.play(exchange);
    },
  };
}
