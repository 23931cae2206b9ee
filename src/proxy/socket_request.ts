/**
 * Requests that are received as messages on a connection.
 * @module
 */
import type { StopSignal } from "../contracts/runtime.ts";
import type { PlainRequest } from "../contracts/shell.ts";
import { newId } from "../util/request_id.ts";

const encoder = new TextEncoder();

/** Headers of the request for the connection that do not hold for its messages. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...["connection", "upgrade", "content-encoding", "transfer-encoding", "expect"],
]);

/** A request by POST with the address and the headers of the one for the connection. */
export class SocketRequest implements PlainRequest {
  readonly method = "POST";
  readonly url: string;
  readonly headers: PlainRequest["headers"];
  readonly signal: StopSignal;
  readonly #bytes: Uint8Array;

  /**
   * @param opening The request for the connection.
   * @param text The body, JSON.
   */
  constructor({ url, headers }: Pick<PlainRequest, "url" | "headers">, text: string, signal: StopSignal) {
    this.url = url;
    this.signal = signal;
    this.#bytes = encoder.encode(text);
    const replaced = new Map([
      ["content-type", "application/json"],
      ["content-length", String(this.#bytes.length)],
      ["x-request-id", newId()],
    ]);
    const get = (name: string) => replaced.get(name) ?? (ownHeaders.has(name) ? null : headers.get(name));
    this.headers = { get, has: (name) => get(name) !== null };
  }

  get body(): AsyncIterable<Uint8Array> {
    const bytes = this.#bytes;
    return (async function* () {
      yield await Promise.resolve(bytes);
    })();
  }

  bytes(): Promise<Uint8Array> {
    return Promise.resolve(this.#bytes);
  }

  received(): Uint8Array {
    return this.#bytes;
  }
}
