/**
 * How much of the product a request enters: what a reader who follows one has to read; and how much it allocates, which is
 * what it leaves to the garbage collector. Counted on Node 24.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { findNode } from "../../scripts/npm/node.ts";
import { run } from "../../scripts/npm/process.ts";
import { makeFolder } from "../support/_library.ts";
import { embeddings, respond, startUpstream } from "../support/upstream.ts";

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
  const personal = { connector: "mesh.guard.pii.v1", action: "block" };
  const guarding = { ...config, guards: { personal }, proxy: { guards: ["personal"] } };
  const guarded = await serve({ config: guarding, port: 0, host: "127.0.0.1" });
  const headers = { "content-type": "application/json" };
  const send = async (path, body, { url } = server) => {
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    await response.text();
    await new Promise((resolve) => setTimeout(resolve, 50)); // the record of a stream is written after its last byte
    return response.status;
  };
  const chat = { model: "chat", messages: [{ role: "user", content: "Hi" }] };
  const requests = {
    chat: ["/v1/chat/completions", chat],
    stream: ["/v1/chat/completions", { ...chat, stream: true }],
    embeddings: ["/v1/embeddings", { model: "embeddings", input: "Hi" }],
    "a guarded chat": ["/v1/chat/completions", chat, guarded],
  };
  const entered = { initialize };
  const statuses = [];
  for (const [name, request] of Object.entries(requests)) {
    for (let sent = 0; sent < 3; sent++) statuses.push(await send(...request));
    entered[name] = await measure(() => send(...request));
  }
  console.log(JSON.stringify({ entered, statuses }));
  process.exit(0);
`;

/** The most files and functions that each may enter. */
const limits: Readonly<Record<string, readonly [files: number, functions: number]>> = {
  initialize: [114, 657],
  chat: [95, 464],
  stream: [107, 614], // depends on how its events arrive
  embeddings: [97, 438],
  "a guarded chat": [100, 504],
};

/**
 * A program that sends requests to a handler, and prints the bytes that one of them, and an event of a stream, allocates. It
 * is not optimized, and its young generation has room for all of it, so that the numbers are the same on every machine.
 */
const allocating = `
  const [root] = process.argv.slice(1);
  const { ModelMesh } = await import(root + "mod.ts");
  const { createHandler } = await import(root + "proxy.ts");
  const message = { role: "assistant", content: "Hello" };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  const encode = (value) => new TextEncoder().encode(JSON.stringify(value));
  const answer = encode({ id: "c", object: "chat.completion", created: 1, model: "m", choices, usage });
  const headersOf = ({ length }) => new Headers({ "content-type": "application/json", "content-length": String(length) });
  const arrayBuffer = async () => answer.slice().buffer;
  const response = { type: "default", status: 200, headers: headersOf(answer), body: null, arrayBuffer };
  const toEvent = (delta, finish_reason = null) => ({ id: "c", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] });
  const toChunk = (event) => ({ done: false, value: new TextEncoder().encode("data: " + event + "\\n\\n") });
  const text = toChunk(JSON.stringify({ object: "chat.completion.chunk", ...toEvent({ content: "token " }) }));
  const last = [toChunk(JSON.stringify({ object: "chat.completion.chunk", ...toEvent({}, "stop") })), toChunk("[DONE]")];
  let events = 0;
  const stream = () => {
    let left = events;
    const end = [...last];
    const read = () => Promise.resolve(left-- > 0 ? text : end.shift() ?? { done: true });
    const body = { getReader: () => ({ read, cancel: async () => {} }) };
    return { type: "default", status: 200, headers: new Headers({ "content-type": "text/event-stream" }), body };
  };
  const mesh = new ModelMesh({ fetch: async () => events > 0 ? stream() : response });
  await mesh.initialize({
    providers: { a: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1", api_key: "key-123456" } },
    models: { m: { provider: "a", capabilities: ["chat-completion"] } },
    pools: { chat: { models: ["m"] } },
  });
  const handler = createHandler(mesh);
  const chat = { model: "chat", messages: [{ role: "user", content: "Hello" }] };
  const [url, { signal }] = ["http://127.0.0.1/v1/chat/completions", new AbortController()];
  const toRequest = (body) => ({ method: "POST", url, headers: headersOf(body), signal, body: null, bytes: async () => body });
  const statuses = new Set();
  const send = async (request, count) => {
    for (let sent = 0; sent < count; sent++) {
      const { status, body } = await handler.plain(request);
      statuses.add(status);
      if (events > 0) while (await body.read() !== undefined);
    }
  };
  const measure = async (request, count) => {
    await send(request, count / 2);
    globalThis.gc();
    const before = process.memoryUsage().heapUsed;
    await send(request, count);
    return (process.memoryUsage().heapUsed - before) / count;
  };
  const bytes = await measure(toRequest(encode(chat)), 500);
  const streaming = toRequest(encode({ ...chat, stream: true }));
  events = 50;
  const short = await measure(streaming, 20);
  events = 250;
  const perEvent = (await measure(streaming, 20) - short) / 200;
  console.log(JSON.stringify({ bytes, perEvent, statuses: [...statuses] }));
  process.exit(0);
`;

const allocatingFlags = [
  ...["--expose-gc", "--no-opt", "--no-maglev", "--no-sparkplug"],
  ...["--min-semi-space-size=64", "--max-semi-space-size=64"],
];

/** The most that a request may allocate without optimization, bytes; optimized code allocates about two thirds of it. */
const maxAllocated = 46_500;

/** The same of an event. */
const maxAllocatedPerEvent = 4_050;

describe("A warm request enters few files and functions", () => {
  it("whatever it asks for, and so does a start", async () => {
    await using folder = await makeFolder();
    await using upstream = await startUpstream(({ path }) => path.includes("embeddings") ? embeddings() : respond());
    const command = [await findNode("24"), "--input-type=module", "--eval", program, root.href, upstream.url];
    const { out } = await run(command, { folder: folder.path });
    const { entered, statuses } = JSON.parse(out);
    assertEquals(statuses, new Array(12).fill(200));
    for (const [name, [files, functions]] of Object.entries(limits)) {
      assert(entered[name].files <= files, `${name} enters ${entered[name].files} files`);
      assert(entered[name].functions <= functions, `${name} enters ${entered[name].functions} functions`);
    }
  });

  it("and allocates little", async () => {
    await using folder = await makeFolder();
    const command = [await findNode("24"), ...allocatingFlags, "--input-type=module", "--eval", allocating, root.href];
    const { out } = await run(command, { folder: folder.path });
    const { bytes, perEvent, statuses } = JSON.parse(out);
    assertEquals(statuses, [200]);
    assert(bytes > 0 && bytes <= maxAllocated, `${Math.round(bytes)} bytes`);
    const isSmall = perEvent > 0 && perEvent <= maxAllocatedPerEvent;
    assert(isSmall, `${Math.round(perEvent)} bytes per event`);
  });
});
