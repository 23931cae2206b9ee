/**
 * Applies what the sources agree on to a list.
 * @module
 */
import type { CatalogueEntry } from "../../connectors/providers/_catalogue.ts";
import type { DatedPricing } from "../../src/contracts/provider.ts";
import type { Change, Comparison } from "./compare.ts";
import type { VendorList } from "./vendors.ts";

/**
 * Returns the updated list: changed prices start on the date the sources were read, and entries that the sources
 * confirm get that date; entries from other sources, such as a vendor's page, keep theirs. Models are neither added nor
 * removed.
 *
 * @param date ISO date on which the sources were read.
 */
export function applied(list: VendorList, comparison: Comparison, date: string): readonly CatalogueEntry[] {
  return list.entries.map((entry) => {
    const changes = comparison.changed.filter(({ id, agreed }) => id === entry.id && agreed !== undefined);
    if (changes.length > 0) return changes.reduce((result, change) => withChange(result, change, date), entry);
    const confirmed = comparison.confirmed.find(({ id }) => id === entry.id);
    const names = entry.source[0].split(", ");
    if (confirmed === undefined || !names.every((name) => Object.hasOwn(list.names, name))) return entry;
    return { ...entry, source: [[...new Set([...names, ...confirmed.sources])].join(", "), date] as const };
  });
}

function withChange(entry: CatalogueEntry, { fact, agreed, found }: Change, date: string): CatalogueEntry {
  const source = [Object.keys(found).join(", "), date] as const;
  if (fact !== "pricing") return { ...entry, [fact]: agreed, source };
  const prices = agreed as readonly DatedPricing[];
  if (entry.pricing === null) return { ...entry, pricing: prices, source };
  const before = entry.pricing.filter(({ from = "" }) => from < date);
  const later = entry.pricing.filter(({ from = "" }) => from > date);
  return { ...entry, pricing: [...before, ...prices.map((price) => ({ ...price, from: date })), ...later], source };
}
