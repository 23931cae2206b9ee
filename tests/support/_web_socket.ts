/**
 * A WebSocket client over TCP with control of every byte: frames can be split and joined, and a refusal can be read.
 * @module
 */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { happens } from "./patience.ts";

/** An event of a response, or of an error. */
// deno-lint-ignore no-explicit-any -- tests look into it as they please
export type SocketEvent = Record<string, any>;

/** How a connection was closed. */
export interface SocketEnd {
  /** Undefined if there was no close frame. */
  readonly code: number | undefined;
  readonly reason: string;
}

/** How a connection is opened. */
export interface SocketOptions {
  readonly path?: string;
  /** Headers beside those of the handshake, or in place of them; undefined omits one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** Returns a masked frame, of text by default. */
export function frame(
  payload: string | Uint8Array,
  { opcode = 1, isLast = true }: { readonly opcode?: number; readonly isLast?: boolean } = {},
): Uint8Array {
  const data = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  const { length } = data;
  const size = length < 126
    ? [length]
    : length < 65_536
    ? [126, length >> 8, length & 255]
    : [127, ...longSize(length)];
  const mask = randomBytes(4);
  const head = [(isLast ? 128 : 0) | opcode, size[0]! | 128, ...size.slice(1)];
  const bytes = new Uint8Array(head.length + 4 + length);
  bytes.set(head);
  bytes.set(mask, head.length);
  for (let at = 0; at < length; at++) bytes[head.length + 4 + at] = data[at]! ^ mask[at & 3]!;
  return bytes;
}

function longSize(length: number): number[] {
  return [0, 0, 0, 0, length >>> 24, length >> 16 & 255, length >> 8 & 255, length & 255];
}

/** A client. */
export class WebSocketClient implements Disposable {
  readonly #socket: Socket;
  readonly #events: SocketEvent[] = [];
  #received = new Uint8Array();
  #wake = () => {};
  #end: SocketEnd | undefined;
  /** Status and body of the response to the handshake. */
  readonly response: Promise<{ readonly status: number; readonly head: string; readonly body: string }>;

  /** @param url Of the proxy, without path. */
  constructor(url: string, { path = "/v1/responses", headers = {} }: SocketOptions = {}) {
    const { hostname, port, host } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.on("error", () => {});
    const own: SocketOptions["headers"] = {
      host,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      ...headers,
    };
    const lines = Object.entries(own).flatMap(([name, value]) => value === undefined ? [] : `${name}: ${value}`);
    this.write([`GET ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
    let responded: (text: string) => void;
    const handshake = new Promise<string>((resolve) => responded = resolve);
    this.response = happens("the handshake is answered", handshake).then((text) => {
      const [head = "", body = ""] = text.split(/(?<=\r\n)\r\n/);
      return { status: Number(head.split(" ")[1]), head, body };
    });
    let refusal = "";
    this.#socket.on("data", (bytes: Uint8Array) => {
      this.#received = new Uint8Array([...this.#received, ...bytes]);
      const text = new TextDecoder("latin1").decode(this.#received);
      if (refusal === "" && text.startsWith("HTTP/1.1 101")) {
        const end = text.indexOf("\r\n\r\n");
        if (end < 0) return;
        refusal = "none";
        responded(text.slice(0, end + 4));
        this.#received = this.#received.slice(end + 4);
      }
      if (refusal === "none") return this.#read();
      const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1];
      const start = text.indexOf("\r\n\r\n") + 4;
      if (length !== undefined && start > 3 && this.#received.length >= start + Number(length)) responded(text);
    });
    this.#socket.on("close", () => {
      responded(new TextDecoder().decode(this.#received));
      this.#end ??= { code: undefined, reason: "" };
      this.#wake();
    });
  }

  /** Writes bytes. */
  write(data: string | Uint8Array): void {
    this.#socket.write(data);
  }

  /** Sends messages in one write. */
  send(...messages: readonly unknown[]): void {
    const frames = messages.map((message) => frame(typeof message === "string" ? message : JSON.stringify(message)));
    this.write(Buffer.concat(frames));
  }

  /** Asks for a response of the pool `chat`. */
  ask(body: object = {}): void {
    this.send({ type: "response.create", model: "chat", input: "Hello", ...body });
  }

  /** Returns the next event. */
  async next(): Promise<SocketEvent> {
    await happens("an event", this.#until(() => this.#events.length > 0 || this.#end !== undefined));
    const event = this.#events.shift();
    if (event === undefined) throw new Error(`The connection is closed: ${JSON.stringify(this.#end)}`);
    return event;
  }

  /** Returns the events up to the last one of a response. */
  async rest(): Promise<SocketEvent[]> {
    const events: SocketEvent[] = [];
    for (;;) {
      const event = await this.next();
      events.push(event);
      if (/^(error|response\.(completed|incomplete|failed))$/.test(event.type)) return events;
    }
  }

  /** Returns the last event of a response. */
  async last(): Promise<SocketEvent> {
    return (await this.rest()).at(-1)!;
  }

  /** How the proxy closes the connection. */
  async closed(): Promise<SocketEnd> {
    await happens("the connection is closed", this.#until(() => this.#end !== undefined));
    return this.#end!;
  }

  /** Resets the connection. */
  leave(): void {
    this.#socket.resetAndDestroy();
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#wake = resolve);
  }

  #read(): void {
    for (;;) {
      const [first = 0, second = 0] = this.#received;
      const extra = second === 126 ? 2 : second === 127 ? 8 : 0;
      const view = new DataView(this.#received.buffer, this.#received.byteOffset, this.#received.length);
      if (this.#received.length < 2 + extra) return;
      const length = extra === 2 ? view.getUint16(2) : extra === 8 ? view.getUint32(6) : second;
      const end = 2 + extra + length;
      if (this.#received.length < end) return;
      const payload = this.#received.slice(2 + extra, end);
      this.#received = this.#received.slice(end);
      this.#take(first & 15, payload);
    }
  }

  #take(opcode: number, payload: Uint8Array): void {
    const text = new TextDecoder().decode(payload);
    if (opcode === 1) this.#events.push(JSON.parse(text));
    if (opcode === 9) this.write(frame(payload, { opcode: 10 }));
    if (opcode === 8) {
      const code = payload.length < 2 ? undefined : payload[0]! << 8 | payload[1]!;
      this.#end = { code, reason: new TextDecoder().decode(payload.subarray(2)) };
      this.#socket.end(frame(payload, { opcode: 8 }));
    }
    this.#wake();
  }
}

/** Opens a connection. */
export async function openSocket(url: string, options: SocketOptions = {}): Promise<WebSocketClient> {
  const client = new WebSocketClient(url, options);
  const { status, head, body } = await client.response;
  assertEquals(status, 101, head + body);
  return client;
}
