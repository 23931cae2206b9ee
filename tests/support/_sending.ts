/**
 * Clients that send the body of a request slowly, in part, or leave meanwhile.
 * @module
 */
import { connect } from "node:net";
import { happens } from "./patience.ts";

/** A client in the middle of its request. */
export interface Sender {
  /** Sends more. */
  send(text: string): void;
  /** Goes away: closes its connection in order, or resets it. */
  leave(way: "FIN" | "RST"): void;
  /** All that it has read. */
  readonly seen: string;
  /** Resolves once the server has closed the connection. */
  closed(): Promise<void>;
}

/** What a {@linkcode Sender} begins with. */
export interface Beginning {
  /** Length it declares, bytes; it sends in chunks when it declares none. */
  readonly declared?: number;
  /** The part of the body that it sends at once, as it goes over the wire. */
  readonly part?: string;
  readonly token?: string;
}

/**
 * Begins a chat request.
 *
 * @param url The proxy's.
 * @param beginning What it sends at once.
 */
export function beginChat(url: string, { declared, part = "", token }: Beginning = {}): Sender {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  let seen = "";
  const decoder = new TextDecoder();
  socket.on("data", (data: Uint8Array) => seen += decoder.decode(data, { stream: true }));
  socket.on("error", () => {}); // `close` follows
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "host: localhost",
    "content-type: application/json",
    declared === undefined ? "transfer-encoding: chunked" : `content-length: ${declared}`,
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${part}`);
  return {
    send: (text) => void socket.write(text),
    leave: (way) => void (way === "RST" ? socket.resetAndDestroy() : socket.destroy()),
    get seen() {
      return seen;
    },
    closed: () => happens("the proxy closes the connection", closed),
  };
}
