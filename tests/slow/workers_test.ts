/** Processes on one port that count together: `modelmesh proxy --workers`. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { type ChildCommand, spawnCommand } from "../support/_cli.ts";
import { makeFolder } from "../support/_library.ts";
import { happens, until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { sendBytes } from "../support/_surface.ts";
import { tally } from "../support/_tuned.ts";
import { Gate, ok, startUpstream, type Upstream } from "../support/upstream.ts";

const answer = ok({ text: "hello", usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } });
const token = "token-of-the-web-0123456789";
const admin = "token-of-operations-0123456789";

interface Setup {
  readonly upstream: Upstream;
  readonly client?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly workers?: number;
}

interface Workers {
  readonly child: ChildCommand;
  readonly port: number;
  /** Sends a chat request over a connection of its own: its status and the error's code; 0 when it was lost. */
  chat(as?: string): Promise<{ status: number; code: string | undefined }>;
  /** Sends an administrator's request over a connection of its own: the body of the answer. */
  ask(line: string, body?: string, as?: string): Promise<string>;
  /** The ids of the workers there are. */
  pids(): number[];
}

async function withWorkers(
  { upstream, client, config, workers = 2 }: Setup,
  test: (workers: Workers) => Promise<void>,
) {
  await using folder = await makeFolder();
  const document = testConfig({
    upstreams: { a: upstream.url },
    config: {
      models: {
        a: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } },
      },
      proxy: { auth: { tokens: [{ token, name: "web", ...client }, admin] } },
      ...config,
    },
  });
  const path = await folder.write("mesh.json", JSON.stringify(document));
  await using child = spawnCommand(["proxy", "--port", "0", "--config", path, "--workers", String(workers)]);
  await child.says(`workers: ${workers}`);
  const port = Number(new URL(await child.url()).port);
  const pids = () => childrenOf(child.pid);
  let hasEnded = false;
  child.code.then(() => hasEnded = true);
  await test({
    child,
    port,
    pids,
    chat: (as = token) => chat(port, as),
    ask: async (line, body = "", as = admin) => (await request(port, { line, body, as })).split("\r\n\r\n")[1]!,
  });
  if (!hasEnded) child.kill("SIGTERM");
  assertEquals(await happens("it stops", child.code), 0, child.err);
}

async function chat(port: number, as: string) {
  const body = '{"model":"chat","messages":[{"role":"user","content":"Hi"}]}';
  const raw = await request(port, { line: "POST /v1/chat/completions", body, as });
  return { status: Number(raw.split(" ")[1] ?? 0), code: /"code":\s*"(\w+)"/.exec(raw)?.[1] };
}

function request(port: number, { line, body, as }: { line: string; body: string; as: string }): Promise<string> {
  const head = [`${line} HTTP/1.1`, "Host: 127.0.0.1", `Authorization: Bearer ${as}`];
  const more = ["Content-Type: application/json", `Content-Length: ${body.length}`, "Connection: close"];
  return sendBytes(port, `${[...head, ...more].join("\r\n")}\r\n\r\n${body}`);
}

/** The ids of the first records, as some worker streams them. */
async function firstRecords(port: number, count: number): Promise<string> {
  const leave = new AbortController();
  const headers = { authorization: `Bearer ${admin}`, "last-event-id": "0", connection: "close" };
  const { body } = await fetch(`http://127.0.0.1:${port}/mesh/events`, { headers, signal: leave.signal });
  let text = "";
  for await (const bytes of body!) {
    text += new TextDecoder().decode(bytes);
    if (text.split('"type":"routing"').length > 30) break;
  }
  leave.abort();
  return [...text.matchAll(/^id: (\d+)$/gm)].slice(0, count).map(([, id]) => id).join();
}

function childrenOf(pid: number): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((name) => {
    try {
      return Number(readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /, "").split(" ")[1]) === pid;
    } catch {
      return false; // it has ended meanwhile
    }
  }).map(Number).sort((one, other) => one - other);
}

const atOnce = (count: number, ask: () => Promise<{ status: number; code: string | undefined }>) =>
  Promise.all(Array.from({ length: count }, ask)).then((all) => tally(all.map(({ status, code }) => code ?? status)));

/** Ends a worker the hard way, and waits until another one listens in its place. */
async function killOne({ pids, child }: Workers): Promise<void> {
  const [victim] = pids();
  const times = child.err.split("listens again").length;
  process.kill(victim!, "SIGKILL");
  await until(() => child.err.split("listens again").length > times, () => `another worker listens: ${child.err}`);
}

const isLinux = process.platform === "linux";

(isLinux ? describe : describe.skip)("Workers on one port", () => {
  it("admit as many requests of a client as its rpm says, to the request, also when one is killed", async () => {
    await using upstream = await startUpstream(answer);
    await withWorkers({ upstream, client: { rpm: 20 } }, async (workers) => {
      assertEquals(await atOnce(60, () => workers.chat()), { 200: 20, rate_limit_exceeded: 40 });
      await killOne(workers);
      assertEquals(await atOnce(10, () => workers.chat()), { rate_limit_exceeded: 10 });
      assertEquals(upstream.calls, 20);
      assertEquals((await workers.chat(admin)).status, 200);
    });
  });

  it("spend one budget, to the dollar, also when they are killed one after the other", async () => {
    await using upstream = await startUpstream(answer);
    await withWorkers({ upstream, config: { budget: { daily_limit: 30 } } }, async (workers) => {
      assertEquals(await atOnce(10, () => workers.chat()), { 200: 10 });
      await killOne(workers);
      await killOne(workers);
      assertEquals(await atOnce(60, () => workers.chat()), { 200: 20, budget_exceeded: 40 });
      assertEquals(upstream.calls, 30);
    });
  });

  it("give back what a killed one had reserved of a budget", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream({ play: (exchange) => gate.pass().then(() => answer.play(exchange)) });
    await withWorkers({ upstream, config: { budget: { daily_limit: 5 } } }, async (workers) => {
      const open = Promise.all([1, 2, 3, 4, 5].map(() => workers.chat()));
      await until(() => upstream.calls === 5);
      assertEquals((await workers.chat()).code, "budget_exceeded");
      await killOne(workers);
      await killOne(workers);
      assertEquals(tally((await open).map(({ status }) => status)), { 0: 5 });
      gate.openAll();
      assertEquals(await atOnce(8, () => workers.chat()), { 200: 5, budget_exceeded: 3 });
    });
  });

  it("serve as many requests at once as max_concurrent says, wherever they are", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream({ play: (exchange) => gate.pass().then(() => answer.play(exchange)) });
    const proxy = { max_concurrent: 6, auth: { tokens: [token] } };
    await withWorkers({ upstream, config: { proxy } }, async (workers) => {
      const seen: (string | number)[] = [];
      const ask = () => workers.chat().then(({ status, code }) => seen.push(code ?? status));
      const first = Promise.all(Array.from({ length: 20 }, ask));
      await until(() => upstream.calls === 6 && seen.length === 14);
      await killOne(workers); // its requests are lost, their slots are free
      const lost = seen.length - 14;
      const second = Promise.all(Array.from({ length: 20 }, ask));
      await until(() => upstream.calls === 6 + lost && seen.length === 34);
      gate.openAll();
      await Promise.all([first, second]);
      assertEquals(tally(seen.filter((one) => one !== 0)), { 200: 6, overloaded: 14 + 20 - lost });
    });
  });

  it("lose no request but those of the one that is killed, and never spend more than the limit", async () => {
    await using upstream = await startUpstream(answer);
    await withWorkers({ upstream, workers: 3, config: { budget: { daily_limit: 200 } } }, async (workers) => {
      const seen: number[] = [];
      let isOver = false;
      const client = async () => {
        while (!isOver) seen.push((await workers.chat()).status);
      };
      const clients = Array.from({ length: 6 }, client);
      await until(() => seen.length > 20);
      for (let kills = 0; kills < 3; kills++) await killOne(workers);
      const after = seen.length;
      await until(() => seen.length > after + 20);
      isOver = true;
      await Promise.all(clients);
      const lost = seen.filter((status) => status === 0).length;
      assert(lost <= 3 * 6, `${lost} requests were lost`); // at most those that were open
      assert(seen.filter((status) => status === 200).length <= 200);
      assert(upstream.calls <= 200 + lost, `${upstream.calls} calls, ${lost} lost`);
      assertEquals(seen.filter((status) => ![0, 200, 429].includes(status)), []);
    });
  });

  it("keep what they have spent in a file, over restarts of all", async () => {
    await using upstream = await startUpstream(answer);
    await using kept = await makeFolder();
    const storage = { connector: "mesh.local-file.v1", path: `${kept.path}/state.json` };
    const config = { budget: { daily_limit: 30 }, storage };
    for (const before of [0, 10, 20]) {
      await withWorkers({ upstream, config }, async (workers) => {
        const [{ spent_usd }] = JSON.parse(await workers.ask("GET /mesh/status")).budgets;
        assertEquals(spent_usd, before);
        if (before === 10) await killOne(workers); // the next one begins with what all have, not with the file
        assertEquals(await atOnce(10, () => workers.chat()), { 200: 10 });
        if (before === 20) assertEquals(await atOnce(4, () => workers.chat()), { budget_exceeded: 4 });
      });
    }
  });

  it("have clients made at runtime in common, and their tokens within a second", async () => {
    await using upstream = await startUpstream(answer);
    await using kept = await makeFolder();
    const storage = { connector: "mesh.local-file.v1", path: `${kept.path}/state.json` };
    await withWorkers({ upstream, config: { storage } }, async (workers) => {
      const made = JSON.parse(await workers.ask("POST /mesh/clients", '{"name":"app","rpm":7}'));
      const areAll = async (status: number) =>
        (await Promise.all(Array.from({ length: 8 }, () => workers.ask("GET /v1/models", "", made.token)))).every((
          body,
        ) => body.includes(status === 200 ? '"list"' : "invalid_api_key"));
      await until(() => areAll(200), "all know the client");
      assertEquals(await atOnce(20, () => workers.chat(made.token)), { 200: 7, rate_limit_exceeded: 13 });
      await workers.ask(`DELETE /mesh/clients/${made.id}`);
      await until(() => areAll(401), "all know that it is gone");
    });
  });

  it("answer for all: metrics, status, records, and what an administrator does; also what a killed one has done", async () => {
    await using upstream = await startUpstream(answer);
    await withWorkers({ upstream }, async (workers) => {
      const hasCounted = async (count: number) =>
        JSON.parse(await workers.ask("GET /mesh/status")).clients?.[0].requests === count;
      assertEquals(await atOnce(20, () => workers.chat()), { 200: 20 });
      await until(() => hasCounted(20), "they are counted"); // some ms later
      await killOne(workers);
      assertEquals(await atOnce(10, () => workers.chat()), { 200: 10 });
      await until(() => hasCounted(30), "they are counted");
      const ids = new Set<string>();
      for (let turn = 0; turn < 8; turn++) { // each over a connection of its own, to any worker
        const metrics = await workers.ask("GET /metrics");
        assertMatch(
          metrics,
          /modelmesh_requests_total\{pool="chat",model="a",provider="a",client="web",status="200"\} 30\n/,
        );
        assertMatch(metrics, /modelmesh_requests_in_flight 0\n/);
        const status = JSON.parse(await workers.ask("GET /mesh/status"));
        assertEquals([status.clients[0].name, status.clients[0].requests, status.in_flight], ["web", 30, 0]);
        ids.add(await firstRecords(workers.port, 31));
      }
      assertEquals(ids.size, 1);
      await workers.ask("POST /mesh/deactivate", '{"model":"a"}');
      const isDown = async () => JSON.parse(await workers.ask("GET /mesh/status")).pools.chat.active === 0;
      await until(async () => (await Promise.all(Array.from({ length: 8 }, isDown))).every(Boolean), "all know it");
      assertEquals(await atOnce(8, () => workers.chat()), { no_active_model: 8 });
    });
  });

  it("finish open answers on SIGTERM, and are gone then", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream({ play: (exchange) => gate.pass().then(() => answer.play(exchange)) });
    await withWorkers({ upstream }, async ({ child, chat, pids, port }) => {
      const open = Promise.all([chat(), chat(), chat()]);
      await until(() => upstream.calls === 3);
      child.kill("SIGTERM");
      await child.says("finishing open responses");
      await until(
        async () => (await sendBytes(port, "GET /live HTTP/1.1\r\n\r\n").catch(() => "")) === "",
        "no new ones",
      );
      gate.openAll();
      assertEquals((await open).map(({ status }) => status), [200, 200, 200]);
      assertEquals(await happens("it stops", child.code), 0);
      await until(() => pids().length === 0);
    });
  });

  it("are replaced without end: sockets and files of the one above them stay as many", async () => {
    await using upstream = await startUpstream(answer);
    await withWorkers({ upstream }, async (workers) => {
      const files = () => readdirSync(`/proc/${workers.child.pid}/fd`).length;
      await killOne(workers);
      const before = files();
      for (let kills = 0; kills < 3; kills++) await killOne(workers);
      await until(() => files() <= before + 2, () => `${files()} files are open, ${before} were`);
      assertMatch(workers.child.err, /Worker \d has ended by a signal: another one starts in 0 ms/);
    });
  });

  it("end with the one above them", async () => {
    await using upstream = await startUpstream(answer);
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", JSON.stringify(testConfig({ upstreams: { a: upstream.url } })));
    const child = spawnCommand(["proxy", "--port", "0", "--config", path, "--workers", "2"]);
    await child.says("workers: 2");
    await until(() => childrenOf(child.pid).length === 2);
    const all = childrenOf(child.pid);
    process.kill(child.pid, "SIGKILL");
    await child.code;
    await until(() => all.every((pid) => !isAlive(pid)), "no worker is left");
  });

  it("say once why none can start, and end with 1", async () => {
    const busy = createServer();
    await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
    const port = String((busy.address() as AddressInfo).port);
    await using folder = await makeFolder();
    const good = await folder.write(
      "mesh.json",
      JSON.stringify(testConfig({ upstreams: { a: "http://127.0.0.1:9/v1" } })),
    );
    const rows: readonly [args: readonly string[], expected: string][] = [
      [["--config", good, "--port", port], "the port is in use"],
      [["--config", "absent.json"], "does not exist"],
    ];
    for (const [args, expected] of rows) {
      await using child = spawnCommand(["proxy", ...args, "--workers", "3"]);
      assertEquals(await happens("it ends", child.code), 1);
      assertEquals(child.err.split(expected).length, 2, child.err);
    }
    await new Promise((resolve) => busy.close(resolve));
  });

  it("take another configuration on SIGHUP, and say so once", async () => {
    await using upstream = await startUpstream(answer);
    await withWorkers({ upstream }, async ({ child, chat }) => {
      child.kill("SIGHUP");
      await child.says("Reloaded");
      assertEquals(await atOnce(8, () => chat()), { 200: 8 });
      assertStringIncludes(child.err, "Reloaded");
      assertEquals(child.err.split("Reloaded").length, 2);
    });
  });
});

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
