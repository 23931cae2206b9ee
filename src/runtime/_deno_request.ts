/**
 * Requests of `Deno.serve`.
 * @module
 */
import type { StopSignal } from "../contracts/runtime.ts";
import type { Peer, PlainRequest } from "../contracts/shell.ts";
import type { DenoUpgrade } from "./_deno_upgrade.ts";
import type { PlainCall } from "./_open_responses.ts";
import { Stop } from "./_stop.ts";

/** A request, and what the server knows of its connection. */
export class DenoCall implements PlainCall {
  readonly stop: Stop = new Stop();
  readonly request: PlainRequest;
  readonly peer: Peer;
  readonly #request: Request;
  readonly #info: Deno.ServeHandlerInfo<Deno.NetAddr>;

  constructor(request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>, upgrade?: DenoUpgrade) {
    this.#request = request;
    this.#info = info;
    this.request = new DenoRequest(request, this.stop, upgrade?.upgrade);
    this.peer = upgrade?.peer ?? (() => info.remoteAddr.hostname);
  }

  left(): StopSignal {
    return this.#request.signal;
  }

  untilOver(): Promise<unknown> {
    return this.#info.completed;
  }
}

/** A request whose head has been read from the runtime once: every access to a `Request` is an operation, or a check. */
class DenoRequest implements PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: PlainRequest["headers"];
  readonly signal: StopSignal;
  readonly upgrade?: NonNullable<PlainRequest["upgrade"]>;
  readonly #request: Request;

  constructor(request: Request, signal: StopSignal, upgrade?: PlainRequest["upgrade"]) {
    this.#request = request;
    if (upgrade !== undefined) this.upgrade = upgrade;
    this.method = request.method;
    this.url = request.url;
    this.headers = new ReadHeaders(request.headers);
    this.signal = signal;
  }

  get body(): AsyncIterable<Uint8Array> | null {
    return this.#request.body;
  }

  bytes(): Promise<Uint8Array> {
    return this.#request.bytes();
  }
}

/** Headers that have been read. */
class ReadHeaders {
  readonly #values = new Map<string, string>();

  constructor(headers: Headers) {
    headers.forEach((value, name) => this.#values.set(name, value));
  }

  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }
}
