/**
 * Shared counters and messages in Redis.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Shared, SharedChange, SharedGrant, SharedReservation, SharedSum } from "../../src/contracts/storage.ts";
import { leaseMs } from "./_redis_address.ts";
import { RecentChanges } from "./_redis_recent.ts";
import { type RedisConnection, type Send, toEval } from "./_redis_client.ts";
import { addScript, endedMs, endScript, reserveScript, resumeScript } from "./_redis_scripts.ts";

/**
 * Time after a connection to a Redis that had not lost its data, ms, in which other processes add what it lacks of
 * theirs. Meanwhile nothing raises a counter to what it has reached, since this would count twice.
 */
const settlingMs = 5_000;

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
  readonly #recent: RecentChanges;
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
    this.#recent = new RecentChanges(clock);
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
    const now = this.#clock.now();
    const isSettling = this.#clock.monotonic() < this.#settlesUntil;
    const keys = sums.map(({ key }) => `${this.#prefix}:sum:${key}`);
    const period = this.#recent.begin();
    const changes = sums.map((sum, index) => {
      const [amount, limit, leased] = toValues(sum);
      return { key: keys[index]!, amount, limit, leased, expiresAt: sum.expiresAt, atLeast: sum.atLeast };
    });
    period.note(changes);
    const values = changes.flatMap(({ amount, limit, leased, expiresAt, atLeast }) => {
      const ttlMs = Math.max(1, Math.ceil(expiresAt - now)); // relative, since Redis has its own clock
      return [amount, limit, isSettling ? "" : atLeast ?? "", ttlMs, leased];
    });
    const isFirst = !this.#isKnown;
    this.#isKnown = true;
    const reply = await this.#connection.run(script, keys, [...this.#lease(period.number), ...values]) as string[];
    const [isGranted, isLost, ...present] = reply;
    if (isLost === "1" && !isFirst) this.#lostLeases++;
    if (isGranted === "1") period.acknowledge(changes);
    return { isGranted: isGranted === "1", sums: present.map(Number) };
  }

  /** Makes good what the previous connection has left open: calls without a reply, and replies that a new master lacks. */
  async #resume(send: Send): Promise<void> {
    const { number, oldest, changes } = this.#recent.list();
    const now = this.#clock.now();
    const values = changes.flatMap(({ period, amount, leased, expiresAt }) => {
      return [period, amount, leased, Math.max(1, Math.ceil(expiresAt - now))];
    });
    const keys = [this.#set, ...changes.map(({ key }) => key)];
    const words = toEval(resumeScript, keys, [...this.#lease(number), oldest ?? "", ...values]);
    const [isKnown, isLost] = await send(...words) as string[];
    if (isLost === "1") this.#lostLeases++;
    if (isKnown === "1") this.#settlesUntil = this.#clock.monotonic() + settlingMs;
    else this.#recent.clear();
  }

  /** Ends the leases of this process. */
  async end(): Promise<void> {
    if (this.#isKnown) await this.#connection.run(endScript, [this.#set], this.#lease(this.#recent.list().number));
  }

  get #set(): string {
    return `${this.#prefix}:leases`;
  }

  #lease(period: number): readonly (string | number)[] {
    return [this.#set, this.#id, this.leaseMs, endedMs, period];
  }

  #channel(name: string): string {
    return `${this.#prefix}:channel:${name}`;
  }
}
