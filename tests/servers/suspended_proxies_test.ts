/** Two proxies on one real Redis, one of which is stopped with SIGSTOP until its reservations are another's. */
import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createLineReader } from "../support/_lines.ts";
import { programCommand } from "../support/_programs.ts";
import { happens, until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { tally } from "../support/_tuned.ts";
import { workerResponse } from "../support/_workers.ts";
import { Gate, json, startUpstream, type Upstream } from "../support/upstream.ts";

/** Leases are as short as a busy machine allows. */
const leaseMs = 3_000;

const connector = new URL("../../connectors/storage", import.meta.url).href;

const runtime = new URL("../../src/runtime/server.ts", import.meta.url).href;

/** Prints its URL, and serves until standard input ends. */
const program = `
  import { stderr, stdin, stdout } from "node:process";
  import { ModelMesh, stateIn } from LIBRARY;
  import { createHandler, listen } from PROXY;
  import { redisAddress } from "${connector}/_redis_address.ts";
  import { RedisStorage } from "${connector}/redis.ts";
  import { serverRuntime } from "${runtime}";
  const options = { address: redisAddress({ url: "REDIS" }), prefix: "NAME", leaseMs: ${leaseMs} };
  const storage = new RedisStorage(serverRuntime().clock, options);
  const mesh = new ModelMesh({ storage: stateIn(storage) });
  const trace = ({ component, message }) => component === "storage" && stderr.write(message + "\\n");
  mesh.addSink({ emit() {}, trace, flush: () => Promise.resolve() });
  await mesh.initialize(CONFIG);
  const server = await listen(createHandler(mesh), { port: 0 });
  stdout.write("http://127.0.0.1:" + server.port + "\\n");
  stdin.on("end", async () => {
    await server.stop(0);
    await mesh.close();
    await storage.close();
  }).resume();`;

/** A proxy in a process of its own. */
interface Proxy extends AsyncDisposable {
  readonly pid: number;
  readonly err: string;
  /** Asks once: `served`, or the code of the error. */
  chat(): Promise<string>;
}

let redis: TestRedis;

async function start(name: string, config: Readonly<Record<string, unknown>>): Promise<Proxy> {
  const source = program.replace("REDIS", redis.url).replace("NAME", name).replace("CONFIG", JSON.stringify(config));
  const [command, ...args] = programCommand(source);
  const child: ChildProcess = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  let err = "";
  child.stderr!.on("data", (data: Uint8Array) => err += new TextDecoder().decode(data));
  const url = await happens(() => `it listens: ${err}`, createLineReader(child)());
  const chat = async () => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] }),
    });
    const body = await response.json();
    return response.ok ? "served" : String(body.error.code);
  };
  return {
    pid: child.pid!,
    get err() {
      return err;
    },
    chat,
    async [Symbol.asyncDispose]() {
      process.kill(child.pid!, "SIGCONT");
      child.stdin!.end();
      await happens("it ends", ended);
    },
  };
}

/** Requests of a cent under a budget of ten; an access token is fetched for each, after it has reserved. */
function configFor(upstream: Upstream) {
  const pricing = { input: 0, output: 0, per_request: 0.01 };
  const auth = {
    method: "oauth",
    token_url: `${upstream.url}/token`,
    client_id: "id",
    client_secret: "secret-0123456789",
  };
  return testConfig({
    upstreams: { a: upstream.url },
    provider: { api_key: undefined, auth },
    config: {
      models: { a: { provider: "a", capabilities: ["chat-completion"], pricing } },
      budget: { daily_limit: 0.1 },
    },
  });
}

(hasRedis ? describe : describe.skip)("A proxy that is stopped while others serve", () => {
  beforeAll(async () => void (redis = await TestRedis.start()));
  afterAll(() => redis[Symbol.asyncDispose]());

  it("sends nothing of what they have reserved since; only what it had sent is spent beyond the budget", async () => {
    const [tokens, answers] = [new Gate(), new Gate()];
    let isHeld = true;
    const sent: string[] = [];
    await using upstream = await startUpstream(({ path }) => {
      if (path.endsWith("/token")) {
        const token = json({ access_token: "token-0123456789", token_type: "Bearer", expires_in: 1 });
        return isHeld ? { play: (exchange) => tokens.pass().then(() => token.play(exchange)) } : token;
      }
      sent.push(path);
      return isHeld ? { play: (exchange) => answers.pass().then(() => workerResponse.play(exchange)) } : workerResponse;
    });
    const config = configFor(upstream);
    await using one = await start("suspended", config);
    await using other = await start("suspended", config);
    const first = [1, 2, 3].map(() => one.chat());
    await tokens.reached(1);
    tokens.open();
    await until(() => sent.length === 3, "three requests are sent");
    const unsent = [1, 2, 3].map(() => one.chat());
    await tokens.reached(2);
    const reserved = async () => (await redis.command("KEYS", "suspended:leases:*")).includes("suspended:leases:");
    assert(await reserved());
    process.kill(one.pid, "SIGSTOP");
    await until(
      async () => (await redis.command("KEYS", "suspended:leases:*:ended")).includes(":ended"),
      "the lease has ended",
    );
    isHeld = false;
    const others = await Promise.all(Array.from({ length: 12 }, () => other.chat()));
    assertEquals([tally(others), sent.length], [{ served: 10, budget_exceeded: 2 }, 13]);
    process.kill(one.pid, "SIGCONT");
    tokens.openAll();
    assertEquals(tally(await Promise.all(unsent)), { budget_exceeded: 3 });
    answers.openAll();
    assertEquals(tally(await Promise.all(first)), { served: 3 });
    assertEquals([await one.chat(), await other.chat(), sent.length], ["budget_exceeded", "budget_exceeded", 13]);
    assert(one.err.includes("The reservations of this process had expired in the shared storage"), one.err);
    assert(!one.err.includes("unavailable"), one.err);
    const day = new Date().toISOString().slice(0, 10);
    await until(async () => {
      const found = await redis.command(`GET "suspended:sum:budget all day ${day} spent"`);
      return found.includes("130000000");
    }, "thirteen cents are counted: three of them, which were sent, beyond the ten");
  });
});
