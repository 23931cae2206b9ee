/**
 * Compares the upstream clients on this runtime: our own over sockets, and `fetch`. Runs on Deno and on Node 24.
 *
 * Argument: JSON with `url`, the base URL of the upstream; `isStream`; `connections`, the number of concurrent calls;
 * `rounds`; and `roundMs`, their duration. Prints a line of JSON: the CPU time per call of each client, µs, by round.
 * @module
 */
import process from "node:process";
import type { Runtime } from "../../../src/contracts/runtime.ts";
import { Stop } from "../../../src/runtime/_stop.ts";

type Send = Runtime["send"];

const { url, isStream, connections, rounds, roundMs } = JSON.parse(process.argv.at(-1)!);
const text = "Tell in a few words how a request finds its way through a router to a model, and back. ".repeat(3);
const request = {
  url: `${url}/chat/completions`,
  headers: { "content-type": "application/json", "authorization": "Bearer key" },
  body: JSON.stringify({ model: "mock-model", messages: [{ role: "user", content: text }], stream: isStream }),
  connectTimeoutMs: 10_000,
  isNonStreaming: !isStream,
  onBytes() {},
};

/** Headers that the proxy looks up. */
const names = ["content-type", "content-length", "retry-after", "x-ratelimit-remaining-requests", "x-request-id"];

async function createClients(): Promise<Record<string, Send>> {
  if ("Deno" in globalThis) {
    const { sendByConnection, sendByFetch } = await import("../../../src/runtime/_deno_send.ts");
    return { own: sendByConnection, fetch: sendByFetch };
  }
  const { send } = await import("../../../src/runtime/_node_send.ts");
  const { sendOver } = await import("../../../src/runtime/_fetch_send.ts");
  return { own: send, fetch: sendOver(fetch) };
}

async function call(send: Send): Promise<void> {
  const response = await send({ ...request, signal: new Stop() });
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  for (const name of names) response.headers.get(name);
  if (!isStream) return void await response.bytes!();
  const reader = response.reader()!;
  while (!(await reader.read()).done);
}

async function measure(send: Send): Promise<number> {
  const until = performance.now() + roundMs;
  const before = process.cpuUsage();
  let calls = 0;
  await Promise.all(Array.from({ length: connections }, async () => {
    for (; performance.now() < until; calls++) await call(send);
  }));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

/** Rounds that are not counted, since code is compiled in them. */
const warmRounds = 3;

const clients = await createClients();
const samples: Record<string, number[]> = {};
for (const name in clients) samples[name] = [];
for (let round = -warmRounds; round < rounds; round++) {
  for (const name in clients) {
    const micros = await measure(clients[name]!);
    if (round >= 0) samples[name]!.push(micros);
  }
}
console.log(JSON.stringify(samples));
process.exit(0);
