/**
 * Usage of all requests per day, stored for 90 days. Processes of one storage add to the same records.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import type { FinishedRequest } from "../../observe/hub_events.ts";
import { roundUp } from "../../state/counters/window_counter.ts";
import { RecordLock } from "../../state/persistence/record_lock.ts";
import { listTags } from "../../util/entries.ts";
import { dayMs, formatUtcDay } from "../../util/windows.ts";
import { type CountedUsage, readClientDay, readUsageDay, UsageDay } from "./usage_day.ts";

/** Number of days stored. */
export const usageDays = 90;

const prefix = "usage.";
/** Records of earlier versions. */
const clientPrefix = "client_usage.";
const locking = { timeoutMs: 10_000, retryIntervalMs: 20 };

/** Maximum number of concurrent reads. */
const readsAtOnce = 10;

/** A row with its day, UTC, `YYYY-MM-DD`. */
export interface DatedUsage extends CountedUsage {
  readonly day: string;
}

/** Counts usage, and periodically adds it to the records of the days. */
export class DailyUsage {
  readonly #clock: Clock;
  readonly #redact: (text: string) => string;
  #pending = new Map<string, UsageDay>();
  #last: Promise<void> = Promise.resolve();
  #purgedOn = "";

  /** @param redact Redacts secrets in tags. */
  constructor(clock: Clock, redact: (text: string) => string) {
    this.#clock = clock;
    this.#redact = redact;
  }

  /** Counts a finished request. */
  add({ record, tags, tokensIn, tokensOut, costNanoUsd }: FinishedRequest): void {
    const { client, client_id: clientId, pool, model } = record;
    const key = {
      client,
      clientId,
      pool,
      model: model ?? undefined,
      tags: [...new Set(listTags(tags ?? []))].sort().map(this.#redact),
    };
    this.#pendingDay(formatUtcDay(this.#clock.now())).add(key, [
      1,
      roundUp(tokensIn),
      roundUp(tokensOut),
      roundUp(costNanoUsd),
    ]);
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
   * Returns the rows of days.
   *
   * @param days UTC, in order.
   * @throws {ConnectorError} If it cannot be read.
   */
  async readRows(storage: Storage, days: readonly string[]): Promise<DatedUsage[]> {
    await this.flush(storage);
    const stored = new Set([...await storage.list(prefix), ...await storage.list(clientPrefix)]);
    const reads = days.flatMap((day) =>
      [prefix + day, clientPrefix + day].filter((key) => stored.has(key)).map((key) => ({ day, key }))
    );
    const rows: DatedUsage[] = [];
    for (let at = 0; at < reads.length; at += readsAtOnce) {
      const read = reads.slice(at, at + readsAtOnce).map(async ({ day, key }) =>
        (await loadDay(storage, key)).rows.map((row) => ({ ...row, day }))
      );
      rows.push(...(await Promise.all(read)).flat());
    }
    return rows;
  }

  #pendingDay(day: string): UsageDay {
    let usage = this.#pending.get(day);
    if (usage === undefined) this.#pending.set(day, usage = new UsageDay());
    return usage;
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
        for (const [day, usage] of pending) this.#pendingDay(day).merge(usage);
        throw error;
      }
    }
    await this.#purge(storage);
  }

  async #addToRecord(storage: Storage, day: string, usage: UsageDay): Promise<void> {
    const lock = new RecordLock({ storage, key: prefix, locking, clock: this.#clock });
    await lock.run(async (isOurs) => {
      const stored = await loadDay(storage, prefix + day);
      stored.merge(usage);
      if (!isOurs()) return false;
      await storage.save(prefix + day, new TextEncoder().encode(JSON.stringify(stored)));
      return true;
    });
  }

  /** Deletes old records, once per day and process. */
  async #purge(storage: Storage): Promise<void> {
    const wallTimeMs = this.#clock.now();
    const today = formatUtcDay(wallTimeMs);
    if (this.#purgedOn === today) return;
    const oldest = formatUtcDay(wallTimeMs - (usageDays - 1) * dayMs);
    for (const recordPrefix of [prefix, clientPrefix]) {
      for (const key of await storage.list(recordPrefix)) if (key < recordPrefix + oldest) await storage.delete(key);
    }
    this.#purgedOn = today;
  }
}

/** UTC days of which usage is stored, the oldest first. */
export function listUsageDays(wallTimeMs: number): string[] {
  return Array.from({ length: usageDays }, (_, index) => formatUtcDay(wallTimeMs - (usageDays - 1 - index) * dayMs));
}

async function loadDay(storage: Storage, key: string): Promise<UsageDay> {
  const bytes = await storage.load(key);
  if (bytes === undefined) return new UsageDay();
  const record: unknown = JSON.parse(new TextDecoder().decode(bytes));
  return key.startsWith(clientPrefix) ? readClientDay(record) : readUsageDay(record);
}
