/**
 * A connection in memory, whose client is the test.
 * @module
 */
import { setImmediate } from "node:timers";
import type { Socket } from "../../src/runtime/http1/connection.ts";

interface PendingRead {
  readonly into: Uint8Array;
  readonly resolve: (read: number | null) => void;
  readonly reject: (error: unknown) => void;
}

/** One character per byte. */
export function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return text;
}

/** One byte per character. */
export function toLatin1(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

/** Lets all work proceed that waits for no further input: on a connection in memory, it is done in microtasks. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => void setImmediate(resolve));
}

/** A connection of a server. */
export class ScriptedSocket implements Socket {
  /** What the server has sent, one character per byte. */
  sent = "";
  isClosed = false;
  /** Whether the server has ended its output. */
  isOutputEnded = false;
  /** Number of bytes that were read. */
  received = 0;
  /** Maximum number of bytes per write. */
  maxWritten: number = Infinity;
  /** Whether writes wait until {@linkcode drain}. */
  isFull = false;
  #isBroken = false;
  #isEnded = false;
  #input: Uint8Array[] = [];
  #pending: PendingRead | undefined;
  #onDrain: (() => void)[] = [];

  /** Sends to the server, in reads of at most `size` bytes. */
  feed(data: string | Uint8Array, size: number = Infinity): void {
    const bytes = typeof data === "string" ? toLatin1(data) : data;
    for (let at = 0; at < bytes.length; at += Math.min(size, bytes.length)) {
      this.#input.push(bytes.subarray(at, at + size));
    }
    this.#serve();
  }

  /** Ends the client's output. */
  end(): void {
    this.#isEnded = true;
    this.#serve();
  }

  /** Resets the connection. */
  reset(): void {
    this.#isBroken = true;
    this.#pending?.reject(new Error("reset"));
    this.#pending = undefined;
    this.drain();
  }

  /** Lets writes proceed. */
  drain(): void {
    this.isFull = false;
    for (const proceed of this.#onDrain.splice(0)) proceed();
  }

  read(into: Uint8Array): Promise<number | null> {
    if (this.isClosed || this.#isBroken) return Promise.reject(new Error("closed"));
    if (this.#pending !== undefined) throw new Error("a read while another one is pending");
    if (into.length === 0) throw new Error("a read into nothing");
    return new Promise((resolve, reject) => {
      this.#pending = { into, resolve, reject };
      this.#serve();
    });
  }

  async write(bytes: Uint8Array): Promise<number> {
    if (this.isFull) await new Promise<void>((resolve) => this.#onDrain.push(resolve));
    if (this.isClosed || this.isOutputEnded || this.#isBroken) throw new Error("closed");
    const written = bytes.subarray(0, this.maxWritten);
    this.sent += latin1(written);
    return written.length;
  }

  close(): void {
    if (this.isClosed) throw new Error("closed already");
    this.isClosed = true;
    this.#pending?.reject(new Error("closed"));
    this.#pending = undefined;
    this.drain();
  }

  closeWrite(): Promise<void> {
    this.isOutputEnded = true;
    return Promise.resolve();
  }

  #serve(): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    const next = this.#input.shift();
    if (next === undefined) {
      if (!this.#isEnded) return;
      this.#pending = undefined;
      return pending.resolve(null);
    }
    const part = next.subarray(0, pending.into.length);
    if (part.length < next.length) this.#input.unshift(next.subarray(part.length));
    pending.into.set(part);
    this.received += part.length;
    this.#pending = undefined;
    pending.resolve(part.length);
  }
}
