/**
 * Usage of clients created at runtime: requests, tokens and cost per day and pool, stored for 90 days.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { FinishedRequest } from "../../observe/hub_events.ts";
import { roundUp } from "../../state/counters/window_counter.ts";
import { RecordLock } from "../../state/persistence/record_lock.ts";
import type { Storage } from "../../contracts/storage.ts";
import { dayMs, formatUtcDay } from "../../util/windows.ts";

/** Number of days stored. */
export const usageDays = 90;

const prefix = "client_usage.";
const locking = { timeoutMs: 10_000, retryIntervalMs: 20 };

/** Maximum number of concurrent reads. */
const readsAtOnce = 10;

/** Requests, input tokens, output tokens, nano-dollars. */
type Amounts = [requests: number, tokensIn: number, tokensOut: number, costNanoUsd: number];

/** By client id, then by pool. */
type DayUsage = Record<string, Record<string, Amounts>>;

/** The usage of a client on one day in one pool. */
export interface UsageRow {
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly pool: string;
  readonly requests: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_usd: number;
}

/** Counts usage, and periodically adds it to the records of the days. */
export class ClientUsage {
  readonly #clock: Clock;
  #pending = new Map<string, DayUsage>();
  #last: Promise<void> = Promise.resolve();
  #purgedOn = "";

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a finished request. */
  add(id: string, { record: { pool }, tokensIn, tokensOut, costNanoUsd }: FinishedRequest): void {
    const day = formatUtcDay(this.#clock.now());
    let usage = this.#pending.get(day);
    if (usage === undefined) this.#pending.set(day, usage = emptyDay());
    addTo(usage, { id, pool, amounts: [1, roundUp(tokensIn), roundUp(tokensOut), roundUp(costNanoUsd)] });
  }

  /**
   * Adds counted usage to the storage.
   *
   * @throws {ConnectorError} If it cannot be written. It is then added with the next call.
   */
  flush(storage: Storage): Promise<void> {
    const flushed = this.#last.then(() => this.#flush(storage));
    this.#last = flushed.catch(() => {});
    return flushed;
  }

  /**
   * Returns the usage of a client, by day and pool.
   *
   * @param days UTC, in order.
   * @throws {ConnectorError} If it cannot be read.
   */
  async readRows(id: string, { storage, days }: { storage: Storage; days: readonly string[] }): Promise<UsageRow[]> {
    await this.flush(storage);
    const stored = new Set(await storage.list(prefix));
    const present = days.filter((day) => stored.has(prefix + day));
    const rows: UsageRow[] = [];
    for (let at = 0; at < present.length; at += readsAtOnce) {
      const read = present.slice(at, at + readsAtOnce).map(async (day) => rowsIn(await load(storage, day), day, id));
      rows.push(...(await Promise.all(read)).flat());
    }
    return rows;
  }

  async #flush(storage: Storage): Promise<void> {
    const pending = this.#pending;
    if (pending.size === 0) return;
    this.#pending = new Map();
    for (const [day, usage] of pending) {
      try {
        await this.#addToRecord(storage, day, usage);
        pending.delete(day);
      } catch (error) {
        for (const [day, usage] of pending) this.#requeue(day, usage);
        throw error;
      }
    }
    await this.#purge(storage);
  }

  async #addToRecord(storage: Storage, day: string, usage: DayUsage): Promise<void> {
    const lock = new RecordLock({ storage, key: prefix, locking, clock: this.#clock });
    await lock.run(async (isOurs) => {
      const stored = await load(storage, day);
      merge(stored, usage);
      if (!isOurs()) return false;
      await storage.save(prefix + day, new TextEncoder().encode(JSON.stringify(stored)));
      return true;
    });
  }

  #requeue(day: string, usage: DayUsage): void {
    const present = this.#pending.get(day);
    if (present === undefined) this.#pending.set(day, usage);
    else merge(present, usage);
  }

  /** Deletes old records, once per day and process. */
  async #purge(storage: Storage): Promise<void> {
    const wallTimeMs = this.#clock.now();
    if (this.#purgedOn === formatUtcDay(wallTimeMs)) return;
    const oldest = prefix + formatUtcDay(wallTimeMs - (usageDays - 1) * dayMs);
    for (const key of await storage.list(prefix)) if (key < oldest) await storage.delete(key);
    this.#purgedOn = formatUtcDay(wallTimeMs);
  }
}

async function load(storage: Storage, day: string): Promise<DayUsage> {
  const bytes = await storage.load(prefix + day);
  return Object.assign(emptyDay(), bytes === undefined ? {} : JSON.parse(new TextDecoder().decode(bytes)));
}

function rowsIn(usage: DayUsage, day: string, id: string): UsageRow[] {
  return Object.entries(usage[id] ?? {}).map(([pool, [requests, tokens_in, tokens_out, costNanoUsd]]) => (
    { day, pool, requests, tokens_in, tokens_out, cost_usd: costNanoUsd / 1e9 }
  ));
}

function merge(into: DayUsage, usage: DayUsage): void {
  for (const [id, pools] of Object.entries(usage)) {
    for (const [pool, amounts] of Object.entries(pools)) addTo(into, { id, pool, amounts });
  }
}

function addTo(usage: DayUsage, { id, pool, amounts }: { id: string; pool: string; amounts: Amounts }): void {
  const pools = usage[id] ??= Object.create(null) as Record<string, Amounts>;
  const sums = pools[pool] ??= [0, 0, 0, 0];
  amounts.forEach((amount, index) => sums[index]! += amount);
}

/** Created without prototype, since the name of a pool may be any string. */
function emptyDay(): DayUsage {
  return Object.create(null);
}
