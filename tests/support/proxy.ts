/**
 * A proxy over scripted providers, on a real port, with a clock that skips all waits.
 * @module
 */
import { type MeshEvent, ModelMesh, type Observability, type RoutingRecord, type stateIn } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";

/** Options of a {@linkcode TestProxy}. */
export interface TestProxyOptions {
  /** Base URLs of providers, with `/v1`, by model name, in order of priority. */
  readonly upstreams: Readonly<Record<string, string>>;
  /** Settings of the pool `chat`, in addition to the priority strategy. */
  readonly pool?: Readonly<Record<string, unknown>>;
  /** Settings of every provider, or of one by its name. */
  readonly provider?: Readonly<Record<string, unknown>> | ((name: string) => Readonly<Record<string, unknown>>);
  /** Additional sections of the configuration, such as `proxy`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Accepted tokens. */
  readonly tokens?: readonly string[];
  /** Origins of web pages that the program allows. */
  readonly origins?: readonly string[];
  /** HTTP server. */
  readonly listener?: "deno" | "node";
  /** Clock; by default, a fake clock that skips sleeps. */
  readonly clock?: FakeClock;
  /** Where state is persisted. */
  readonly storage?: ReturnType<typeof stateIn>;
  /** Environment variables; by default, those of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  /** Sinks by connector id, for `config.observability`. */
  readonly sinks?: Readonly<Record<string, Observability>>;
}

/** A running proxy, and the records it emitted. */
export interface TestProxy extends AsyncDisposable {
  /** URL without path. */
  readonly url: string;
  readonly mesh: ModelMesh;
  readonly clock: FakeClock;
  /** Events and routing records, in order. */
  readonly records: (MeshEvent | RoutingRecord)[];
  /** Posts a chat request to the pool `chat`. */
  chat(body?: Readonly<Record<string, unknown>>, init?: RequestInit): Promise<Response>;
}

/**
 * Returns the configuration of a pool `chat` over providers with one model each.
 *
 * @param options Providers and overrides.
 */
export function testConfig({ upstreams, pool, provider, config }: TestProxyOptions): Record<string, unknown> {
  const names = Object.keys(upstreams);
  const perName = (make: (name: string) => unknown) => Object.fromEntries(names.map((name) => [name, make(name)]));
  return {
    providers: perName((name) => ({
      connector: "openai.compatible.v1",
      base_url: upstreams[name],
      api_key: `key-of-${name}-0123456789`,
      ...(typeof provider === "function" ? provider(name) : provider),
    })),
    models: perName((name) => ({ provider: name, capabilities: ["chat-completion"] })),
    pools: { chat: { models: names, strategy: "priority", model_priority: names, ...pool } },
    ...config,
  };
}

/**
 * Starts a proxy.
 *
 * @param options Providers and overrides.
 */
export async function startTestProxy(options: TestProxyOptions): Promise<TestProxy> {
  const records: (MeshEvent | RoutingRecord)[] = [];
  const clock = options.clock ?? fakeClock({ skipSleeps: true });
  const { storage, env } = options;
  const mesh = new ModelMesh({
    clock,
    ...env && { env },
    random: () => 0.5,
    on: (record) => records.push(record),
    ...storage && { storage },
  });
  for (const [id, sink] of Object.entries(options.sinks ?? {})) {
    mesh.registerConnector(id, { id, kind: "observability", create: () => sink });
  }
  await mesh.initialize(testConfig(options));
  const { listener, tokens, origins } = options;
  const handler = createHandler(mesh, { ...tokens && { tokens }, ...origins && { origins } });
  const server = await listen(handler, { port: 0, ...(listener === undefined ? {} : { listener }) });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    mesh,
    clock,
    records,
    chat: (body = {}, init = {}) =>
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }], ...body }),
        ...init,
      }),
    async [Symbol.asyncDispose]() {
      await server.stop(0);
      await mesh.close();
    },
  };
}
