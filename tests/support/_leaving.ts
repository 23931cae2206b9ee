/**
 * Clients that disconnect, and checks that the provider's call ends. How soon it ends is measured by the benchmark
 * (`scripts/bench/figures/disconnect.ts`).
 * @module
 */
import { assert } from "@std/assert";
import { connect } from "node:net";
import { happens } from "./patience.ts";
import type { ReceivedRequest, Upstream } from "./upstream.ts";

/**
 * Fails unless the provider's connection closes after the client has disconnected; nothing else would close it.
 *
 * @param request The request to the provider.
 * @param leave Disconnects the client.
 */
export async function assertCloses(request: ReceivedRequest, leave: () => unknown): Promise<void> {
  assert(!request.isClosed, "The connection was closed before the client left");
  leave();
  await happens("the provider's connection closes", request.closed);
}

/**
 * Resolves with the n-th request of a provider.
 *
 * @param number Number of the request, starting at 1.
 */
export function arrival(upstream: Upstream, number = 1): Promise<ReceivedRequest> {
  return happens(`the provider gets request ${number}`, upstream.received(number));
}

/** A client with a request in flight. */
export interface Visitor {
  /** Resolves when a text has arrived. */
  reads(text: string): Promise<void>;
  /** Disconnects. */
  leave(): void;
}

/** How to request and disconnect: `fetch` with an abort signal, or a socket that is closed (FIN) or reset (RST). */
export type Way = "fetch" | "FIN" | "RST";

/**
 * Sends a chat request to a proxy.
 *
 * @param url URL of the proxy.
 * @param way How to request and disconnect.
 * @param body Members of the request.
 */
export function visit(url: string, way: Way, body: Readonly<Record<string, unknown>>): Visitor {
  // as long as a real request, since some servers detect the disconnect of short ones more easily
  const messages = [{ role: "user", content: `Hi ${"and hello ".repeat(100)}` }];
  const text = JSON.stringify({ model: "chat", messages, ...body });
  return way === "fetch" ? visitByFetch(url, text) : visitBySocket(url, text, way);
}

function visitByFetch(url: string, body: string): Visitor {
  const controller = new AbortController();
  const { signal } = controller;
  const headers = { "content-type": "application/json" };
  const response = fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body, signal });
  response.catch(() => {}); // disconnecting rejects it
  return {
    async reads(text) {
      const reader = (await response).body!.pipeThrough(new TextDecoderStream()).getReader();
      for (let seen = ""; !seen.includes(text);) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`The answer ended before "${text}": ${seen}`);
        seen += value;
      }
      reader.closed.catch(() => {}); // disconnecting rejects it
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
