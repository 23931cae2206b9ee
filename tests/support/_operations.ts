/**
 * A proxy over scripted providers of one operation, and a client of the library over the same providers.
 * @module
 */
import { create, type MeshClient, type RoutingRecord } from "../../mod.ts";
import { startTestProxy, testConfig, type TestProxy, type TestProxyOptions } from "./proxy.ts";
import { type Script, startUpstream, type Upstream } from "./upstream.ts";

/** Options of a stage. */
export interface OperationOptions extends Omit<TestProxyOptions, "upstreams"> {
  /** The capability of all models. */
  readonly capability: string;
  /** Settings by model name. */
  readonly models?: Readonly<Record<string, object>>;
}

/** A response whose body has been read. */
export interface Posted {
  readonly status: number;
  readonly headers: Headers;
  /** Body as text. */
  readonly text: string;
  readonly bytes: Uint8Array;
  /** Body as JSON. */
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

/** The proxy and client of a test. The pool is called `pool`. */
export interface OperationStage extends AsyncDisposable {
  readonly proxy: TestProxy;
  readonly upstreams: Readonly<Record<string, Upstream>>;
  /** A client of the library over the same providers, closed with the stage. */
  readonly client: MeshClient;
  /** Posts JSON to a path below `/v1/`, to the pool unless the body has a model. */
  post(path: string, body: object, init?: RequestInit): Promise<Posted>;
  /** Number of calls of each provider. */
  readonly calls: Readonly<Record<string, number>>;
  /** The last routing record of the proxy. */
  readonly routing: RoutingRecord;
}

/**
 * Starts providers, and a proxy over them.
 *
 * @param cast Providers by model name, in order of priority.
 * @param options Capability and settings.
 */
export async function operationStage(
  cast: Readonly<Record<string, Script>>,
  { capability, models = {}, pool, config, ...rest }: OperationOptions,
): Promise<OperationStage> {
  const names = Object.keys(cast);
  const started = await Promise.all(Object.values(cast).map((script) => startUpstream(script)));
  const upstreams = Object.fromEntries(names.map((name, index) => [name, started[index]!]));
  const urls = Object.fromEntries(names.map((name) => [name, upstreams[name]!.url]));
  const facts: TestProxyOptions = {
    ...rest,
    upstreams: urls,
    config: {
      models: Object.fromEntries(
        names.map((name) => [name, { provider: name, capabilities: [capability], ...models[name] }]),
      ),
      pools: { pool: { models: names, strategy: "priority", model_priority: names, ...pool } },
      ...config,
    },
  };
  const proxy = await startTestProxy(facts);
  const client = create({ config: testConfig(facts), clock: proxy.clock, random: () => 0.5 });
  return {
    proxy,
    upstreams,
    client,
    async post(path, body, init = {}) {
      const response = await fetch(`${proxy.url}/v1/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "pool", ...body }),
        ...init,
      });
      const { status, headers } = response;
      const bytes = new Uint8Array(await response.arrayBuffer());
      const text = new TextDecoder().decode(bytes);
      return {
        status,
        headers,
        text,
        bytes,
        get json() {
          return JSON.parse(text);
        },
      };
    },
    get calls() {
      return Object.fromEntries(names.map((name) => [name, upstreams[name]!.calls]));
    },
    get routing() {
      return proxy.records.filter((record): record is RoutingRecord => record.type === "routing").at(-1)!;
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await proxy[Symbol.asyncDispose]();
      await Promise.all(started.map((upstream) => upstream.close()));
    },
  };
}
