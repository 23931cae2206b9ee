/**
 * Turns in proportion to weights: what round-robin and load-balanced share.
 * @module
 */
import type { ModelView, SelectionContext } from "../../src/contracts/rotation.ts";
import { type Note, Notes } from "./_notes.ts";
import { fittest, type Merit } from "./_fittest.ts";
import { priority } from "./_priority.ts";

/** Turns are counted in binary fractions; differences this small are none. */
const precision = 1e9;
/** Decides between equals, and never more than that. */
const tieBreak = 1e-10;
/** Below what any model is owed: those without a share. */
const withoutShare = -1000;

/** Sums of shares stay numbers. */
const largestShare = 1e12;

/** The share of a candidate, 0 or more; those of 0 have a turn only when no candidate has more. */
export type Share = (candidate: ModelView) => number;

/** The turns a model is owed. All add up to nought. */
interface Account extends Note {
  owed: number;
  share: number;
}

/**
 * Smooth weighted turns. Each turn is dealt out among the candidates by share, and goes to the one that is owed
 * most: at any moment each has had its due, give or take a turn, and heavy ones do not come in bursts. An absent
 * model is owed nothing for its absence. After the smooth weighted balancing of nginx
 * (`ngx_http_upstream_round_robin.c`),
 * with shares of one turn in place of whole weights, so that a share may change from turn to turn.
 */
export class Turns {
  readonly #accounts = new Notes<Account>((name) => ({ name, owed: 0, share: 0 }));
  #row: readonly Account[] = [];
  readonly #merit: Merit = (_candidate, _context, place) =>
    Math.round(this.#row[place]!.owed * precision) +
    (this.#row[place]!.share > 0 ? 0 : withoutShare * precision);

  /**
   * Whose turn it is; it counts as taken.
   *
   * @param candidates Who is there.
   * @param context Priorities decide between equals.
   * @param share How the turn is dealt out.
   */
  take(candidates: readonly ModelView[], context: SelectionContext, share: Share): ModelView | undefined {
    const row = this.#row = this.#accounts.on(candidates);
    const total = this.#weigh(candidates, share);
    if (!(total > 0)) return candidates.length === 0 ? undefined : this.take(candidates, context, one);
    const chosen = fittest(candidates, context, this.#merit);
    for (let place = 0; place < candidates.length; place++) {
      const account = row[place]!;
      account.owed += account.share / total - (candidates[place] === chosen ? 1 : 0);
    }
    return chosen;
  }

  /**
   * The turns a candidate is owed, and a little for its priority.
   *
   * @param candidate The model.
   * @param context Its priority.
   * @param hasShare Whether it has any.
   */
  score(candidate: ModelView, context: SelectionContext, hasShare: boolean): number {
    const owed = this.#accounts.of(candidate.name)?.owed ?? 0;
    return Math.round(owed * precision) / precision + (hasShare ? 0 : withoutShare) +
      tieBreak * priority(candidate, context);
  }

  #weigh(candidates: readonly ModelView[], share: Share): number {
    let total = 0;
    for (let place = 0; place < candidates.length; place++) {
      const its = Math.min(share(candidates[place]!), largestShare);
      this.#row[place]!.share = its;
      total += its;
    }
    return total;
  }
}

const one: Share = () => 1;
