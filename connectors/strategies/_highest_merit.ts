/**
 * Selection of the candidate with the highest merit.
 * @module
 */
import type { ModelView, SelectionContext } from "../../src/contracts/rotation.ts";

/** Index of a model that no list contains: after all others. */
const last = Infinity;

/** Index in a list, by name. */
type Indexes = ReadonlyMap<string, number>;

const nowhere: Indexes = new Map();
/**
 * Index maps of lists. Lists belong to the configuration and live as long as it: each is indexed once, instead of
 * searched for every candidate.
 */
const readLists = new WeakMap<readonly string[], Indexes>();

/** The merit of a candidate; never `NaN`. `index` is its index among the candidates. */
export type Merit = (candidate: ModelView, context: SelectionContext, index: number) => number;

/**
 * The candidate with the highest merit. Ties are broken by priority, then by configuration order.
 *
 * @param candidates The candidates, in configuration order.
 * @param merit The merit function; a strategy reuses one function, so that selection does not allocate.
 */
export function highestMerit(
  candidates: readonly ModelView[],
  context: SelectionContext,
  merit: Merit,
): ModelView | undefined {
  const models = indexesIn(context.modelPriority);
  const providers = indexesIn(context.providerPriority);
  const isOrdered = models.size > 0 || providers.size > 0;
  let best: ModelView | undefined;
  let highest = -Infinity;
  let bestIndex: number | undefined; // computed only on ties
  for (let index = 0; index < candidates.length; index++) {
    const candidate = candidates[index]!;
    const its = merit(candidate, context, index);
    if (best === undefined || its > highest) {
      best = candidate;
      highest = its;
      bestIndex = undefined;
    } else if (isOrdered && its === highest) {
      bestIndex ??= findPriority(best, models, providers);
      const candidateIndex = findPriority(candidate, models, providers);
      if (candidateIndex >= bestIndex) continue;
      best = candidate;
      bestIndex = candidateIndex;
    }
  }
  return best;
}

function findPriority(view: ModelView, models: Indexes, providers: Indexes): number {
  const model = models.get(view.name);
  if (model !== undefined) return model;
  const provider = providers.get(view.provider);
  return provider === undefined ? last : models.size + provider;
}

function indexesIn(names: readonly string[]): Indexes {
  if (names.length === 0) return nowhere;
  const read = readLists.get(names);
  if (read !== undefined) return read;
  const indexes = new Map<string, number>();
  for (const name of names) if (!indexes.has(name)) indexes.set(name, indexes.size);
  readLists.set(names, indexes);
  return indexes;
}
