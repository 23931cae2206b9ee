/**
 * Differences between a list of the catalogue and the public sources.
 * @module
 */
import type { CatalogueEntry } from "../../connectors/providers/_catalogue.ts";
import type { DatedPricing, Pricing } from "../../src/contracts/provider.ts";
import { priceAt } from "../../src/util/cost.ts";
import type { SourceModel, SourceModels } from "./source.ts";
import type { VendorList } from "./vendors.ts";

/** Models by source. */
export type Found = ReadonlyMap<string, SourceModels>;

/** Compared facts. */
export type Fact = "pricing" | "window" | "maxOutput" | "retires";

/** A fact that differs in a source. */
export interface Change {
  readonly id: string;
  readonly fact: Fact;
  /** Built-in value. */
  readonly builtIn: unknown;
  /** Value of each source by name, including sources with the built-in value. */
  readonly found: Readonly<Record<string, unknown>>;
  /**
   * The value to write: set when all sources that know the fact agree, and there are two of them or one is the entry's
   * own source.
   */
  readonly agreed?: unknown;
}

/** Result of comparing a list. */
export interface Comparison {
  readonly file: string;
  readonly vendor: string;
  /** Ids that only sources have. */
  readonly added: readonly { readonly id: string; readonly sources: readonly string[] }[];
  readonly changed: readonly Change[];
  /** Ids that no source has any more although the entry comes from one. */
  readonly gone: readonly string[];
  /** Ids whose facts are confirmed by all sources that have them. */
  readonly confirmed: readonly { readonly id: string; readonly sources: readonly string[] }[];
  /** Ids whose facts are newer than the sources, and were not compared. */
  readonly newer: readonly string[];
}

/**
 * Compares a list.
 *
 * @param found Models of the sources.
 * @param options `date`: ISO date on which the sources were read; `others`: further lists of the same provider, whose
 * models are not new.
 */
export function compare(
  list: VendorList,
  found: Found,
  { date, others = [] }: { readonly date: string; readonly others?: readonly VendorList[] },
): Comparison {
  const listed = modelsFor(list, found);
  const own = new Set([list, ...others].flatMap(({ entries }) => entries).map(({ id }) => id));
  const added = [...listed].filter(([id]) => !own.has(id)).map(([id, models]) => ({ id, sources: [...models.keys()] }));
  const newer = list.entries.filter(({ source }) => source[1] > date);
  const gone = list.entries.filter((entry) =>
    !listed.has(entry.id) && !newer.includes(entry) && wasListed(entry, found)
  );
  const compared = list.entries.filter((entry) => listed.has(entry.id) && !newer.includes(entry));
  const changes = compared.map((entry) => findChanges(entry, listed.get(entry.id)!, date));
  return {
    file: list.file,
    vendor: list.vendor,
    added,
    changed: changes.flat(),
    gone: gone.map(({ id }) => id),
    confirmed: compared.flatMap(({ id, pricing }, index) => {
      const sources = [...listed.get(id)!].flatMap(([source, model]) => model.pricing === undefined ? [] : source);
      return pricing === null || sources.length === 0 || changes[index]!.length > 0 ? [] : { id, sources };
    }),
    newer: newer.map(({ id }) => id),
  };
}

/** Whether an entry comes from one of the sources, and not from elsewhere, such as a vendor's page. */
function wasListed({ source: [name] }: CatalogueEntry, found: Found): boolean {
  return name.split(", ").some((source) => found.has(source));
}

/** Returns every model of a provider by id, then by source. */
function modelsFor({ names }: VendorList, found: Found): Map<string, Map<string, SourceModel>> {
  const models = new Map<string, Map<string, SourceModel>>();
  for (const [source, providers] of Object.entries(names)) {
    for (const model of providers.flatMap((provider) => found.get(source)?.get(provider) ?? [])) {
      models.set(model.id, (models.get(model.id) ?? new Map()).set(source, model));
    }
  }
  return models;
}

function findChanges(entry: CatalogueEntry, models: ReadonlyMap<string, SourceModel>, date: string): Change[] {
  const now = Date.parse(date);
  const current = currentPrices(entry.pricing ?? [], now);
  const views: readonly (readonly [Fact, unknown, (model: SourceModel) => unknown])[] = [
    ["pricing", current, ({ pricing }) => pricing && mergedPrices(current, pricing)],
    ["window", entry.window, ({ window }) => closeTo(entry.window, window)],
    ["maxOutput", entry.maxOutput, ({ maxOutput }) => closeTo(entry.maxOutput, maxOutput)],
    ["retires", entry.retires, ({ retires }) => retires],
  ];
  return views.flatMap(([fact, builtIn, read]) => {
    const values = [...models].flatMap(([source, model]) => {
      const value = read(model);
      return value === undefined ? [] : [[source, value] as const];
    });
    const distinct = new Set(values.map(([, value]) => JSON.stringify(value)));
    if (distinct.size === 0 || (distinct.size === 1 && distinct.has(JSON.stringify(builtIn)))) return [];
    const isAgreed = distinct.size === 1 && isEnough(entry, values.map(([source]) => source));
    const found = Object.fromEntries(values);
    return [{ id: entry.id, fact, builtIn, found, ...(isAgreed ? { agreed: values[0]![1] } : {}) }];
  });
}

/** Whether sources suffice for a change: the entry's own source, or two others. */
function isEnough({ source: [name] }: CatalogueEntry, sources: readonly string[]): boolean {
  return sources.length > 1 || sources.some((source) => name.split(", ").includes(source));
}

/** Returns the built-in size if it differs by less than 5 %: sources round sizes, or count in units of 1,024. */
function closeTo(own: number | undefined, found: number | undefined): number | undefined {
  if (own === undefined || found === undefined) return undefined;
  return Math.abs(own - found) < own / 20 ? own : found;
}

/** Returns the prices of a day, from small to large prompts, without start dates. */
function currentPrices(pricing: readonly DatedPricing[], now: number): DatedPricing[] {
  const sizes = [0, ...new Set(pricing.flatMap(({ above_tokens = [] }) => above_tokens))];
  return sizes.flatMap((size) => {
    const { from: _, ...price } = priceAt(pricing, now, size === 0 ? 0 : size + 1) ?? {};
    return Object.keys(price).length === 0 || (price.above_tokens ?? 0) !== size ? [] : [price];
  });
}

/**
 * Merges a source's prices into the built-in ones; undefined without any price. A price of 0 means that the unit is not
 * billed, unless all prices are 0; even then 0 does not replace an unknown price.
 */
function mergedPrices(
  current: readonly DatedPricing[],
  found: readonly DatedPricing[],
): readonly DatedPricing[] | undefined {
  const isFree = found.every(({ above_tokens: _, ...amounts }) => Object.values(amounts).every((usd) => usd === 0));
  if (isFree && current.length === 0) return undefined;
  const sizes = new Set([...current, ...found].map(({ above_tokens = 0 }) => above_tokens));
  return [...sizes].sort((first, second) => first - second).map((size) => {
    const at = (prices: readonly DatedPricing[]) => prices.find(({ above_tokens = 0 }) => above_tokens === size) ?? {};
    const own = at(current);
    const theirs = Object.entries(at(found)).flatMap(([name, amount]) => {
      const ours = own[name as keyof Pricing];
      if (ours === undefined) return amount === 0 ? [] : [[name, amount]];
      return [[name, Math.abs(ours - amount) <= ours / 1000 ? ours : amount]];
    });
    return { ...own, ...Object.fromEntries(theirs) };
  });
}
