/**
 * A request that a server has received, until its response is complete.
 * @module
 */
import type { StopSignal } from "../../contracts/runtime.ts";
import type { Peer, PlainRequest } from "../../contracts/shell.ts";
import { readableFrom } from "../../util/readable_from.ts";
import type { PlainCall } from "../_open_responses.ts";
import { createRequest, requestUrl } from "../_request_url.ts";
import { Stop } from "../_stop.ts";
import { Body } from "./body.ts";
import type { Connection } from "./connection.ts";
import { requestFraming } from "./framing.ts";
import type { Fields } from "./head.ts";
import { MalformedMessage } from "./malformed.ts";
import type { RequestHead } from "./request_head.ts";

const interim = new TextEncoder().encode("HTTP/1.1 100 Continue\r\n\r\n");

interface ExchangeOptions {
  readonly peer: Peer;
  /** Called when the request is complete. */
  readonly onComplete: () => void;
}

/** A request, and the state of its response. */
export class Exchange implements PlainRequest, PlainCall {
  readonly head: RequestHead;
  readonly method: string;
  readonly url: string;
  readonly headers: FieldReader;
  readonly peer: Peer;
  /** Aborts when the client disconnects, or the server stops. */
  readonly stop: Stop = new Stop();
  isDisconnected = false;
  /** Set if the body is malformed, as far as it has been read. */
  malformed: MalformedMessage | undefined;
  /** Called when the client disconnects. */
  onDisconnect: (() => void) | undefined;
  readonly #connection: Connection;
  readonly #body: Body;
  #isComplete = false;
  #isContinued: boolean;
  #over: Promise<void> | undefined;
  #resolveOver: (() => void) | undefined;

  /** @throws {MalformedMessage} If the end of the body is ambiguous. */
  constructor(head: RequestHead, connection: Connection, { peer, onComplete }: ExchangeOptions) {
    const { method, target, minor, fields } = head;
    this.head = head;
    this.method = method;
    this.url = requestUrl(target, fields.get("host"));
    this.headers = new FieldReader(fields);
    this.peer = peer;
    this.#connection = connection;
    this.#isContinued = minor === 0 || !fields.has("expect");
    this.#body = new Body(connection, {
      framing: requestFraming(head),
      onEnd: () => {
        this.#isComplete = true;
        onComplete();
      },
      onCancel: () => {},
      failed: (error) => this.#failed(error),
    });
  }

  get signal(): StopSignal {
    return this.stop;
  }

  /** Whether the server can do what the `expect` field demands. */
  get isExpectationMet(): boolean {
    const expected = this.headers.get("expect");
    return expected === null || this.head.minor === 0 || expected.toLowerCase() === "100-continue";
  }

  get body(): AsyncIterable<Uint8Array> | null {
    if (this.method === "GET" || this.method === "HEAD") return null;
    // an iterator that does nothing on an early stop: the response has not been sent yet
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#read() }) };
  }

  received(): Uint8Array | undefined {
    return this.#body.received();
  }

  async bytes(): Promise<Uint8Array> {
    if (!this.#isContinued) await this.#continue();
    return await this.#body.readAll();
  }

  /** The request as an object of the Fetch standard. */
  request(): Request {
    const headers = new Headers();
    for (const [name, value] of this.head.fields) headers.append(name, value);
    const { body } = this;
    return createRequest(this.url, {
      method: this.method,
      headers,
      signal: this.stop.native,
      ...(body === null ? {} : { body: readableFrom(body), duplex: "half" }),
    } as RequestInit);
  }

  withSignal(): this {
    return this;
  }

  /** Resolves when the response is complete, or the client has disconnected. */
  untilOver(): Promise<void> {
    return this.#over ??= new Promise((resolve) => this.#resolveOver = resolve);
  }

  /** Reports the end of the response. */
  over(): void {
    this.#resolveOver?.();
  }

  /** Reports that the client has disconnected, and cannot receive a response. */
  disconnect(): void {
    if (this.isDisconnected) return;
    this.isDisconnected = true;
    this.stop.abort(disconnected());
    this.onDisconnect?.();
  }

  /** Discards the received part of the body. Returns whether that completes the request. */
  discardBody(): boolean {
    if (this.#isComplete) return true;
    try {
      this.#body.discard();
    } catch (error) {
      this.#failed(error);
    }
    return this.#isComplete;
  }

  async #read(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#isContinued) await this.#continue();
    const { done, value } = await this.#body.read();
    return done ? { done, value: undefined } : { done, value };
  }

  /** Requests a body that the client withholds until then. */
  async #continue(): Promise<void> {
    this.#isContinued = true;
    if (!this.#isComplete && this.#connection.start === this.#connection.end) await this.#connection.write(interim);
  }

  #failed(error: unknown): unknown {
    if (error instanceof MalformedMessage) {
      this.malformed = error;
      this.stop.abort(error);
      return error;
    }
    this.disconnect();
    return disconnected();
  }
}

/** Reads header fields. */
class FieldReader {
  readonly #fields: Fields;

  constructor(fields: Fields) {
    this.#fields = fields;
  }

  get(name: string): string | null {
    return this.#fields.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.#fields.has(name);
  }
}

function disconnected(): DOMException {
  return new DOMException("The client has disconnected", "AbortError");
}
