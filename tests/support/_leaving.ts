/**
 * Clients that leave, in real time: ways to go, and proof that a provider's call ends with them.
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { connect } from "node:net";
import { type MeshEvent, ModelMesh, type RoutingRecord } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { testConfig, type TestProxyOptions } from "./proxy.ts";
import type { ReceivedRequest, Upstream } from "./upstream.ts";

/** The contract's limit, ms. */
const limitMs = 100;

/**
 * Fails unless the provider sees its connection close within 100 ms of leaving.
 *
 * @param request What the provider was asked.
 * @param leave What the client does.
 */
export async function assertCloses(request: ReceivedRequest, leave: () => unknown): Promise<void> {
  assert(!request.isClosed, "The connection was closed before the client left");
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<"open">((resolve) => timer = setTimeout(() => resolve("open"), limitMs));
  leave();
  const end = await Promise.race([request.closed, limit]);
  clearTimeout(timer);
  assert(end !== "open", `The provider's connection is still open ${limitMs} ms after the client left`);
}

/**
 * Fails unless a value comes about within 100 ms.
 *
 * @param read The value now.
 * @param expected What it has to become.
 */
export async function assertBecomes<Value>(read: () => Value, expected: Value): Promise<void> {
  const end = performance.now() + limitMs;
  while (read() !== expected && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 2));
  assertEquals(read(), expected);
}

/**
 * The n-th request of a provider; fails when it does not come within a second.
 *
 * @param upstream The provider.
 * @param number From 1.
 */
export async function arrival(upstream: Upstream, number = 1): Promise<ReceivedRequest> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The provider did not get request ${number}`)), 10 * limitMs);
  });
  return await Promise.race([upstream.received(number), limit]).finally(() => clearTimeout(timer));
}

/** A proxy in real time, unless it is given a clock. */
export interface RealProxy extends AsyncDisposable {
  /** Without path. */
  readonly url: string;
  readonly mesh: ModelMesh;
  readonly records: readonly (MeshEvent | RoutingRecord)[];
}

/**
 * Starts a proxy with the machine's own clock.
 *
 * @param options Providers, overrides, listener; another clock.
 */
export async function startRealProxy(options: TestProxyOptions): Promise<RealProxy> {
  const records: (MeshEvent | RoutingRecord)[] = [];
  const { clock } = options;
  const mesh = new ModelMesh({ on: (record) => records.push(record), ...(clock === undefined ? {} : { clock }) });
  await mesh.initialize(testConfig(options));
  const listener = options.listener === undefined ? {} : { listener: options.listener };
  const server = await listen(createHandler(mesh), { port: 0, ...listener });
  return {
    url: `http://127.0.0.1:${server.port}`,
    mesh,
    records,
    async [Symbol.asyncDispose]() {
      await server.stop(0);
      await mesh.close();
    },
  };
}

/** A client that has asked and can leave. */
export interface Visitor {
  /** Resolves once this text has arrived. */
  reads(text: string): Promise<void>;
  /** Goes away. */
  leave(): void;
}

/** A way to ask and to leave: by `fetch` and its signal, or by a socket that is closed in order or reset. */
export type Way = "fetch" | "FIN" | "RST";

/**
 * Asks a proxy.
 *
 * @param url The proxy's.
 * @param way How it asks and leaves.
 * @param body The chat request.
 */
export function visit(url: string, way: Way, body: Readonly<Record<string, unknown>>): Visitor {
  // as long as a real request: short ones are easier to notice for some servers
  const messages = [{ role: "user", content: `Hi ${"and hello ".repeat(100)}` }];
  const text = JSON.stringify({ model: "chat", messages, ...body });
  return way === "fetch" ? visitByFetch(url, text) : visitBySocket(url, text, way);
}

function visitByFetch(url: string, body: string): Visitor {
  const controller = new AbortController();
  const { signal } = controller;
  const headers = { "content-type": "application/json" };
  const response = fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body, signal });
  response.catch(() => {}); // leaving makes it fail
  return {
    async reads(text) {
      const reader = (await response).body!.pipeThrough(new TextDecoderStream()).getReader();
      for (let seen = ""; !seen.includes(text);) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`The answer ended before "${text}": ${seen}`);
        seen += value;
      }
      reader.closed.catch(() => {}); // leaving makes it fail
    },
    leave: () => controller.abort(),
  };
}

function visitBySocket(url: string, body: string, way: "FIN" | "RST"): Visitor {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  let seen = "";
  let wake = () => {};
  socket.on("data", (data: Uint8Array) => {
    seen += new TextDecoder().decode(data);
    wake();
  });
  socket.on("error", () => {});
  socket.on("close", () => wake());
  const length = new TextEncoder().encode(body).length;
  const head = ["POST /v1/chat/completions HTTP/1.1", "host: 127.0.0.1", "content-type: application/json"];
  socket.write(`${head.join("\r\n")}\r\ncontent-length: ${length}\r\n\r\n${body}`);
  return {
    async reads(text) {
      while (!seen.includes(text)) {
        if (socket.closed) throw new Error(`The answer ended before "${text}": ${seen}`);
        await new Promise<void>((resolve) => wake = resolve);
      }
    },
    leave: () => void (way === "RST" ? socket.resetAndDestroy() : socket.destroy()),
  };
}
