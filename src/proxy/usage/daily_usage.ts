/**
 * Usage of all requests per day, stored for 90 days. Processes of one storage add to the same records, or to its rows.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { AddedUsage, Storage, UsageRows } from "../../contracts/storage.ts";
import type { FinishedRequest } from "../../observe/hub_events.ts";
import { roundUp } from "../../state/counters/window_counter.ts";
import { RecordLock } from "../../state/persistence/record_lock.ts";
import { listTags } from "../../util/entries.ts";
import { getOrCreate } from "../../util/once.ts";
import { dayMs, formatUtcDay } from "../../util/windows.ts";
import { type CountedUsage, readClientDay, readUsageDay, UsageDay } from "./usage_day.ts";

/** Number of days stored. */
export const usageDays = 90;

/** Length of a day, `YYYY-MM-DD`. */
const dayLength = 10;

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
  /** What is not stored yet, by hour, UTC, `YYYY-MM-DDTHH`. */
  #pending = new Map<string, UsageDay>();
  /** Rows that may have been added: the storage did not confirm it. */
  #unconfirmed: { readonly id: string; readonly rows: readonly AddedUsage[] } | undefined;
  #last: Promise<void> = Promise.resolve();
  #purgedOn = "";

  /** @param redact Redacts secrets in tags. */
  constructor(clock: Clock, redact: (text: string) => string) {
    this.#clock = clock;
    this.#redact = redact;
  }

  /** Counts a finished request. */
  add({ record, tags, tier, tokensIn, tokensOut, costNanoUsd, callerCostNanoUsd }: FinishedRequest): void {
    const { client, client_id: clientId, pool, model, team } = record;
    const key = {
      client,
      clientId,
      pool,
      model: model ?? undefined,
      tier,
      tags: [...new Set(listTags(tags ?? []))].sort().map(this.#redact),
      team,
    };
    const amounts = [1, roundUp(tokensIn), roundUp(tokensOut), roundUp(costNanoUsd)] as const;
    const hour = this.#pendingHour(formatUtcHour(this.#clock.now()));
    hour.add(key, callerCostNanoUsd ? [...amounts, roundUp(callerCostNanoUsd)] : amounts);
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
    const [from, to] = [days[0], days.at(-1)];
    if (from === undefined || to === undefined) return [];
    if (storage.usage !== undefined) return [...await storage.usage.read(from, to)];
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

  #pendingHour(hour: string): UsageDay {
    return getOrCreate(this.#pending, hour, () => new UsageDay());
  }

  async #flush(storage: Storage): Promise<void> {
    if (this.#pending.size === 0 && this.#unconfirmed === undefined) return;
    if (storage.usage === undefined) await this.#addToRecords(storage);
    else await this.#addRows(storage.usage);
    await this.#purge(storage);
  }

  /** Adds rows, once, even if it has to be tried again. */
  async #addRows(usage: UsageRows): Promise<void> {
    while (this.#pending.size > 0 || this.#unconfirmed !== undefined) {
      this.#unconfirmed ??= { id: crypto.randomUUID(), rows: this.#takeRows() };
      await usage.add(this.#unconfirmed.id, this.#unconfirmed.rows);
      this.#unconfirmed = undefined;
    }
  }

  #takeRows(): readonly AddedUsage[] {
    const pending = this.#pending;
    this.#pending = new Map();
    return [...pending].flatMap(([hour, { rows }]) => rows.map(({ tags = [], ...row }) => ({ ...row, tags, hour })));
  }

  async #addToRecords(storage: Storage): Promise<void> {
    for (const { hour, amounts, ...key } of this.#unconfirmed?.rows ?? []) this.#pendingHour(hour).add(key, amounts);
    this.#unconfirmed = undefined;
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [hour, usage] of pending) {
      try {
        await this.#addToRecord(storage, hour.slice(0, dayLength), usage);
        pending.delete(hour);
      } catch (error) {
        for (const [hour, usage] of pending) this.#pendingHour(hour).merge(usage);
        throw error;
      }
    }
  }

  async #addToRecord(storage: Storage, day: string, usage: UsageDay): Promise<void> {
    const lock = new RecordLock({ storage, key: prefix, locking, clock: this.#clock });
    await lock.run(async (isOurs) => {
      const stored = await loadDay(storage, prefix + day);
      for (const { amounts, tier: _, ...key } of usage.rows) stored.add(key, amounts);
      if (!isOurs()) return false;
      await storage.save(prefix + day, new TextEncoder().encode(JSON.stringify(stored)));
      return true;
    });
  }

  /** Deletes old records or rows, once per day and process. */
  async #purge(storage: Storage): Promise<void> {
    const wallTimeMs = this.#clock.now();
    const today = formatUtcDay(wallTimeMs);
    if (this.#purgedOn === today) return;
    const oldest = formatUtcDay(wallTimeMs - (usageDays - 1) * dayMs);
    await storage.usage?.drop(oldest);
    for (const recordPrefix of storage.usage === undefined ? [prefix, clientPrefix] : []) {
      for (const key of await storage.list(recordPrefix)) if (key < recordPrefix + oldest) await storage.delete(key);
    }
    this.#purgedOn = today;
  }
}

/** UTC hour, `YYYY-MM-DDTHH`. */
function formatUtcHour(wallTimeMs: number): string {
  return new Date(wallTimeMs).toISOString().slice(0, "YYYY-MM-DDTHH".length);
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
