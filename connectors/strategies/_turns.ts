/**
 * Smooth weighted round-robin, shared by the round-robin and load-balanced strategies.
 * @module
 */
import type { ModelView, SelectionContext } from "../../src/contracts/rotation.ts";
import { type ModelRecord, ModelRecords } from "./_model_records.ts";
import { highestMerit, type Merit } from "./_highest_merit.ts";
import { priority } from "./_priority.ts";

/** Rounding precision: turns are binary fractions, and smaller differences are noise. */
const precision = 1e9;
/** Breaks ties without outweighing any other difference. */
const tieBreak = 1e-10;
/** Score of models without a share, below all others. */
const withoutShare = -1000;

/** Maximum share, which keeps sums exact. */
const largestShare = 1e12;

/** The share of a candidate, 0 or more. Candidates with share 0 are selected only if no candidate has more. */
export type Share = (candidate: ModelView) => number;

/** The balance of a model, in turns. All balances add up to 0. */
interface TurnAccount extends ModelRecord {
  balance: number;
  share: number;
}

/**
 * Smooth weighted round-robin. Each turn is credited to the candidates by share, and debited to the one with the
 * highest balance. At any moment each model has had its share, within one turn, and models with a high weight are not
 * selected in bursts. An absent model accrues no balance. Based on nginx's algorithm
 * (`ngx_http_upstream_round_robin.c`), with fractional shares of one turn in place of integer weights, so that shares
 * may change between turns.
 */
export class Turns {
  readonly #accounts = new ModelRecords<TurnAccount>((name) => ({ name, balance: 0, share: 0 }));
  #row: readonly TurnAccount[] = [];
  readonly #merit: Merit = (_candidate, _context, index) =>
    Math.round(this.#row[index]!.balance * precision) +
    (this.#row[index]!.share > 0 ? 0 : withoutShare * precision);

  /**
   * Selects the next model and debits the turn.
   *
   * @param context Priorities, which break ties.
   * @param share The share of each candidate.
   */
  take(candidates: readonly ModelView[], context: SelectionContext, share: Share): ModelView | undefined {
    const row = this.#row = this.#accounts.getRecords(candidates);
    const total = this.#weigh(candidates, share);
    if (!(total > 0)) return candidates.length === 0 ? undefined : this.take(candidates, context, equalShare);
    const chosen = highestMerit(candidates, context, this.#merit);
    for (let index = 0; index < candidates.length; index++) {
      const account = row[index]!;
      account.balance += account.share / total - (candidates[index] === chosen ? 1 : 0);
    }
    return chosen;
  }

  /**
   * The balance of a candidate, with a tie-break by priority.
   *
   * @param hasShare Whether its share is greater than 0.
   */
  score(candidate: ModelView, context: SelectionContext, hasShare: boolean): number {
    const balance = this.#accounts.of(candidate.name)?.balance ?? 0;
    return Math.round(balance * precision) / precision + (hasShare ? 0 : withoutShare) +
      tieBreak * priority(candidate, context);
  }

  #weigh(candidates: readonly ModelView[], share: Share): number {
    let total = 0;
    for (let index = 0; index < candidates.length; index++) {
      const its = Math.min(share(candidates[index]!), largestShare);
      this.#row[index]!.share = its;
      total += its;
    }
    return total;
  }
}

const equalShare: Share = () => 1;
