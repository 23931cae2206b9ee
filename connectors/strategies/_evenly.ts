/**
 * The absolute mode of load-balanced: whoever has most room, and turns among equals.
 * @module
 */
import type { ModelView, SelectionContext } from "../../src/contracts/rotation.ts";
import { leftShare } from "./_headroom.ts";
import { type Note, Notes } from "./_notes.ts";
import { fittest, type Merit } from "./_fittest.ts";
import { priority } from "./_priority.ts";

/** Headroom is compared in twentieths of the limit, the last one begun counting whole. */
const steps = 20;
/** What an idle model gains over a busy one: less than a step. */
const idle = 0.02;
/** What a model loses for having been chosen a moment ago: less than a request under way. */
const recent = 1e-9;
/** What priority gains a model that was never chosen: less than all else. */
const tieBreak = 1e-12;

interface Turn extends Note {
  /** Which choice it was, counted from 1; 0 for none yet. */
  last: number;
}

/**
 * Chooses the candidate with the largest share of its limits left. Differences under a twentieth are none, or a
 * request here and there would undo the turns: of those that have about as much, the one with the fewest requests
 * under way is next, then the one whose last turn is longest ago, then priority decides. Who was absent comes back
 * to one turn, not to all it has missed.
 */
export class Evenly {
  readonly #turns = new Notes<Turn>((name) => ({ name, last: 0 }));
  #count = 0;
  #row: readonly Turn[] = [];
  readonly #merit: Merit = (candidate, _, place) => this.#meritOf(candidate, this.#row[place]!.last);

  /** Whose turn it is; it counts as taken. */
  take(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    this.#row = this.#turns.on(candidates);
    const chosen = fittest(candidates, context, this.#merit);
    if (chosen !== undefined) this.#turns.of(chosen.name)!.last = ++this.#count;
    return chosen;
  }

  /** The share left, from 0 to 1 in twentieths, and a little for being idle and for not having had a turn. */
  score(candidate: ModelView, context: SelectionContext): number {
    const last = this.#turns.of(candidate.name)?.last ?? 0;
    return this.#meritOf(candidate, last) + (last === 0 ? tieBreak * priority(candidate, context) : 0);
  }

  #meritOf(candidate: ModelView, last: number): number {
    const room = Math.ceil(leftShare(candidate) * steps) / steps;
    const ease = candidate.inFlight > 0 ? idle / (1 + candidate.inFlight) : idle;
    return room + ease - (last === 0 ? 0 : recent / (1 + this.#count - last));
  }
}
