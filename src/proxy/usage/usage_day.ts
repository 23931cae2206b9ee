/**
 * The usage of one day: requests, tokens and cost by client, team, pool, model and tags.
 * @module
 */
import type { UsageAmounts } from "../../contracts/storage.ts";
import { isObject } from "../../util/is_object.ts";

/** What a row counts. */
interface UsageKey {
  /** Name of the client, if it has one. */
  readonly client?: string | undefined;
  /** Its id, if it was created at runtime. */
  readonly clientId?: string | undefined;
  readonly pool: string;
  /** Undefined if no model was tried. */
  readonly model?: string | undefined;
  /** The service tier, as the vendor names it. Records of days are without it. */
  readonly tier?: string | undefined;
  /** Sorted; `name=value` for those of an object. */
  readonly tags?: readonly string[];
  /** The team of the client, or the one that its token states. */
  readonly team?: string | undefined;
}

/** A row. */
export interface CountedUsage extends UsageKey {
  readonly amounts: UsageAmounts;
}

/** Maximum number of rows. Tags are the clients' own, so further combinations are counted without them. */
const maxRows = 10_000;

/** The rows of one day. */
export class UsageDay {
  readonly #rows = new Map<string, { readonly key: UsageKey; readonly sums: number[] }>();

  /** The rows, in order of their first request. */
  get rows(): readonly CountedUsage[] {
    return [...this.#rows.values()].map((
      { key, sums: [requests = 0, tokensIn = 0, tokensOut = 0, cost = 0, callerCost] },
    ) => ({
      ...key,
      amounts: callerCost === undefined
        ? [requests, tokensIn, tokensOut, cost]
        : [requests, tokensIn, tokensOut, cost, callerCost],
    }));
  }

  /** Adds amounts to the row of a key. */
  add(key: UsageKey, amounts: UsageAmounts): void {
    const { client, clientId, pool, model, tier, tags = [], team } = key;
    const name = JSON.stringify([client, clientId, pool, model, tier, tags, team]);
    let row = this.#rows.get(name);
    if (row === undefined) {
      if (this.#rows.size >= maxRows && tags.length > 0) return this.add({ ...key, tags: [] }, amounts);
      this.#rows.set(name, row = { key, sums: [0, 0, 0, 0] });
    }
    for (const [index, amount = 0] of amounts.entries()) row.sums[index] = (row.sums[index] ?? 0) + amount;
  }

  /** Adds the rows of another day object. */
  merge(other: UsageDay): void {
    for (const { amounts, ...key } of other.rows) this.add(key, amounts);
  }

  /** The record: one list per row, of which the team is the last member, if there is one. */
  toJSON(): unknown {
    return {
      rows: this.rows.map((
        { client = null, clientId = null, pool, model = null, tags = [], team, amounts },
      ) => [client, clientId, pool, model, tags, ...amounts, ...(team === undefined ? [] : [team])]),
    };
  }
}

/**
 * Reads a record of `toJSON`.
 *
 * @param record Parsed JSON. What is not a row is ignored.
 */
export function readUsageDay(record: unknown): UsageDay {
  const day = new UsageDay();
  const rows = isObject(record) && Array.isArray(record.rows) ? record.rows : [];
  for (const row of rows) {
    if (!Array.isArray(row)) continue;
    const [client, clientId, pool, model, tags, ...others] = row;
    const amounts = others.slice(0, typeof others[4] === "number" ? 5 : 4);
    const isCounted = amounts.length >= 4 && amounts.every((amount) => Number.isSafeInteger(amount) && amount >= 0);
    if (typeof pool !== "string" || !isCounted) continue;
    day.add({
      client: readString(client),
      clientId: readString(clientId),
      pool,
      model: readString(model),
      tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [],
      team: readString(others[amounts.length]),
    }, amounts as unknown as UsageAmounts);
  }
  return day;
}

/**
 * Reads a record of earlier versions, which counted clients created at runtime alone: amounts by client id, then by
 * pool.
 *
 * @param record Parsed JSON.
 */
export function readClientDay(record: unknown): UsageDay {
  const day = new UsageDay();
  for (const [clientId, pools] of Object.entries(isObject(record) ? record : {})) {
    for (const [pool, amounts] of Object.entries(isObject(pools) ? pools : {})) {
      if (Array.isArray(amounts) && amounts.length === 4) {
        day.add({ clientId, pool }, amounts as unknown as UsageAmounts);
      }
    }
  }
  return day;
}

function readString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
