/** How much of the product a request enters: what a reader who follows one has to read, counted on Node 24. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { findNode } from "../../scripts/npm/node.ts";
import { run } from "../../scripts/npm/process.ts";
import { makeFolder } from "../support/_library.ts";
import { answer, embeddings, startUpstream } from "../support/upstream.ts";

const root = new URL("../../", import.meta.url);

/** A program that starts a mesh, and sends each kind of request over a proxy: the fourth is counted. */
const program = `
  import inspector from "node:inspector/promises";
  const [root, upstream] = process.argv.slice(1);
  const session = new inspector.Session();
  session.connect();
  await session.post("Profiler.enable");
  const { ModelMesh } = await import(root + "mod.ts");
  const { serve } = await import(root + "proxy.ts");

  async function measure(task) {
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await session.post("Profiler.takePreciseCoverage");
    await task();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    await session.post("Profiler.stopPreciseCoverage");
    const entered = result.filter(({ url }) => url.startsWith(root)).map(({ functions }) =>
      functions.filter(({ ranges: [{ count, startOffset }] }) => count > 0 && startOffset > 0).length
    ).filter((count) => count > 0);
    return { files: entered.length, functions: entered.reduce((sum, count) => sum + count, 0) };
  }

  const provider = "openai.compatible.v1";
  const config = {
    providers: { [provider]: { base_url: upstream + "/v1", api_key: "key-0123456789abcdefghij" } },
    models: {
      m: { provider, capabilities: ["generation.text-generation.chat-completion"] },
      e: { provider, capabilities: ["representation.embeddings.text-embeddings"] },
    },
    pools: { chat: { capability: "chat-completion" }, embeddings: { capability: "text-embeddings" } },
  };
  const initialize = await measure(() => new ModelMesh().initialize(config));
  const server = await serve({ config, port: 0, host: "127.0.0.1" });
  const headers = { "content-type": "application/json" };
  const send = async (path, body) => {
    const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    await response.text();
    await new Promise((resolve) => setTimeout(resolve, 50)); // the record of a stream is written after its last byte
    return response.status;
  };
  const chat = { model: "chat", messages: [{ role: "user", content: "Hi" }] };
  const requests = {
    chat: ["/v1/chat/completions", chat],
    stream: ["/v1/chat/completions", { ...chat, stream: true }],
    embeddings: ["/v1/embeddings", { model: "embeddings", input: "Hi" }],
  };
  const entered = { initialize };
  const statuses = [];
  for (const [name, [path, body]] of Object.entries(requests)) {
    for (let sent = 0; sent < 3; sent++) statuses.push(await send(path, body));
    entered[name] = await measure(() => send(path, body));
  }
  console.log(JSON.stringify({ entered, statuses }));
  process.exit(0);
`;

/** The most files and functions that each may enter. */
const limits: Readonly<Record<string, readonly [files: number, functions: number]>> = {
  initialize: [116, 662],
  chat: [99, 492],
  stream: [110, 616],
  embeddings: [99, 457],
};

describe("A warm request enters few files and functions", () => {
  it("whatever it asks for, and so does a start", async () => {
    await using folder = await makeFolder();
    await using upstream = await startUpstream(({ path }) => path.includes("embeddings") ? embeddings() : answer());
    const command = [await findNode("24"), "--input-type=module", "--eval", program, root.href, upstream.url];
    const { out } = await run(command, { folder: folder.path });
    const { entered, statuses } = JSON.parse(out);
    assertEquals(statuses, new Array(9).fill(200));
    for (const [name, [files, functions]] of Object.entries(limits)) {
      assert(entered[name].files <= files, `${name} enters ${entered[name].files} files`);
      assert(entered[name].functions <= functions, `${name} enters ${entered[name].functions} functions`);
    }
  });
});
