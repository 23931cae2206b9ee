/**
 * Clients that send a request body slowly or partially, or disconnect while sending.
 * @module
 */
import { connect } from "node:net";
import { happens } from "./patience.ts";

/** A client that is sending its request. */
export interface Sender {
  /** Sends more of the body. */
  send(text: string): void;
  /** Disconnects: closes (FIN) or resets (RST) its connection. */
  leave(way: "FIN" | "RST"): void;
  /** Everything it has received. */
  readonly seen: string;
  /** Resolves when the server has closed the connection. */
  closed(): Promise<void>;
}

/** Beginning of a request. */
export interface Beginning {
  /** Declared `content-length`, bytes; chunked encoding if undefined. */
  readonly declared?: number;
  /** Part of the body that is sent immediately, as on the wire. */
  readonly part?: string;
  readonly token?: string;
}

/**
 * Begins a chat request.
 *
 * @param url URL of the proxy.
 * @param beginning What is sent immediately.
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
