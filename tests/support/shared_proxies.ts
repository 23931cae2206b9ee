/**
 * Several proxies on one real Redis, each with a mesh, a port and a connection of its own, in real time.
 * @module
 */
import {
  type MeshEvent,
  ModelMesh,
  redisStorage,
  type RoutingRecord,
  stateIn,
  type StateInOptions,
} from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import type { TestRedis } from "./redis.ts";
import { testConfig, type TestProxyOptions } from "./proxy.ts";

/** How they are set up, all alike. */
export interface SharedProxiesOptions extends Omit<TestProxyOptions, "clock" | "tokens" | "listener">, StateInOptions {
  readonly redis: TestRedis;
  /** How many; 2 unless given. */
  readonly count?: number;
  /** What all Redis keys begin with. */
  readonly prefix?: string;
}

/** One of them. */
export interface SharedProxy {
  readonly url: string;
  readonly mesh: ModelMesh;
  /** Every event and routing decision, in order. */
  readonly records: (MeshEvent | RoutingRecord)[];
  /** `<severity> <message>` of every trace of the storage. */
  readonly traces: string[];
  /** Posts a chat request to the pool `chat` and reads the answer. */
  chat(body?: Readonly<Record<string, unknown>>): Promise<ChatResult>;
  /** Ends it. */
  stop(): Promise<void>;
}

/** What came of a request. */
export interface ChatResult {
  readonly status: number;
  /** The error's code. */
  readonly code: string | undefined;
  readonly model: string | null;
}

/**
 * Starts them.
 *
 * @param options How.
 */
export async function startSharedProxies(
  { redis, count = 2, prefix = crypto.randomUUID(), onUnavailable, ...options }: SharedProxiesOptions,
): Promise<SharedProxy[] & AsyncDisposable> {
  const proxies: SharedProxy[] = [];
  for (let number = 0; number < count; number++) {
    const storage = redisStorage({ url: redis.url, prefix });
    const records: SharedProxy["records"] = [];
    const traces: string[] = [];
    const keeping = stateIn(storage, onUnavailable === undefined ? {} : { onUnavailable });
    const mesh = new ModelMesh({ storage: keeping, on: (record) => records.push(record) });
    mesh.addSink({
      emit: () => {},
      trace: ({ component, severity, message }) => component === "storage" && traces.push(`${severity} ${message}`),
      flush: () => Promise.resolve(),
    });
    await mesh.initialize(testConfig(options));
    const server = await listen(createHandler(mesh), { port: 0 });
    const url = `http://127.0.0.1:${server.port}`;
    proxies.push({
      url,
      mesh,
      records,
      traces,
      chat: (body) => ask(url, body),
      async stop() {
        await server.stop(0);
        await mesh.close();
        await storage.close?.();
      },
    });
  }
  return Object.assign(proxies, {
    async [Symbol.asyncDispose]() {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
    },
  });
}

async function ask(url: string, body: Readonly<Record<string, unknown>> = {}): Promise<ChatResult> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }], ...body }),
  });
  const answer = await response.json();
  return { status: response.status, code: answer.error?.code, model: response.headers.get("x-mesh-model") };
}

/** Waits until something holds; tells how long that took, ms. */
export async function until(holds: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<number> {
  const started = performance.now();
  while (!await holds()) {
    if (performance.now() - started > limitMs) throw new Error(`It did not come to pass within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - started;
}
