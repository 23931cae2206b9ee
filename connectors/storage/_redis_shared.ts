/**
 * Shared counters and messages in Redis.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Shared, SharedChange, SharedGrant, SharedReservation, SharedSum } from "../../src/contracts/storage.ts";
import { leaseMs } from "./_redis_address.ts";
import { type CounterChange, RecentCalls } from "./_redis_recent.ts";
import type { RedisConnection, Send } from "./_redis_client.ts";
import { addScript, callsScript, endedMs, endScript, reserveScript, toEval } from "./_redis_scripts.ts";

/**
 * Time after a connection to a Redis that had not lost its data, ms, in which other processes add what it lacks of
 * theirs. Meanwhile nothing raises a counter to what it has reached, since this would count twice.
 */
const settlingMs = 5_000;

/** A change, or a reservation. */
interface Change extends CounterChange {
  readonly limit?: number;
  readonly atLeast?: number | undefined;
}

/** The shared facet of a `RedisStorage`. */
export class RedisShared implements Shared {
  /** Identifies the leases of this process. */
  readonly #id = crypto.randomUUID();
  readonly leaseMs: number;
  #isKnown = false;
  #lostLeases = 0;
  readonly #connection: RedisConnection;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #recent = new RecentCalls();
  /** Until when counters are not raised to their minimum, monotonic ms. */
  #settlesUntil = -Infinity;

  /**
   * @param connection The connection of the storage.
   * @param clock Wall clock, for the expiry of counters.
   */
  constructor(connection: RedisConnection, clock: Clock, { prefix, leaseTimeMs = leaseMs }: {
    /** Prefix of all keys. */
    readonly prefix: string;
    /** Lease duration, ms. */
    readonly leaseTimeMs?: number;
  }) {
    this.leaseMs = leaseTimeMs;
    this.#connection = connection;
    this.#clock = clock;
    this.#prefix = prefix;
    connection.onReconnect = (send) => this.#resume(send);
  }

  /** How often other processes have ended the lease of this process, as far as it knows. */
  get lostLeases(): number {
    return this.#lostLeases;
  }

  async add(changes: readonly SharedChange[]): Promise<readonly number[]> {
    if (changes.length === 0) return [];
    return (await this.#run(addScript, changes, ({ by, leased = 0 }) => [by, 0, leased])).sums;
  }

  /** Reserves all amounts if no counter exceeds its limit by that. */
  async reserve(reservations: readonly SharedReservation[]): Promise<SharedGrant> {
    if (reservations.length === 0) return { isGranted: true, sums: [] };
    return await this.#run(reserveScript, reservations, ({ amount, limit, isLeased = false }) => [
      amount,
      limit,
      isLeased ? amount : 0,
    ]);
  }

  async publish(channel: string, message: string): Promise<void> {
    await this.#connection.send("PUBLISH", this.#channel(channel), message);
  }

  subscribe(channel: string, receive: (message: string) => void): Promise<() => Promise<void>> {
    return this.#connection.subscribe(this.#channel(channel), (message) => receive(message));
  }

  async #run<T extends SharedSum>(
    script: string,
    sums: readonly T[],
    toValues: (sum: T) => readonly [amount: number, limit: number, leased: number],
  ): Promise<SharedGrant> {
    const isSettling = this.#clock.monotonic() < this.#settlesUntil;
    const changes = sums.map((sum): Change => {
      const [amount, limit, leased] = toValues(sum);
      const atLeast = isSettling ? undefined : sum.atLeast;
      return { key: `${this.#prefix}:sum:${sum.key}`, amount, limit, leased, expiresAt: sum.expiresAt, atLeast };
    });
    const isFirst = !this.#isKnown;
    this.#isKnown = true;
    let number = 0;
    const reply = await this.#connection.run(script, changes.map(({ key }) => key), () => {
      number = this.#recent.note(changes); // in the order in which calls are sent
      return this.#toValues(changes, number);
    });
    const [isGranted, isLost, ...present] = reply as string[];
    this.#recent.confirm(number, isGranted === "1");
    if (isLost === "1" && !isFirst) this.#lostLeases++;
    return { isGranted: isGranted === "1", sums: present.map(Number) };
  }

  /** Adds what a new master lacks, and takes off what had an effect without a reply. */
  async #resume(send: Send): Promise<void> {
    const executed = await send(...toEval(callsScript, [this.#set], this.#lease(0)));
    const missing = Array.isArray(executed) ? this.#recent.reconcile(new Set(executed.map(Number))) : undefined;
    if (missing === undefined) return this.#recent.clear();
    this.#settlesUntil = this.#clock.monotonic() + settlingMs;
    if (missing.length === 0) return;
    const values = this.#toValues(missing, this.#recent.note(missing, true)); // made again if it is lost, too
    const [, isLost] = await send(...toEval(addScript, missing.map(({ key }) => key), values)) as string[];
    if (isLost === "1") this.#lostLeases++;
  }

  /** Returns the arguments of a script after its keys. */
  #toValues(changes: readonly Change[], number: number): readonly (string | number)[] {
    const now = this.#clock.now();
    const values = changes.flatMap(({ amount, limit = 0, leased, expiresAt, atLeast = "" }) => {
      const ttlMs = Math.max(1, Math.ceil(expiresAt - now)); // relative, since Redis has its own clock
      return [amount, limit, atLeast, ttlMs, leased];
    });
    return [...this.#lease(number), ...values];
  }

  /** Ends the leases of this process. */
  async end(): Promise<void> {
    if (this.#isKnown) await this.#connection.run(endScript, [this.#set], () => this.#lease(0));
  }

  get #set(): string {
    return `${this.#prefix}:leases`;
  }

  #lease(number: number): readonly (string | number)[] {
    return [this.#set, this.#id, this.leaseMs, endedMs, number];
  }

  #channel(name: string): string {
    return `${this.#prefix}:channel:${name}`;
  }
}
