/**
 * What a strategy remembers of each model.
 * @module
 */

import type { ModelView } from "../../src/contracts/rotation.ts";

/** A strategy's memory of one model. */
export interface Note {
  /** The model's name. */
  readonly name: string;
}

/**
 * A note on every model that was ever a candidate, found by its place where the candidates are the same as last
 * time, else by name. Bounded by the models there are.
 */
export class Notes<Kind extends Note> {
  readonly #byName = new Map<string, Kind>();
  readonly #byPlace: Kind[] = [];
  readonly #make: (name: string) => Kind;

  /** @param make A first note on a model. */
  constructor(make: (name: string) => Kind) {
    this.#make = make;
  }

  /** How many models there are notes on. */
  get size(): number {
    return this.#byName.size;
  }

  /**
   * The notes on the candidates, made where there are none, each at its candidate's place. Good until the next call;
   * what it holds beyond the candidates means nothing.
   */
  on(candidates: readonly ModelView[]): readonly Kind[] {
    const row = this.#byPlace;
    for (let place = 0; place < candidates.length; place++) {
      const { name } = candidates[place]!;
      if (row[place]?.name !== name) row[place] = this.#noteOn(name);
    }
    return row;
  }

  /** The note on a model, where there is one. */
  of(name: string): Kind | undefined {
    return this.#byName.get(name);
  }

  /** All notes, of absent models too. */
  all(): Iterable<Kind> {
    return this.#byName.values();
  }

  #noteOn(name: string): Kind {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const note = this.#make(name);
    this.#byName.set(name, note);
    return note;
  }
}
