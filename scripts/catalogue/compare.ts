/**
 * What differs between a list of the catalogue and the public sources.
 * @module
 */
import type { CatalogueEntry } from "../../connectors/providers/_catalogue.ts";
import type { DatedPricing, Pricing } from "../../src/contracts/provider.ts";
import { priceAt } from "../../src/util/cost.ts";
import type { SourceModel, SourceModels } from "./source.ts";
import type { VendorList } from "./vendors.ts";

/** What the sources have, by their names. */
export type Found = ReadonlyMap<string, SourceModels>;

/** Facts that are compared. */
export type Fact = "pricing" | "window" | "maxOutput" | "retires";

/** A fact that a source has otherwise. */
export interface Change {
  readonly id: string;
  readonly fact: Fact;
  /** What is built in. */
  readonly builtIn: unknown;
  /** What each source has instead, by its name; one that has what is built in is listed too. */
  readonly found: Readonly<Record<string, unknown>>;
  /** What to write: given when all sources that know the fact have the same, two of them or the one that the entry is from. */
  readonly agreed?: unknown;
}

/** What was found out about a list. */
export interface Comparison {
  readonly file: string;
  /** Ids that only sources have, and which. */
  readonly added: readonly { readonly id: string; readonly sources: readonly string[] }[];
  readonly changed: readonly Change[];
  /** Ids that no source has any more, though one of them is where they come from. */
  readonly gone: readonly string[];
  /** Ids whose facts all sources confirm that have them, and which these are. */
  readonly confirmed: readonly { readonly id: string; readonly sources: readonly string[] }[];
  /** Ids whose facts are newer than the sources: they were not compared. */
  readonly newer: readonly string[];
}

/**
 * Compares a list.
 *
 * @param list The list.
 * @param found What the sources have.
 * @param options `date`: ISO date on which the sources were read; `others`: further lists of the same provider, whose
 *   models are not new.
 */
export function compare(
  list: VendorList,
  found: Found,
  { date, others = [] }: { readonly date: string; readonly others?: readonly VendorList[] },
): Comparison {
  const known = modelsFor(list, found);
  const own = new Set([list, ...others].flatMap(({ entries }) => entries).map(({ id }) => id));
  const added = [...known].filter(([id]) => !own.has(id)).map(([id, models]) => ({ id, sources: [...models.keys()] }));
  const newer = list.entries.filter(({ source }) => source[1] > date);
  const gone = list.entries.filter((entry) =>
    !known.has(entry.id) && !newer.includes(entry) && wasListed(entry, found)
  );
  const compared = list.entries.filter((entry) => known.has(entry.id) && !newer.includes(entry));
  const changes = compared.map((entry) => changesOf(entry, known.get(entry.id)!, date));
  return {
    file: list.file,
    added,
    changed: changes.flat(),
    gone: gone.map(({ id }) => id),
    confirmed: compared.flatMap(({ id, pricing }, index) => {
      const sources = [...known.get(id)!].flatMap(([source, model]) => model.pricing === undefined ? [] : source);
      return pricing === null || sources.length === 0 || changes[index]!.length > 0 ? [] : { id, sources };
    }),
    newer: newer.map(({ id }) => id),
  };
}

/** An entry that has its facts elsewhere, such as from the vendor's own page, need not be in any list. */
function wasListed({ source: [name] }: CatalogueEntry, found: Found): boolean {
  return name.split(", ").some((source) => found.has(source));
}

/** Every model of a provider that a source has, by id, by source. */
function modelsFor({ names }: VendorList, found: Found): Map<string, Map<string, SourceModel>> {
  const models = new Map<string, Map<string, SourceModel>>();
  for (const [source, providers] of Object.entries(names)) {
    for (const model of providers.flatMap((provider) => found.get(source)?.get(provider) ?? [])) {
      models.set(model.id, (models.get(model.id) ?? new Map()).set(source, model));
    }
  }
  return models;
}

function changesOf(entry: CatalogueEntry, models: ReadonlyMap<string, SourceModel>, date: string): Change[] {
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
    const texts = new Set(values.map(([, value]) => JSON.stringify(value)));
    if (texts.size === 0 || (texts.size === 1 && texts.has(JSON.stringify(builtIn)))) return [];
    const isAgreed = texts.size === 1 && isEnough(entry, values.map(([source]) => source));
    const found = Object.fromEntries(values);
    return [{ id: entry.id, fact, builtIn, found, ...(isAgreed ? { agreed: values[0]![1] } : {}) }];
  });
}

/** One source changes what it is the source of; what another one has, only two of them do. */
function isEnough({ source: [name] }: CatalogueEntry, sources: readonly string[]): boolean {
  return sources.length > 1 || sources.some((source) => name.split(", ").includes(source));
}

/** Sources round sizes, or count in thousands of 1,024: what differs by less than a twentieth is the same. */
function closeTo(own: number | undefined, found: number | undefined): number | undefined {
  if (own === undefined || found === undefined) return undefined;
  return Math.abs(own - found) < own / 20 ? own : found;
}

/** The prices of a day, from small prompts to large ones, without their start. */
function currentPrices(pricing: readonly DatedPricing[], now: number): DatedPricing[] {
  const sizes = [0, ...new Set(pricing.flatMap(({ above_tokens = [] }) => above_tokens))];
  return sizes.flatMap((size) => {
    const { from: _, ...price } = priceAt(pricing, now, size === 0 ? 0 : size + 1) ?? {};
    return Object.keys(price).length === 0 || (price.above_tokens ?? 0) !== size ? [] : [price];
  });
}

/**
 * What is built in, with what a source has of it; undefined when that is no price. An amount of 0 says that a model is
 * not billed by that unit, save where all it has are such amounts; even then 0 is not taken for a price that is unknown.
 */
function mergedPrices(
  current: readonly DatedPricing[],
  found: readonly DatedPricing[],
): readonly DatedPricing[] | undefined {
  const isFree = found.every(({ above_tokens: _, ...amounts }) => Object.values(amounts).every((usd) => usd === 0));
  if (isFree && current.length === 0) return undefined;
  const sizes = new Set([...current, ...found].map(({ above_tokens = 0 }) => above_tokens));
  return [...sizes].sort((one, other) => one - other).map((size) => {
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
