/**
 * Several proxies on one real Redis, each with a mesh, a port and a connection of its own. Their common clock stands
 * still until a test advances it: a slow Redis is waited for, and only the test gives one up.
 * @module
 */
import { type MeshEvent, ModelMesh, openStorage, type RoutingRecord, stateIn, type StateInOptions } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import type { Shared, Storage } from "../../src/contracts/storage.ts";
import { until } from "./patience.ts";
import { testConfig, type TestProxyOptions } from "./proxy.ts";
import type { TestRedis } from "./redis.ts";

/** How they are set up, all alike. */
export interface SharedProxiesOptions extends Omit<TestProxyOptions, "tokens" | "listener">, StateInOptions {
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
  /** How often it has replicated its counts to the store, or tried to. */
  readonly turns: number;
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

/** All of them. */
export interface SharedProxies extends Array<SharedProxy>, AsyncDisposable {
  /** The common clock. */
  readonly clock: FakeClock;
  /** Lets so little time pass that what each has counted reaches the others. */
  hear(): Promise<void>;
}

/** Time between two replications, ms. */
const turnMs = 100;

/** While an answer is waited for time goes on, but slowly. */
const pollsPerTurn = 50;

/**
 * Starts them.
 *
 * @param options How.
 */
export async function startSharedProxies(
  { redis, count = 2, prefix = crypto.randomUUID(), clock = fakeClock(), ...options }: SharedProxiesOptions,
): Promise<SharedProxies> {
  const proxies: SharedProxy[] = [];
  while (proxies.length < count) {
    const storage = await openStorage({ connector: "redis.redis.v1", url: redis.url, prefix }, { clock });
    proxies.push(await startSharedProxy(storage, clock, options));
  }
  return Object.assign(proxies, {
    clock,
    async hear() {
      for (const _ of ["all send", "all receive"]) {
        const before = proxies.map(({ turns }) => turns);
        let polls = 0;
        await until(async () => {
          // a command that a restart swallowed is given up after some time
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
  { onUnavailable, ...options }: Omit<SharedProxiesOptions, "redis">,
): Promise<SharedProxy> {
  const records: SharedProxy["records"] = [];
  const traces: string[] = [];
  const turns = turnsOf(storage.shared!);
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
      await mesh.close();
      await storage.close?.();
    },
  };
}

/** Counts the additions that the store has answered, or that failed. */
function turnsOf(shared: Shared): () => number {
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
