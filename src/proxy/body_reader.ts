/**
 * Reads request bodies within limits of size, time and memory, so that a client which sends slowly, too much, or
 * nothing does not block others.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { PlainRequest } from "../contracts/shell.ts";
import { concat } from "../util/bytes.ts";
import { HttpError, waitHeaders } from "./error_body.ts";

/** Minimum time for any body, ms. */
const firstWindowMs = 30_000;

/** Length of the windows in which a longer body must keep its rate, ms. */
const nextWindowMs = 5_000;

/** The minimum rate of a body in each window, including the first. */
const minBytesPerSecond = 8 * 1024;

/**
 * Bodies with a declared length up to this are read in one call, which is cheaper, and must arrive within the first
 * window.
 */
const maxAtOnceBytes = 64 * 1024;

/** The share of the memory available to one client. */
const clientShare = 1 / 4;

/** Size up to which a body counts once. */
const countedOnceBytes = 1024 * 1024;

/** Copies of a larger body, which count as well: what it is parsed to, and what is sent to the provider. */
const copies = 2;

/** Closes the connection, since unread bytes would be parsed as the next request. */
const unread = { connection: "close" };

/** The client disconnected while it was sending its body. */
export class ClientDisconnectedError extends Error {
  override name = "ClientDisconnectedError";
}

/** Memory for bodies, shared by all requests. */
export class BodyMemory {
  #used = 0;
  readonly #byClient = new Map<unknown, number>();

  /**
   * Reserves memory.
   *
   * @param bounds A client may use at most a quarter of `memoryBytes`.
   * @returns Whether it was reserved.
   */
  reserve(bytes: number, { memoryBytes, client }: Pick<BodyBounds, "memoryBytes" | "client">): boolean {
    if (!this.hasRoom(bytes, { memoryBytes, client })) return false;
    this.#used += bytes;
    if (client !== undefined) this.#byClient.set(client, (this.#byClient.get(client) ?? 0) + bytes);
    return true;
  }

  /** Whether memory could be reserved. */
  hasRoom(bytes: number, { memoryBytes, client }: Pick<BodyBounds, "memoryBytes" | "client">): boolean {
    if (this.#used + bytes > memoryBytes) return false;
    return client === undefined || (this.#byClient.get(client) ?? 0) + bytes <= memoryBytes * clientShare;
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
  /** The configuration key of this limit, below `proxy`. */
  readonly limitKey: "body_limit" | "upload_limit";
  /** The configuration key of the limit for all bodies together. */
  readonly memoryKey: "body_memory" | "upload_limit";
  /** Shared by all bodies. */
  readonly memory: BodyMemory;
  /** For all bodies together, bytes. */
  readonly memoryBytes: number;
  /** Identifies the client; undefined if it has no limit of its own. */
  readonly client: unknown;
  readonly clock: Clock;
  /** Time at which the request was received, monotonic ms. */
  readonly startedAt: number;
  /** Time from then until the body must be complete, ms. */
  readonly limitMs: number;
  /** Whether the body is parsed, and sent as text. */
  readonly isParsed?: boolean | undefined;
  /** Keeps the memory of a complete body, which is released at once by default. */
  readonly holder?: MemoryHolder | undefined;
}

/** Memory that is reserved. */
export interface HeldMemory {
  /** Must be called once. */
  release(): void;
}

/** Keeps memory reserved. */
export interface MemoryHolder {
  hold(memory: HeldMemory): void;
}

/**
 * Reads the whole body of a request.
 *
 * @param request Its body has not been read.
 * @throws {HttpError} 413 if it is too large, 503 if the memory is exhausted, 504 if it is too slow.
 * @throws {ClientDisconnectedError} If it ends early.
 */
export function readRequestBody(request: PlainRequest, bounds: BodyBounds): Promise<Uint8Array> {
  return new Promise((resolve, reject) => new BodyReading(request, bounds, { resolve, reject }));
}

interface Settlers {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (reason: unknown) => void;
}

class BodyReading implements HeldMemory {
  readonly #request: PlainRequest;
  readonly #bounds: BodyBounds;
  readonly #promise: Settlers;
  readonly #onAbort = () => this.#fail(this.#request.signal.reason);
  #cancelTimer: Cancel | undefined;
  #reserved = 0;
  #copies = 0;
  #arrivedInWindow = 0;
  #isOver = false;

  constructor(request: PlainRequest, bounds: BodyBounds, promise: Settlers) {
    this.#request = request;
    this.#bounds = bounds;
    this.#promise = promise;
    const { signal } = request;
    if (signal.aborted) {
      this.#onAbort();
      return;
    }
    signal.addEventListener("abort", this.#onAbort);
    this.#checkRateLater(firstWindowMs, this.#bounds.limitMs);
    try {
      this.#read().then((bytes) => this.#succeed(bytes), (error) => this.#breakOff(error));
    } catch (error) {
      this.#breakOff(error);
    }
  }

  release(): void {
    const { memory, client } = this.#bounds;
    memory.release(this.#reserved, client);
    memory.release(this.#copies, undefined);
  }

  /** @throws {HttpError} As {@linkcode readRequestBody} does, now or later. */
  #read(): Promise<Uint8Array> {
    const header = this.#request.headers.get("content-length");
    const declared = header === null ? undefined : Number(header);
    if (declared === undefined || !(declared <= maxAtOnceBytes)) return this.#readChunks(declared);
    this.#reserve(declared);
    const received = this.#request.received?.();
    return received === undefined ? this.#request.bytes() : Promise.resolve(received);
  }

  async #readChunks(declared: number | undefined): Promise<Uint8Array> {
    if (declared !== undefined && declared > this.#bounds.maxBytes) throw this.#tooLarge();
    const received = new ReceivedBody(declared);
    for await (const chunk of this.#request.body ?? []) {
      if (this.#isOver) break; // the promise is already settled
      this.#reserve(chunk.length);
      this.#arrivedInWindow += chunk.length;
      received.add(chunk);
    }
    return received.bytes;
  }

  #reserve(bytes: number): void {
    const { memory, maxBytes, memoryKey } = this.#bounds;
    if (this.#reserved + bytes > maxBytes) throw this.#tooLarge();
    if (!memory.reserve(bytes, this.#bounds)) throw noRoom(memoryKey);
    this.#reserved += bytes;
    if (this.#bounds.isParsed && this.#reserved > countedOnceBytes) this.#reserveCopies();
  }

  /** Copies do not count against the share of the client: its largest body would exceed that. */
  #reserveCopies(): void {
    const { memory, memoryBytes, memoryKey } = this.#bounds;
    const bytes = copies * (this.#reserved - countedOnceBytes) - this.#copies;
    if (!memory.reserve(bytes, { memoryBytes, client: undefined })) throw noRoom(memoryKey);
    this.#copies += bytes;
  }

  /** Checks at the end of a window whether the body keeps its rate. */
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

  #succeed(bytes: Uint8Array): void {
    if (!this.#end()) return;
    const { holder } = this.#bounds;
    if (holder === undefined) this.release();
    else holder.hold(this);
    this.#promise.resolve(bytes);
  }

  #breakOff(error: unknown): void {
    this.#fail(error instanceof HttpError ? error : new ClientDisconnectedError("The client has disconnected"));
  }

  #fail(reason: unknown): void {
    if (!this.#end()) return;
    this.release();
    this.#promise.reject(reason);
  }

  /** Returns false if it has already ended. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#cancelTimer?.();
    this.#request.signal.removeEventListener("abort", this.#onAbort);
    return true;
  }

  #tooLarge(): HttpError {
    return bodyTooLarge(this.#bounds);
  }
}

/**
 * The chunks of a body. Memory is allocated after half of it has been received, so that the body is never stored twice,
 * and a client that declares a large body and sends nothing uses none.
 */
class ReceivedBody {
  #declared: number | undefined;
  #chunks: Uint8Array[] = [];
  #complete: Uint8Array | undefined;
  #size = 0;

  /** @param declared The declared length, bytes; undefined if none. */
  constructor(declared: number | undefined) {
    this.#declared = declared;
  }

  get bytes(): Uint8Array {
    return this.#complete?.subarray(0, this.#size) ?? concat(this.#chunks);
  }

  add(chunk: Uint8Array): void {
    if (this.#complete !== undefined && this.#size + chunk.length > this.#complete.length) { // the declared length was wrong
      this.#chunks = [this.#complete.subarray(0, this.#size)];
      this.#complete = this.#declared = undefined;
    }
    if (this.#complete === undefined) this.#chunks.push(chunk);
    else this.#complete.set(chunk, this.#size);
    this.#size += chunk.length;
    if (this.#complete !== undefined || this.#declared === undefined || !(this.#size * 2 >= this.#declared)) return;
    this.#complete = new Uint8Array(Math.max(this.#declared, this.#size));
    let at = 0;
    for (const part of this.#chunks) {
      this.#complete.set(part, at);
      at += part.length;
    }
    this.#chunks = [];
  }
}

function noRoom(memoryKey: BodyBounds["memoryKey"]): HttpError {
  return new HttpError(`The bodies of other requests leave no room for this one (proxy.${memoryKey})`, {
    status: 503,
    type: "server_error",
    code: "overloaded",
    headers: { ...waitHeaders(1000, false), ...unread },
  });
}

/** The error for a body that is too large. */
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
