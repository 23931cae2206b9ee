/** Proxies on one real Redis or PostgreSQL, killed and started again under load: what they share holds to the cent and the call. */
import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { type ChildCommand, spawnCommand } from "../support/_cli.ts";
import { listChildren } from "../support/_children.ts";
import { makeFolder } from "../support/_library.ts";
import { until } from "../support/patience.ts";
import { portForRestarts } from "../support/ports.ts";
import { testConfig } from "../support/proxy.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { describeOnServers, type SharedServer } from "../support/shared_servers.ts";
import { sendBytes } from "../support/_surface.ts";
import { ok, startUpstream, type Upstream } from "../support/upstream.ts";

const answer = ok({ text: "hello", usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } });
const token = "token-of-the-web-0123456789";

let server: SharedServer;

/** What one kill may cost: each client of the proxy has one request open, and a worker that dies may get one more. */
const maxLost = 2 * 4;

/** What a client saw: a status, an error's code, or that its connection broke. */
type Seen = "200" | "lost" | string;

/** The young generation grows for thousands of requests otherwise, which would hide what a kill leaves behind. */
const smallHeap = { NODE_OPTIONS: "--max-semi-space-size=1", DENO_V8_FLAGS: "--max-semi-space-size=1" };

/** A proxy that is started again on its port whenever it was killed. */
class Proxy implements AsyncDisposable {
  readonly #args: readonly string[];
  readonly #hasWorkers: boolean;
  #child!: ChildCommand;
  #port = 0;
  /** What earlier processes of it have logged. */
  #logged = "";
  /** Clients wait while it is started again. */
  #starting: Promise<void> = Promise.resolve();

  constructor(args: readonly string[]) {
    this.#args = args;
    this.#hasWorkers = args.includes("--workers");
  }

  async start(): Promise<void> {
    this.#port ||= await portForRestarts();
    this.#child = spawnCommand(["proxy", ...this.#args, "--port", String(this.#port)], { env: smallHeap });
    await this.#child.url();
  }

  /** Ends it the hard way and starts it again, or one of its workers. */
  async kill(): Promise<void> {
    if (this.#hasWorkers) {
      const times = this.#child.err.split("is listening again").length;
      process.kill(listChildren(this.#child.pid)[0]!, "SIGKILL");
      return await until(() => this.#child.err.split("is listening again").length > times);
    }
    process.kill(this.#child.pid, "SIGKILL");
    this.#starting = this.#child.code.then(() => {
      this.#logged += this.#child.err;
      return this.start();
    });
    await this.#starting;
  }

  /** Whether the storage has kept it waiting for so long that it counted by itself: then a limit holds for it alone. */
  get hasCountedAlone(): boolean {
    return (this.#logged + this.#child.err).includes("The shared storage is unavailable");
  }

  async chat(): Promise<Seen> {
    await this.#starting;
    const body = '{"model":"chat","messages":[{"role":"user","content":"Hi"}]}';
    const head = ["POST /v1/chat/completions HTTP/1.1", "Host: 127.0.0.1", `Authorization: Bearer ${token}`];
    const more = ["Content-Type: application/json", `Content-Length: ${body.length}`, "Connection: close"];
    const raw = await sendBytes(this.#port, `${[...head, ...more].join("\r\n")}\r\n\r\n${body}`);
    return /"code":\s*"(\w+)"/.exec(raw)?.[1] ?? raw.split(" ")[1] ?? "lost";
  }

  /** Open files and sockets of its processes, and the memory of all, MB. */
  get use(): { readonly files: number; readonly mb: number } {
    const pids = [this.#child.pid, ...listChildren(this.#child.pid)];
    const kb = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    return {
      files: pids.reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0),
      mb: pids.reduce((sum, pid) => sum + kb(pid), 0) / 1024,
    };
  }

  [Symbol.asyncDispose]() {
    return this.#child[Symbol.asyncDispose]();
  }
}

interface Setup {
  readonly name: string;
  readonly upstream: Upstream;
  readonly client?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Of its one model. */
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly args?: readonly string[];
}

/** What the proxies serve: requests of a cent each, counted in the shared storage. */
function createDocument(
  { name, upstream, client, config, limits, storage = server.storage }: Setup & Partial<Pick<SharedServer, "storage">>,
) {
  return testConfig({
    upstreams: { a: upstream.url },
    config: {
      models: {
        a: {
          provider: "a",
          capabilities: ["chat-completion"],
          pricing: { input: 0, output: 0, per_request: 0.01 },
          ...(limits && { limits }),
        },
      },
      storage: { ...storage, prefix: name, on_unavailable: "closed" },
      proxy: { auth: { tokens: [{ token, name: "web", ...client }] } },
      ...config,
    },
  });
}

/** What came of it all. */
interface Outcome {
  readonly seen: readonly Seen[];
  /** Calls that the provider received. */
  readonly calls: number;
}

/** Runs it again when the machine was so busy that the storage seemed to be away. */
async function exhaust(setup: Setup): Promise<Outcome> {
  for (let tries = 1;; tries++) {
    const { hasCountedAlone, ...outcome } = await exhaustOnce({ ...setup, name: `${setup.name}-${tries}` });
    if (!hasCountedAlone || tries === 3) return outcome;
  }
}

/** Four clients ask two proxies, one of which is killed again and again, until both refuse all. */
async function exhaustOnce(
  { name, upstream, client, config, limits, args = [] }: Setup,
): Promise<Outcome & { readonly hasCountedAlone: boolean }> {
  const callsBefore = upstream.calls;
  await using folder = await makeFolder();
  const path = await folder.write(
    "mesh.json",
    JSON.stringify(createDocument({ name, upstream, client, config, limits })),
  );
  await using one = new Proxy(["--config", path, ...args]);
  await using other = new Proxy(["--config", path]);
  await Promise.all([one.start(), other.start()]);
  const seen: Seen[] = [];
  let isOver = false;
  const ask = async (proxy: Proxy) => {
    while (!isOver) seen.push(await proxy.chat());
  };
  const clients = Promise.all([one, one, other, other].map(ask));
  for (let kills = 0; kills < 2; kills++) {
    const before = seen.length;
    await until(() => seen.length > before + 20);
    await one.kill();
  }
  await until(() =>
    seen.slice(-40).length === 40 && seen.slice(-40).every((last) => last !== "200" && last !== "lost")
  );
  isOver = true;
  await clients;
  assert(countOf(seen, "lost") <= maxLost, `${countOf(seen, "lost")} requests were lost`);
  return { seen, calls: upstream.calls - callsBefore, hasCountedAlone: one.hasCountedAlone || other.hasCountedAlone };
}

const countOf = (seen: readonly Seen[], one: Seen) => seen.filter((other) => other === one).length;

describeOnServers("Proxies, one of which is killed under load, on one", (start) => {
  beforeAll(async () => void (server = await start()));
  afterAll(async () => await server[Symbol.asyncDispose]());

  it("spend a budget to the cent", async () => {
    await using upstream = await startUpstream(answer);
    const { seen, calls } = await exhaust({ name: "budget", upstream, config: { budget: { daily_limit: 1.5 } } });
    checkSpent({ seen, calls });
    assertEquals(new Set(seen.filter((one) => one !== "lost")), new Set(["200", "budget_exceeded"]));
  });

  it("spend a client's budget to the cent, also when it is one of a proxy's workers", async () => {
    await using upstream = await startUpstream(answer);
    const client = { budget: { daily_limit: 1.5 } };
    checkSpent(await exhaust({ name: "client", upstream, client, args: ["--workers", "2"] }));
  });

  for (const [who, args] of [["a proxy", []], ["one of a proxy's workers", ["--workers", "2"]]] as const) {
    it(`admit a client's requests to the call: ${who}`, async () => {
      await using upstream = await startUpstream(answer);
      const { seen, calls } = await exhaust({ name: `rpm-${args.length}`, upstream, client: { rpm: 150 }, args });
      const [good, lost] = [countOf(seen, "200"), countOf(seen, "lost")];
      assert(good <= 150 && calls <= 150, `${good} answers, ${calls} calls`);
      assert(good + lost >= 150, `${good} answers and ${lost} lost`);
      assertEquals(new Set(seen.filter((one) => one !== "lost")), new Set(["200", "rate_limit_exceeded"]));
    });
  }

  const limits: Readonly<Record<string, Omit<Setup, "name" | "upstream">>> = {
    "requests a minute": { limits: { rpm: 150 } },
    "requests a day": { limits: { rpd: 150 } },
    "requests of a pool's window": {
      config: {
        pools: { chat: { capability: "chat-completion", deactivation: { request_limit: 150, quota_window: "daily" } } },
      },
    },
  };
  for (const [what, setup] of Object.entries(limits)) {
    for (const [who, args] of [["a proxy", []], ["one of a proxy's workers", ["--workers", "2"]]] as const) {
      it(`send a model its ${what}, to the call: ${who}`, async () => {
        await using upstream = await startUpstream(answer);
        const { seen, calls } = await exhaust({
          name: `${what} ${args.length}`.replaceAll(/\W/g, "-"),
          upstream,
          ...setup,
          args,
        });
        const [good, lost] = [countOf(seen, "200"), countOf(seen, "lost")];
        // PostgreSQL may not have received yet what a killed process has settled: its call counts as not sent
        const isLate = server.storage.connector === "mesh.postgres.v1" && what === "requests of a pool's window";
        const most = 150 + (isLate ? lost : 0);
        assert(good <= 150 && calls <= most, `${good} answers, ${calls} calls, ${lost} lost`);
        assert(good + lost >= 150, `${good} answers and ${lost} lost`);
      });
    }
  }
});

(hasRedis ? describe : describe.skip)("Proxies and workers that are killed again and again", () => {
  it("leave nothing behind: files and memory of those that go on, and connections of Redis, stay as they are", async () => {
    await using redis = await TestRedis.start();
    await using upstream = await startUpstream(answer);
    await using folder = await makeFolder();
    const path = await folder.write(
      "mesh.json",
      JSON.stringify(
        createDocument({ name: "level", upstream, storage: { connector: "redis.redis.v1", url: redis.url } }),
      ),
    );
    await using one = new Proxy(["--config", path, "--workers", "2"]);
    await using other = new Proxy(["--config", path]);
    await using killed = new Proxy(["--config", path]);
    await Promise.all([one, other, killed].map((proxy) => proxy.start()));
    const connections = async () => Number(/connected_clients:(\d+)/.exec(await redis.command("info clients"))![1]);
    /** 400 requests, meanwhile a worker and a proxy are killed. */
    const round = async () => {
      const seen: Seen[] = [];
      const ask = async (proxy: Proxy) => {
        while (seen.length < 400) seen.push(await proxy.chat());
      };
      const clients = Promise.all([one, one, other, other, killed].map(ask));
      for (const [proxy, at] of [[one, 50], [killed, 150]] as const) {
        await until(() => seen.length > at);
        await proxy.kill();
      }
      await clients;
      assert(countOf(seen, "lost") <= 2 * maxLost, `${countOf(seen, "lost")} requests were lost`);
    };
    for (let rounds = 0; rounds < 4; rounds++) await round(); // the first ones compile and fill caches
    const uses = () => [one, other].map(({ use }) => use);
    const before = { uses: uses(), connections: await connections() };
    for (let rounds = 0; rounds < 3; rounds++) await round();
    await until(async () => await connections() <= before.connections, "Redis has as many connections as before");
    await until(
      () => uses().every(({ files }, index) => files <= before.uses[index]!.files + 4),
      () => `files: ${JSON.stringify([before.uses, uses()])}`,
    );
    uses().forEach(({ mb }, index) => {
      const then = before.uses[index]!.mb;
      assert(mb <= then * 1.25 + 30, `${mb} MB, ${then} before`);
    });
  });
});

/** Of a budget for 150 requests. */
function checkSpent({ seen, calls }: Outcome): void {
  const [good, lost] = [countOf(seen, "200"), countOf(seen, "lost")];
  assert(good <= 150, `${good} answers of one cent each`);
  assert(calls <= 150 + lost, `${calls} calls, of which ${lost} may be lost`);
  assert(good + lost >= 150, `${good} answers and ${lost} lost`);
}
