/**
 * Sockets for a page, which has none: scripted providers listen here, and each exchange is played there.
 * @module
 */
import { type Behaviour, completeResponse, type Exchange, startUpstream, type Upstream } from "../support/upstream.ts";
import { withCors } from "./_provider.ts";
import { raise } from "../support/raise.ts";

/** What a page asks for. `data` and `body` are bytes as a binary string, a character each. */
export type RelayCall =
  | { readonly do: "listen" }
  | { readonly do: "next" }
  | { readonly do: "pass" }
  | { readonly do: "write"; readonly exchange: number; readonly data: string }
  | { readonly do: "finish"; readonly exchange: number; readonly how: "through" | "close" | "reset" }
  | { readonly do: "stop"; readonly port: number };

/** What a page is sent: a request to one of its providers, or the end of a request's connection. */
export type Happening =
  | {
    readonly what: "request";
    readonly port: number;
    readonly exchange: number;
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }
  | { readonly what: "closed"; readonly exchange: number };

/** A preflight's connection is not used again: Chromium sends a request twice that fails on one that was. */
const preflight = completeResponse(204, "", undefined, {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "*",
  "access-control-allow-headers": "authorization, *",
  connection: "close",
});

/** The sockets of one page. */
export class Relay implements AsyncDisposable {
  readonly #upstreams = new Map<number, Upstream>();
  readonly #closing: Promise<void>[] = [];
  readonly #exchanges = new Map<number, { readonly exchange: Exchange; readonly end: () => void }>();
  #happenings: Happening[] = [];
  #wake: () => void = () => {};
  #count = 0;

  /**
   * Does what the page asks for.
   *
   * @returns A port after `listen`, what has happened after `next`, nothing else.
   */
  async call(message: RelayCall): Promise<number | Happening[] | undefined> {
    if (message.do === "listen") return await this.#listen();
    if (message.do === "next") return await this.#next();
    if (message.do === "pass") return;
    if (message.do === "stop") return void this.#stop(message.port);
    const { exchange, end } = this.#exchanges.get(message.exchange)!;
    if (message.do === "write") return await exchange.write(fromBinaryString(message.data)).then(() => undefined);
    if (message.how === "through") end();
    else exchange[message.how]();
  }

  /** Closes every provider that the page has left open, and waits for those that it has stopped. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#upstreams.values()].map((upstream) => upstream.close()).concat(this.#closing));
  }

  /** Refuses connections from here on. Chromium's idle connections take a while to end, which no test waits for. */
  #stop(port: number): void {
    const upstream = this.#upstreams.get(port);
    if (upstream === undefined) return;
    this.#upstreams.delete(port);
    this.#closing.push(upstream.close());
  }

  async #listen(): Promise<number> {
    const upstream = await startUpstream(({ method }) => method === "OPTIONS" ? preflight : withCors(forwarded));
    const forwarded: Behaviour = { play: (exchange) => this.#forward(exchange, upstream.port) };
    this.#upstreams.set(upstream.port, upstream);
    return upstream.port;
  }

  #forward(exchange: Exchange, port: number): Promise<void> {
    const id = ++this.#count;
    const { method, path, headers, bytes, closed } = exchange.request;
    this.#send({ what: "request", port, exchange: id, method, path, headers, body: toBinaryString(bytes) });
    closed.then(() => this.#send({ what: "closed", exchange: id })).catch(raise);
    return new Promise((end) => this.#exchanges.set(id, { exchange, end }));
  }

  #send(happening: Happening): void {
    this.#happenings.push(happening);
    this.#wake();
  }

  async #next(): Promise<Happening[]> {
    if (this.#happenings.length === 0) await new Promise<void>((resolve) => this.#wake = resolve);
    return this.#happenings.splice(0);
  }
}

/** Bytes as a binary string. */
function toBinaryString(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

function fromBinaryString(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
