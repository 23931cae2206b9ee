/**
 * Several proxies on one real Redis or PostgreSQL, each with its own mesh, port and connection. Their common clock stands still until
 * a test advances it, so that a slow Redis is awaited and only the test times it out.
 * @module
 */
import { type MeshEvent, ModelMesh, openStorage, type RoutingRecord, stateIn, type StateInOptions } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import type { Shared, Storage } from "../../src/contracts/storage.ts";
import { until } from "./patience.ts";
import { testConfig, type TestProxyOptions } from "./proxy.ts";
import type { TestRedis } from "./redis.ts";

/** Options of all proxies. */
export interface SharedProxiesOptions extends Omit<TestProxyOptions, "tokens" | "listener">, StateInOptions {
  readonly redis?: Pick<TestRedis, "url">;
  /** Attributes of the storage. @default the URL of the Redis */
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** Number of proxies. @default 2 */
  readonly count?: number;
  /** Prefix of all keys or tables. */
  readonly prefix?: string;
}

/** A proxy. */
export interface SharedProxy {
  readonly url: string;
  readonly mesh: ModelMesh;
  /** Events and routing records, in order. */
  readonly records: (MeshEvent | RoutingRecord)[];
  /** `<severity> <message>` of every trace of the storage. */
  readonly traces: string[];
  /** Number of syncs of its counters, including failed ones. */
  readonly turns: number;
  /** Posts a chat request to the pool `chat` and reads the response. */
  chat(body?: Readonly<Record<string, unknown>>): Promise<ChatResult>;
  /** Stops it. */
  stop(): Promise<void>;
}

/** Result of a request. */
export interface ChatResult {
  readonly status: number;
  /** Error code. */
  readonly code: string | undefined;
  readonly model: string | null;
}

/** All proxies. */
export interface SharedProxies extends Array<SharedProxy>, AsyncDisposable {
  /** The common clock. */
  readonly clock: FakeClock;
  /** Advances the clock just enough for counters to be replicated. */
  hear(): Promise<void>;
}

/** Interval of syncs, ms. */
const turnMs = 100;

/** Number of polls per interval: time advances slowly while a response is awaited. */
const pollsPerTurn = 50;

/**
 * Starts proxies.
 *
 * @param options Options of all proxies.
 */
export async function startSharedProxies(
  { redis, attributes, count = 2, prefix = crypto.randomUUID(), clock = fakeClock(), ...options }: SharedProxiesOptions,
): Promise<SharedProxies> {
  const proxies: SharedProxy[] = [];
  while (proxies.length < count) {
    const servers = attributes ?? { url: redis?.url };
    const storage = await openStorage({ connector: "redis.redis.v1", ...servers, prefix }, { clock });
    proxies.push(await startSharedProxy(storage, clock, options));
  }
  return Object.assign(proxies, {
    clock,
    async hear() {
      for (const _ of ["all send", "all receive"]) {
        const before = proxies.map(({ turns }) => turns);
        let polls = 0;
        await until(async () => {
          // a command lost by a restart times out eventually
          if (polls++ % pollsPerTurn === 0) await clock.advance(turnMs);
          return proxies.every(({ turns }, index) => turns > before[index]!);
        }, "each has replicated its counts");
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
    },
  });
}

async function startSharedProxy(
  storage: Storage,
  clock: FakeClock,
  { onUnavailable, ...options }: Omit<SharedProxiesOptions, "redis" | "attributes">,
): Promise<SharedProxy> {
  const records: SharedProxy["records"] = [];
  const traces: string[] = [];
  const turns = readTurns(storage.shared!);
  const keeping = stateIn(storage, onUnavailable === undefined ? {} : { onUnavailable });
  const mesh = new ModelMesh({ storage: keeping, clock, on: (record) => records.push(record) });
  mesh.addSink({
    emit: () => {},
    trace: ({ component, severity, message }) => component === "storage" && traces.push(`${severity} ${message}`),
    flush: () => Promise.resolve(),
  });
  await mesh.initialize(testConfig(options));
  const server = await listen(createHandler(mesh), { port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    mesh,
    records,
    traces,
    get turns() {
      return turns();
    },
    chat: (body) => ask(url, body),
    async stop() {
      await server.stop(0);
      await advanceUntilSettled(mesh.close(), clock); // it waits for the lock of another that closes
      await storage.close?.();
    },
  };
}

/** Lets time pass until a promise is settled. */
async function advanceUntilSettled(promise: Promise<void>, clock: FakeClock): Promise<void> {
  let isOver = false;
  const settled = promise.finally(() => isOver = true);
  const advance = async () => {
    while (!isOver) {
      await clock.advance(50);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  await Promise.all([settled, advance()]);
}

/** Counts the additions that the store has performed, or that failed. */
function readTurns(shared: Shared): () => number {
  let turns = 0;
  const add = shared.add.bind(shared);
  shared.add = (changes) => add(changes).finally(() => turns++);
  return () => turns;
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
