/** What thousands of clients and teams cost a request: nothing, counted as executions of functions and blocks on Node 24. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { findNode } from "../../scripts/npm/node.ts";
import { run } from "../../scripts/npm/process.ts";
import { makeFolder } from "../support/_library.ts";
import { respond, startUpstream } from "../support/upstream.ts";

const root = new URL("../../", import.meta.url);

/**
 * A program that starts a proxy with as many clients, created at runtime, and teams; and counts what a request of the last
 * client executes: the least of several counts, since the interval of a timer may end during one.
 */
const program = `
  import inspector from "node:inspector/promises";
  import { createHash } from "node:crypto";
  const [root, upstream, folder, ...sizes] = process.argv.slice(1);
  const session = new inspector.Session();
  session.connect();
  await session.post("Profiler.enable");
  const { openStorage } = await import(root + "mod.ts");
  const { serve } = await import(root + "proxy.ts");

  async function countExecutions(task) {
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    await session.post("Profiler.takePreciseCoverage");
    await task();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    await session.post("Profiler.stopPreciseCoverage");
    const ranges = result.filter(({ url }) => url.startsWith(root)).flatMap(({ functions }) =>
      functions.flatMap(({ ranges }) => ranges)
    );
    return ranges.reduce((sum, { count }) => sum + count, 0);
  }

  const tokens = (number) => "mm_" + String(number).padStart(43, "0");
  const budget = { daily_limit: 1000, monthly_limit: 10000 };

  async function measure(clients, teams) {
    const storage = { connector: "mesh.local-file.v1", path: folder + "/" + clients + "/state.json" };
    const store = await openStorage(storage);
    const listed = Array.from({ length: clients }, (_, number) => ({
      id: "client-" + number,
      name: "client " + number,
      created_at: "2026-01-01T00:00:00.000Z",
      token_sha256: createHash("sha256").update(tokens(number)).digest("hex"),
      budget,
      rpm: 100000,
      team: "team " + number % teams,
    }));
    const record = { version: 1, clients: listed, revoked: [] };
    await store.save("clients", new TextEncoder().encode(JSON.stringify(record)));
    await store.close?.();
    const provider = "openai.compatible.v1";
    const server = await serve({
      config: {
        providers: { [provider]: { base_url: upstream + "/v1", api_key: "key-0123456789abcdefghij" } },
        models: { m: { provider, capabilities: ["chat-completion"], pricing: { input: 1, output: 1 } } },
        pools: { chat: { capability: "chat-completion" } },
        teams: Object.fromEntries(Array.from({ length: teams }, (_, number) => ["team " + number, { budget, rpm: 100000 }])),
        budget,
        proxy: { auth: { admin_tokens: ["the-token-of-the-administrator"] } },
        storage,
      },
      port: 0,
      host: "127.0.0.1",
    });
    const headers = { "content-type": "application/json", authorization: "Bearer " + tokens(clients - 1) };
    const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] });
    const statuses = [];
    const send = async () => {
      const response = await fetch(server.url + "/v1/chat/completions", { method: "POST", headers, body });
      await response.text();
      statuses.push(response.status);
    };
    for (let sent = 0; sent < 3; sent++) await send();
    const counts = [];
    while (counts.length < 5) counts.push(await countExecutions(send));
    await server.stop();
    return { statuses, least: Math.min(...counts) };
  }

  const results = [];
  for (const size of sizes) results.push(await measure(...size.split("x").map(Number)));
  console.log(JSON.stringify(results));
  process.exit(0);
`;

describe("A request of a client", () => {
  it("executes as much among 10 000 clients and 1 000 teams as among ten and one", async () => {
    await using folder = await makeFolder();
    await using upstream = await startUpstream(respond());
    const args = [root.href, upstream.url, folder.path, "10x1", "10000x1000"];
    const command = [await findNode("24"), "--input-type=module", "--eval", program, ...args];
    const [few, many] = JSON.parse((await run(command, { folder: folder.path })).out);
    assertEquals([...few.statuses, ...many.statuses], new Array(16).fill(200));
    assert(few.least > 1_000, `a request executes ${few.least} functions and blocks`);
    assert(many.least <= few.least * 1.01, `${few.least} among few, ${many.least} among many`);
  });
});
