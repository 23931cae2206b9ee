/**
 * The cost of one request on Node in promises and in allocated memory, which only Node reports;
 * `scripts/test_node.ts` runs it there. `tests/behaviour/work_test.ts` counts the rest on all runtimes.
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createHook } from "node:async_hooks";
import { GCProfiler, getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import { ModelMesh } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { completion } from "../support/upstream.ts";

const requests = 200;

/** A proxy in this process with an upstream in memory, and one round of requests to it. */
async function proxy() {
  const answer = new TextEncoder().encode(JSON.stringify(completion({ model: "m" })));
  const upstream = {
    type: "default",
    status: 200,
    headers: new Headers({ "content-type": "application/json", "content-length": String(answer.length) }),
    body: null,
    arrayBuffer: () => Promise.resolve(answer.slice().buffer),
  };
  const mesh = new ModelMesh({ fetch: () => Promise.resolve(upstream as unknown as Response) });
  await mesh.initialize({
    providers: { a: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1", api_key: "key-123456" } },
    models: { m: { provider: "a", capabilities: ["chat-completion"] } },
    pools: { chat: { models: ["m"] } },
  });
  const handler = createHandler(mesh);
  const body = new TextEncoder().encode(`{"model":"chat","messages":[{"role":"user","content":"Hello"}]}`);
  const request = {
    method: "POST",
    url: "http://127.0.0.1/v1/chat/completions",
    headers: new Headers({ "content-type": "application/json", "content-length": String(body.length) }),
    signal: new AbortController().signal,
    body: null,
    bytes: () => Promise.resolve(body),
  };
  return {
    async ask() {
      for (let asked = 0; asked < requests; asked++) assertEquals((await handler.plain(request)).status, 200);
    },
    [Symbol.asyncDispose]: () => mesh.close(),
  };
}

/** Promises that a task creates. */
async function listPromises(task: () => Promise<void>): Promise<number> {
  let promises = 0;
  const hook = createHook({ init: (_id, type) => void (type === "PROMISE" && promises++) }).enable();
  await task();
  hook.disable();
  return promises;
}

/** Bytes that a task allocates, whether or not they are collected meanwhile. */
async function allocatedBy(task: () => Promise<void>): Promise<number> {
  const profiler = new GCProfiler();
  profiler.start();
  let used = getHeapStatistics().used_heap_size;
  await task();
  const end = getHeapStatistics().used_heap_size;
  let allocated = 0;
  for (const { beforeGC, afterGC } of profiler.stop().statistics) {
    allocated += beforeGC.heapStatistics.usedHeapSize - used;
    used = afterGC.heapStatistics.usedHeapSize;
  }
  return allocated + end - used;
}

/**
 * Bytes that a task leaves in the old generation: allocated there, such as hidden classes, or alive for two scavenges.
 * They make scavenges long, and are collected late.
 */
async function promotedBy(task: () => Promise<void>): Promise<number> {
  const usedNow = () =>
    oldBytes(getHeapSpaceStatistics().map(({ space_name: name, space_used_size: bytes }) => ({ name, bytes })));
  const profiler = new GCProfiler();
  profiler.start();
  let used = usedNow();
  await task();
  const end = usedNow();
  let promoted = 0;
  for (const { gcType, beforeGC, afterGC } of profiler.stop().statistics) {
    const [before, after] = [beforeGC, afterGC].map(({ heapSpaceStatistics: spaces }) =>
      oldBytes(spaces.map(({ spaceName: name, spaceUsedSize: bytes }) => ({ name, bytes })))
    ) as [number, number];
    promoted += before - used + (gcType === "Scavenge" ? after - before : 0);
    used = after;
  }
  return promoted + end - used;
}

function oldBytes(spaces: readonly { readonly name: string; readonly bytes: number }[]): number {
  return spaces.filter(({ name }) => /^(old|map|trusted|shared)_space$/.test(name))
    .reduce((total, { bytes }) => total + bytes, 0);
}

describe("A request through the proxy on Node", () => {
  it("creates few promises", async () => {
    await using started = await proxy();
    await started.ask();
    const promises = await listPromises(started.ask);
    assert(promises <= maxPromises * requests, `${promises / requests} promises, at most ${maxPromises}`);
  });

  it("allocates little memory", async () => {
    await using started = await proxy();
    for (let round = 0; round < 5; round++) await started.ask(); // until V8 has optimized the code
    const bytes = await allocatedBy(started.ask) / requests;
    assert(bytes <= maxBytes, `${bytes} bytes, at most ${maxBytes}`);
  });

  it("leaves little in the old generation", async () => {
    await using started = await proxy();
    for (let round = 0; round < 10; round++) await started.ask(); // until V8 has optimized the code
    const rounds = 10;
    const promoted = await promotedBy(async () => {
      for (let round = 0; round < rounds; round++) await started.ask();
    });
    const bytes = promoted / requests / rounds;
    assert(bytes <= maxPromoted, `${bytes} bytes, at most ${maxPromoted}`);
  });
});

/** Of a request, without those of the server and the upstream client. */
const maxPromises = 57;
const maxBytes = 80 * 1024;
const maxPromoted = 8 * 1024;
