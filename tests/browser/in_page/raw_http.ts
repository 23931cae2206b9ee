/**
 * In place of `tests/support/_raw_http.ts` in a page: its servers listen at the relay, their scripts run here.
 * @module
 */
import type { Exchange, RawServer, ReceivedRequest } from "../../support/_raw_http.ts";
import type { Happening } from "../_relay.ts";
import { breathe } from "./breathe.ts";
import { relay } from "./relay.ts";
import { raise } from "../../support/raise.ts";

export type { Exchange, RawServer, ReceivedRequest };

type Arrival = Extract<Happening, { what: "request" }>;

const servers = new Map<number, (arrival: Arrival) => void>();
const connections = new Map<number, () => void>();
let isListening = false;

/** Hands what happens to those it is for, as long as there is a page. */
async function listen(): Promise<never> {
  isListening = true;
  for (;;) {
    for (const happening of await relay<Happening[]>({ do: "next" })) {
      if (happening.what === "closed") connections.get(happening.exchange)?.();
      else servers.get(happening.port)?.(happening);
    }
  }
}

/**
 * Starts a server at the relay.
 *
 * @param handle Answers one request.
 */
export async function startRawServer(handle: (exchange: Exchange) => Promise<void>): Promise<RawServer> {
  if (!isListening) listen().catch(raise);
  const port = await relay<number>({ do: "listen" });
  let count = 0;
  servers.set(port, (arrival) => {
    const request = received(arrival, ++count);
    play(arrival.exchange, handle, request).catch((error) => console.error("A scripted provider failed:", error));
  });
  return {
    port,
    get connections() {
      return count; // each request has one of its own
    },
    get open(): never {
      throw new Error("A page does not know which connections are open");
    },
    close: () => relay({ do: "stop", port }),
  };
}

async function play(
  exchange: number,
  handle: (exchange: Exchange) => Promise<void>,
  request: ReceivedRequest,
): Promise<void> {
  let broken: Promise<void> | undefined;
  // a connection that breaks takes with it what the page has not read yet
  const breakOff = (how: "close" | "reset") => {
    broken = breathe().then(() => relay({ do: "finish", exchange, how }));
  };
  await handle({
    request,
    write: (data) => relay({ do: "write", exchange, data: typeof data === "string" ? utf8(data) : binary(data) }),
    close: () => breakOff("close"),
    reset: () => breakOff("reset"),
  });
  await broken;
  await relay({ do: "finish", exchange, how: "through" });
}

function received({ exchange, method, path, headers, body: text }: Arrival, number: number): ReceivedRequest {
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const body = new TextDecoder().decode(bytes);
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    connections.set(exchange, () => {
      isClosed = true;
      resolve();
    });
  });
  return {
    number,
    method,
    path,
    headers,
    body,
    bytes,
    closed,
    get isClosed() {
      return isClosed;
    },
    json: () => JSON.parse(body),
  };
}

function utf8(text: string): string {
  return binary(new TextEncoder().encode(text));
}

function binary(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
