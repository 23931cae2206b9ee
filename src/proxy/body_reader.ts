/**
 * Reading request bodies within bounds of size, time and memory, so that a client which sends slowly, much or nothing
 * does not block others.
 * @module
 */
import type { Clock, StopSignal } from "../contracts/runtime.ts";
import type { PlainRequest } from "../contracts/shell.ts";
import { concat } from "../util/bytes.ts";
import { HttpError, waitHeaders } from "./error_body.ts";

/** Every body has at least this time, ms. */
const firstWindowMs = 30_000;

/** A body that takes longer has to keep its rate in each further window of this length, ms. */
const nextWindowMs = 5_000;

/** The rate that a body has to keep in each window, the first one included, to be read on. */
const minBytesPerSecond = 8 * 1024;

/** Bodies declared to be this short are read in one go, which is cheaper: one that takes longer than the first window is too slow. */
const maxAtOnceBytes = 64 * 1024;

/** The share of the memory that one client gets. */
const clientShare = 1 / 4;

/** Bytes still on their way would be taken for the next request. */
const unread = { connection: "close" };

/** The client disconnected while it sent its body. */
export class ClientDisconnectedError extends Error {
  override name = "ClientDisconnectedError";
}

export class BodyMemory {
  #used = 0;
  readonly #byClient = new Map<unknown, number>();

  /**
   * Reserves memory.
   *
   * @param bounds A client gets at most a quarter of `memoryBytes`.
   * @returns Whether it was reserved.
   */
  reserve(bytes: number, { memoryBytes, client }: Pick<BodyBounds, "memoryBytes" | "client">): boolean {
    const used = this.#byClient.get(client) ?? 0;
    if (this.#used + bytes > memoryBytes || (client !== undefined && used + bytes > memoryBytes * clientShare)) {
      return false;
    }
    this.#used += bytes;
    if (client !== undefined) this.#byClient.set(client, used + bytes);
    return true;
  }

  release(bytes: number, client: unknown): void {
    this.#used -= bytes;
    if (client === undefined) return;
    const left = this.#byClient.get(client)! - bytes;
    if (left > 0) this.#byClient.set(client, left);
    else this.#byClient.delete(client);
  }
}

export interface BodyBounds {
  /** Bytes. */
  readonly maxBytes: number;
  /** The key below `proxy` that this bound is configured by. */
  readonly limitKey: "body_limit" | "upload_limit";
  /** The one for all bodies together. */
  readonly memoryKey: "body_memory" | "upload_limit";
  /** Shared by all bodies being read. */
  readonly memory: BodyMemory;
  /** Of all bodies together, bytes. */
  readonly memoryBytes: number;
  /** Identifies the client; undefined: no limit of its own. */
  readonly client: unknown;
  readonly clock: Clock;
  /** When the request arrived, monotonic ms. */
  readonly startedAt: number;
  /** Time from then on until the whole body has to be read, ms. */
  readonly limitMs: number;
}

/**
 * Reads the whole body of a request.
 *
 * @param request Its body has not been read yet.
 * @throws {HttpError} 413 when it is larger, 503 when memory is exhausted, 504 when it arrives too slowly.
 * @throws {ClientDisconnectedError} When it ends early.
 */
export function readBody(request: PlainRequest, bounds: BodyBounds): Promise<Uint8Array> {
  return new Promise((resolve, reject) => new BodyReading(request, bounds, { resolve, reject }).start());
}

interface Settlers {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (reason: unknown) => void;
}

class BodyReading {
  readonly #request: PlainRequest;
  readonly #bounds: BodyBounds;
  readonly #promise: Settlers;
  readonly #signal: StopSignal;
  readonly #onAbort = () => this.#fail(this.#signal.reason);
  #cancelTimer = () => {};
  #reserved = 0;
  #arrivedInWindow = 0;
  #isOver = false;

  constructor(request: PlainRequest, bounds: BodyBounds, promise: Settlers) {
    this.#request = request;
    this.#bounds = bounds;
    this.#promise = promise;
    this.#signal = request.signal;
  }

  start(): void {
    if (this.#signal.aborted) return this.#onAbort();
    this.#signal.addEventListener("abort", this.#onAbort);
    this.#checkRateLater(firstWindowMs, this.#bounds.limitMs);
    this.#read().then(
      (bytes) => this.#end() && this.#promise.resolve(bytes),
      (error) =>
        this.#fail(error instanceof HttpError ? error : new ClientDisconnectedError("The client has disconnected")),
    );
  }

  async #read(): Promise<Uint8Array> {
    const request = this.#request;
    const declared = request.headers.get("content-length");
    if (Number(declared) > this.#bounds.maxBytes) throw this.#tooLarge();
    if (declared !== null && Number(declared) <= maxAtOnceBytes) {
      this.#reserve(Number(declared));
      return await request.bytes();
    }
    const received = new ReceivedBody(declared === null ? undefined : Number(declared));
    for await (const chunk of request.body ?? []) {
      if (this.#isOver) break; // the promise is settled already
      this.#reserve(chunk.length);
      this.#arrivedInWindow += chunk.length;
      received.add(chunk);
    }
    return received.bytes;
  }

  #reserve(bytes: number): void {
    const { memory, maxBytes, memoryKey } = this.#bounds;
    if (this.#reserved + bytes > maxBytes) throw this.#tooLarge();
    if (!memory.reserve(bytes, this.#bounds)) {
      throw new HttpError(`The bodies that are being read leave no room for this one (proxy.${memoryKey})`, {
        status: 503,
        type: "server_error",
        code: "overloaded",
        headers: { ...waitHeaders(1000, false), ...unread },
      });
    }
    this.#reserved += bytes;
  }

  /** Checks after a window whether the body arrives fast enough. */
  #checkRateLater(windowMs: number, leftMs: number): void {
    const { clock, startedAt, limitMs } = this.#bounds;
    this.#cancelTimer = clock.after(Math.min(windowMs, leftMs), () => {
      const left = startedAt + limitMs - clock.monotonic();
      if (left <= 0) return this.#fail(tooSlow(`The request's body did not arrive within ${limitMs} ms`));
      if (this.#arrivedInWindow < minBytesPerSecond * windowMs / 1000) {
        const seconds = firstWindowMs / 1000;
        return this.#fail(
          tooSlow(`The request's body came too slowly: it has ${seconds} s, longer only at 8 KiB/s or more`),
        );
      }
      this.#arrivedInWindow = 0;
      this.#checkRateLater(nextWindowMs, left);
    });
  }

  #fail(reason: unknown): void {
    if (this.#end()) this.#promise.reject(reason);
  }

  /** False when it was over already. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelTimer();
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#bounds.memory.release(this.#reserved, this.#bounds.client);
    return true;
  }

  #tooLarge(): HttpError {
    return bodyTooLarge(this.#bounds);
  }
}

/**
 * The chunks of a body. Its memory is allocated once half of it has arrived: it is never held twice, and a client that declares
 * a large body and sends none takes nothing.
 */
class ReceivedBody {
  #declared: number | undefined;
  #chunks: Uint8Array[] = [];
  #whole: Uint8Array | undefined;
  #size = 0;

  /** @param declared Its length, where it is declared, bytes. */
  constructor(declared: number | undefined) {
    this.#declared = declared;
  }

  get bytes(): Uint8Array {
    return this.#whole?.subarray(0, this.#size) ?? concat(this.#chunks);
  }

  add(chunk: Uint8Array): void {
    if (this.#whole !== undefined && this.#size + chunk.length > this.#whole.length) { // the length was not its own
      this.#chunks = [this.#whole.subarray(0, this.#size)];
      this.#whole = this.#declared = undefined;
    }
    if (this.#whole === undefined) this.#chunks.push(chunk);
    else this.#whole.set(chunk, this.#size);
    this.#size += chunk.length;
    if (this.#whole !== undefined || this.#declared === undefined || !(this.#size * 2 >= this.#declared)) return;
    this.#whole = new Uint8Array(Math.max(this.#declared, this.#size));
    let at = 0;
    for (const one of this.#chunks) {
      this.#whole.set(one, at);
      at += one.length;
    }
    this.#chunks = [];
  }
}

/** The error of a body that is larger than the proxy takes. */
export function bodyTooLarge({ maxBytes, limitKey }: Pick<BodyBounds, "maxBytes" | "limitKey">): HttpError {
  return new HttpError(`The body is over the limit of ${maxBytes} bytes (proxy.${limitKey})`, {
    status: 413,
    code: "request_too_large",
    headers: unread,
  });
}

function tooSlow(message: string): HttpError {
  return new HttpError(message, { status: 504, type: "server_error", code: "timeout", headers: unread });
}
