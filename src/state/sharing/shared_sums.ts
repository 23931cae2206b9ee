/**
 * Shared counters of the worker processes of one proxy: in memory of the owner process, which the workers reach by
 * messages.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { Shared, SharedChange, SharedGrant, SharedReservation, SharedSum } from "../../contracts/storage.ts";
import { ConnectorError } from "../../errors.ts";

/** Interval of deleting expired counters, ms. */
const sweepMs = 60_000;

/** A persisted counter. */
export interface SavedSum {
  readonly key: string;
  readonly value: number;
  /** Expiry time, wall-clock ms. */
  readonly expiresAt: number;
}

/** The shared facet of worker processes. Counters end with the processes unless they are persisted. */
export interface LocalShared extends Shared {
  /** Whether this is the first worker, which does what only one of them must do. */
  readonly isFirst: boolean;
  /** Sets persisted counters at the owner, once. */
  seed(sums: readonly SavedSum[]): Promise<void>;
  /** Returns all counters, without leased amounts. */
  sums(): Promise<readonly SavedSum[]>;
}

/** Counters in memory. Calls are synchronous, and therefore atomic. */
export class SharedSums {
  readonly #sums = new Map<string, { value: number; expiresAt: number }>();
  /** Leased amounts by process and key, released when the process ends. */
  readonly #leases = new Map<number, Map<string, number>>();
  readonly #clock: Pick<Clock, "now">;
  #sweptAt: number;
  #isSeeded = false;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
    this.#sweptAt = clock.now();
  }

  /** Number of counters. */
  get size(): number {
    return this.#sums.size;
  }

  /** Implements {@linkcode Shared.add}. */
  add(changes: readonly SharedChange[], process: number): number[] {
    this.#sweep();
    return changes.map((change) => {
      this.#lease(process, change.key, change.leased ?? 0);
      return this.#set(change, this.#value(change) + change.by);
    });
  }

  /** Implements {@linkcode Shared.reserve}. */
  reserve(reservations: readonly SharedReservation[], process: number): SharedGrant {
    this.#sweep();
    const isGranted = reservations.every((reservation) =>
      this.#value(reservation) + reservation.amount <= reservation.limit
    );
    for (const { key, amount, isLeased } of isGranted ? reservations : []) {
      if (isLeased) this.#lease(process, key, amount);
    }
    return {
      isGranted,
      sums: reservations.map((reservation) =>
        this.#set(reservation, this.#value(reservation) + (isGranted ? reservation.amount : 0))
      ),
    };
  }

  /** Implements {@linkcode LocalShared.seed}. */
  seed(sums: readonly SavedSum[]): void {
    if (this.#isSeeded) return;
    this.#isSeeded = true;
    for (const { key, value, expiresAt } of sums) {
      if (expiresAt <= this.#clock.now()) continue;
      const counted = this.#sums.get(key)?.value ?? 0; // before the record could be read
      this.#sums.set(key, { value: value + counted, expiresAt });
    }
  }

  /** Implements {@linkcode LocalShared.sums}. */
  list(): SavedSum[] {
    this.#sweep();
    const all = [...this.#leases.values()];
    return [...this.#sums].flatMap(([key, { value, expiresAt }]) => {
      const remaining = all.reduce((sum, leases) => sum - (leases.get(key) ?? 0), value);
      return remaining === 0 ? [] : [{ key, value: remaining, expiresAt }];
    });
  }

  /** Releases the leases of a process that has ended. */
  end(process: number): void {
    for (const [key, amount] of this.#leases.get(process) ?? []) {
      const sum = this.#sums.get(key);
      if (sum !== undefined) sum.value -= amount;
    }
    this.#leases.delete(process);
  }

  #lease(process: number, key: string, change: number): void {
    if (change === 0) return;
    const leases = this.#leases.get(process) ?? new Map<string, number>();
    const amount = (leases.get(key) ?? 0) + change;
    if (amount === 0) leases.delete(key);
    else leases.set(key, amount);
    this.#leases.set(process, leases);
  }

  #value({ key, atLeast = -Infinity }: SharedSum): number {
    return Math.max(this.#sums.get(key)?.value ?? 0, atLeast);
  }

  #set({ key, expiresAt }: SharedSum, value: number): number {
    const existing = this.#sums.get(key);
    if (existing !== undefined) {
      existing.value = value;
      existing.expiresAt = Math.max(existing.expiresAt, expiresAt);
    } else if (value !== 0) this.#sums.set(key, { value, expiresAt });
    return value;
  }

  #sweep(): void {
    const now = this.#clock.now();
    if (now - this.#sweptAt < sweepMs) return;
    this.#sweptAt = now;
    for (const [key, { expiresAt }] of this.#sums) {
      if (expiresAt > now) continue;
      this.#sums.delete(key);
      for (const leases of this.#leases.values()) leases.delete(key);
    }
  }
}

/** A call of a worker to the owner. */
export type SharedCall =
  | { readonly id: number; readonly add: readonly SharedChange[] }
  | { readonly id: number; readonly reserve: readonly SharedReservation[] }
  | { readonly id: number; readonly publish: SharedMessage }
  | { readonly id: number; readonly seed: readonly SavedSum[] }
  | { readonly id: number; readonly list: true };

/** A published message. */
interface SharedMessage {
  readonly channel: string;
  readonly message: string;
}

interface SumsReply extends SharedGrant {
  readonly id: number;
  readonly kept?: readonly SavedSum[];
}

/** A message of the owner to workers: the response to a call, or a published message. */
export type SharedReply =
  | SumsReply
  | { readonly news: SharedMessage };

/** The owner's side. */
export class SharedOwner {
  readonly #sums: SharedSums;
  readonly #broadcast: (reply: SharedReply) => void;

  /** @param broadcast Sends to every worker. */
  constructor(sums: SharedSums, broadcast: (reply: SharedReply) => void) {
    this.#sums = sums;
    this.#broadcast = broadcast;
  }

  /** Returns the response to a call of a worker. */
  respond(call: SharedCall, process: number): SharedReply {
    const { id } = call;
    if ("add" in call) return { id, sums: this.#sums.add(call.add, process), isGranted: true };
    if ("reserve" in call) return { id, ...this.#sums.reserve(call.reserve, process) };
    if ("publish" in call) this.#broadcast({ news: call.publish });
    if ("seed" in call) this.#sums.seed(call.seed);
    return { id, sums: [], isGranted: true, ...("list" in call ? { kept: this.#sums.list() } : {}) };
  }
}

/** The worker's side. */
export class LinkedShared implements LocalShared {
  readonly isFirst: boolean;
  readonly #send: (call: SharedCall) => void;
  /** Settles calls, by their id. */
  readonly #pending = new Map<number, {
    readonly resolve: (reply: SumsReply) => void;
    readonly reject: (error: Error) => void;
  }>();
  readonly #receivers = new Map<string, Set<(message: string) => void>>();
  #calls = 0;
  #isClosed = false;

  /**
   * @param send Sends a call to the owner.
   * @param isFirst Whether this is the first worker.
   */
  constructor(send: (call: SharedCall) => void, isFirst = false) {
    this.#send = send;
    this.isFirst = isFirst;
  }

  async add(changes: readonly SharedChange[]): Promise<readonly number[]> {
    if (changes.length === 0) return [];
    return (await this.#call((id) => ({ id, add: changes }))).sums;
  }

  async reserve(reservations: readonly SharedReservation[]): Promise<SharedGrant> {
    if (reservations.length === 0) return { isGranted: true, sums: [] };
    const { isGranted, sums } = await this.#call((id) => ({ id, reserve: reservations }));
    return { isGranted, sums };
  }

  async publish(channel: string, message: string): Promise<void> {
    await this.#call((id) => ({ id, publish: { channel, message } }));
  }

  async seed(sums: readonly SavedSum[]): Promise<void> {
    await this.#call((id) => ({ id, seed: sums }));
  }

  async sums(): Promise<readonly SavedSum[]> {
    return (await this.#call((id) => ({ id, list: true }))).kept ?? [];
  }

  subscribe(channel: string, receive: (message: string) => void): Promise<() => Promise<void>> {
    const receivers = this.#receivers.get(channel) ?? new Set();
    this.#receivers.set(channel, receivers.add(receive));
    return Promise.resolve(() => {
      receivers.delete(receive);
      return Promise.resolve();
    });
  }

  /** Handles a message of the owner. */
  receive(reply: SharedReply): void {
    if ("news" in reply) {
      const { channel, message } = reply.news;
      for (const receive of this.#receivers.get(channel) ?? []) receive(message);
      return;
    }
    const waiting = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    waiting?.resolve(reply);
  }

  /** Handles the end of the owner: every call fails. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#pending.values()) reject(ownerEnded());
    this.#pending.clear();
  }

  #call(toCall: (id: number) => SharedCall): Promise<SumsReply> {
    if (this.#isClosed) return Promise.reject(ownerEnded());
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send(toCall(id));
    });
  }
}

function ownerEnded(): ConnectorError {
  return new ConnectorError("The process that owns the shared counters has ended", undefined, "unavailable");
}
