/**
 * Reading request bodies within bounds of size, time and memory, so that clients which send slowly, much or nothing
 * keep no others out.
 * @module
 */
import type { Clock, StopSignal } from "../contracts/runtime.ts";
import type { PlainRequest } from "../contracts/shell.ts";
import { concat } from "../util/bytes.ts";
import { HttpError, waitHeaders } from "./error_body.ts";

/** Every body has this long, ms. */
const firstWindowMs = 30_000;

/** A body that takes longer has to keep its rate in each further window of this length, ms. */
const nextWindowMs = 5_000;

/** The rate that a body has to keep in each window, the first one included, to be read on. */
const minBytesPerSecond = 8 * 1024;

/** Bodies declared to be this short are read in one go, which is cheaper: one that takes longer than the first window is too slow. */
const maxAtOnceBytes = 64 * 1024;

/** The part of the memory that one client gets. */
const clientShare = 1 / 4;

/** What is still on its way is not read: it would be taken for the next request. */
const unread = { connection: "close" };

/** The client left while it sent its body: nobody is there to read an answer. */
export class ClientDisconnectedError extends Error {
  override name = "ClientDisconnectedError";
}

/** Counts the bytes of all bodies that are being read, by client. */
export class BodyMemory {
  #used = 0;
  readonly #byClient = new Map<unknown, number>();

  /**
   * Reserves room.
   *
   * @param bytes How much.
   * @param limit Of all bodies together, bytes.
   * @param client Gets at most a quarter of the limit; undefined: one that is not limited by itself.
   * @returns Whether there is room; nothing is reserved otherwise.
   */
  reserve(bytes: number, limit: number, client: unknown): boolean {
    const used = this.#byClient.get(client) ?? 0;
    if (this.#used + bytes > limit || (client !== undefined && used + bytes > limit * clientShare)) return false;
    this.#used += bytes;
    if (client !== undefined) this.#byClient.set(client, used + bytes);
    return true;
  }

  /** Gives room back. */
  release(bytes: number, client: unknown): void {
    this.#used -= bytes;
    if (client === undefined) return;
    const left = this.#byClient.get(client)! - bytes;
    if (left > 0) this.#byClient.set(client, left);
    else this.#byClient.delete(client);
  }
}

/** What a body is read within. */
export interface BodyBounds {
  /** Largest size, bytes. */
  readonly maxBytes: number;
  /** What all bodies being read share. */
  readonly memory: BodyMemory;
  /** How much that is, bytes. */
  readonly memoryBytes: number;
  /** Whose body it is; undefined: one that is not limited by itself. */
  readonly client: unknown;
  readonly clock: Clock;
  /** When the request came, monotonic ms. */
  readonly startedAt: number;
  /** Time from then on until the body has to be there, however fast it comes, ms. */
  readonly limitMs: number;
}

/**
 * Reads the whole body of a request.
 *
 * @param request Its body has not been read yet.
 * @param bounds Of size, time and memory.
 * @throws {HttpError} 413 when it is larger, 503 when there is no room for it, 504 when it comes too slowly.
 * @throws {ClientDisconnectedError} When it breaks off.
 */
export function readBody(request: PlainRequest, bounds: BodyBounds): Promise<Uint8Array> {
  return new Promise((resolve, reject) => new BodyReading(request, bounds, { resolve, reject }).start());
}

/** Who waits for a body. */
interface Waiter {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (reason: unknown) => void;
}

/** One body that is being read. */
class BodyReading {
  readonly #request: PlainRequest;
  readonly #bounds: BodyBounds;
  readonly #waiter: Waiter;
  readonly #signal: StopSignal;
  readonly #onAbort = () => this.#fail(this.#signal.reason);
  #cancelTimer = () => {};
  #reserved = 0;
  #arrivedInWindow = 0;
  #isOver = false;

  constructor(request: PlainRequest, bounds: BodyBounds, waiter: Waiter) {
    this.#request = request;
    this.#bounds = bounds;
    this.#waiter = waiter;
    this.#signal = request.signal;
  }

  start(): void {
    if (this.#signal.aborted) return this.#onAbort();
    this.#signal.addEventListener("abort", this.#onAbort);
    this.#watch(firstWindowMs, this.#bounds.limitMs);
    this.#read().then(
      (bytes) => this.#end() && this.#waiter.resolve(bytes),
      (error) => this.#fail(error instanceof HttpError ? error : new ClientDisconnectedError("The client has left")),
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
    const pieces: Uint8Array[] = [];
    for await (const piece of request.body ?? []) {
      if (this.#isOver) break; // nobody waits for it any more
      this.#reserve(piece.length);
      this.#arrivedInWindow += piece.length;
      pieces.push(piece);
    }
    return concat(pieces);
  }

  #reserve(bytes: number): void {
    const { memory, memoryBytes, client, maxBytes } = this.#bounds;
    if (this.#reserved + bytes > maxBytes) throw this.#tooLarge();
    if (!memory.reserve(bytes, memoryBytes, client)) {
      throw new HttpError("The bodies that are being read leave no room for this one (proxy.body_memory)", {
        status: 503,
        type: "server_error",
        code: "overloaded",
        headers: { ...waitHeaders(1000, false), ...unread },
      });
    }
    this.#reserved += bytes;
  }

  /** Looks again after a while whether the body still comes fast enough. */
  #watch(windowMs: number, leftMs: number): void {
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
      this.#watch(nextWindowMs, left);
    });
  }

  #fail(reason: unknown): void {
    if (this.#end()) this.#waiter.reject(reason);
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
    return new HttpError(`The body is over the limit of ${this.#bounds.maxBytes} bytes (proxy.body_limit)`, {
      status: 413,
      code: "request_too_large",
      headers: unread,
    });
  }
}

function tooSlow(message: string): HttpError {
  return new HttpError(message, { status: 504, type: "server_error", code: "timeout", headers: unread });
}
