/**
 * Priority tiers of a pool: the members of its priority lists serve before all others, whatever the strategy.
 * @module
 */
import type { ModelView, SelectionContext, SelectionStrategy } from "../contracts/rotation.ts";

/** The priority lists of a pool; empty when omitted. */
type PriorityLists = Partial<Pick<SelectionContext, "modelPriority" | "providerPriority">>;

/** The candidates of a tier, and what selects one of them. */
interface Tier<View extends ModelView> {
  readonly candidates: readonly View[];
  readonly strategy: SelectionStrategy;
  /** Used when `strategy` selects none. */
  readonly fallback: SelectionStrategy | undefined;
}

const none: readonly string[] = [];

/** A list belongs to the configuration, and lives as long as it: its names are indexed once. */
const readLists = new WeakMap<readonly string[], ReadonlySet<string>>();

/**
 * Returns the tier that serves next: the candidates in a priority list; if there are none, all others, among which the
 * fallback strategy selects if there is one. Without priority lists, all candidates are one tier.
 *
 * @param candidates At least one.
 */
export function findLeadingTier<View extends ModelView>(
  candidates: readonly View[],
  { modelPriority = none, providerPriority = none }: PriorityLists,
  { strategy, fallback }: Pick<Tier<View>, "strategy"> & Partial<Pick<Tier<View>, "fallback">>,
): Tier<View> {
  if (modelPriority.length === 0 && providerPriority.length === 0) return { candidates, strategy, fallback };
  const listed = candidates.filter((view) => isListed(view, { modelPriority, providerPriority }));
  if (listed.length > 0) return { candidates: listed, strategy, fallback };
  return { candidates, strategy: fallback ?? strategy, fallback: strategy };
}

/** Whether a model is in a priority list, itself or by its provider. */
export function isListed(
  { name, provider }: ModelView,
  { modelPriority = none, providerPriority = none }: PriorityLists,
): boolean {
  return toNameSet(modelPriority).has(name) || toNameSet(providerPriority).has(provider);
}

function toNameSet(list: readonly string[]): ReadonlySet<string> {
  let names = readLists.get(list);
  if (names === undefined) {
    names = new Set(list);
    readLists.set(list, names);
  }
  return names;
}
