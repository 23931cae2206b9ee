/**
 * Per-model state of a strategy.
 * @module
 */

import type { ModelView } from "../../src/contracts/rotation.ts";

/** State of one model. */
export interface ModelRecord {
  /** The model's name. */
  readonly name: string;
}

/**
 * The state of every model that was ever a candidate. Looked up by index if the candidates are the same as last time,
 * otherwise by name. Bounded by the number of models.
 */
export class ModelRecords<Kind extends ModelRecord> {
  readonly #byName = new Map<string, Kind>();
  readonly #byIndex: Kind[] = [];
  readonly #make: (name: string) => Kind;

  /** @param make Creates the initial state of a model. */
  constructor(make: (name: string) => Kind) {
    this.#make = make;
  }

  /** Number of models with state. */
  get size(): number {
    return this.#byName.size;
  }

  /**
   * The states of the candidates, at their indexes; created if missing. Valid until the next call. Entries beyond the
   * candidates are stale.
   */
  getRecords(candidates: readonly ModelView[]): readonly Kind[] {
    const row = this.#byIndex;
    for (let index = 0; index < candidates.length; index++) {
      const { name } = candidates[index]!;
      if (row[index]?.name !== name) row[index] = this.#getRecord(name);
    }
    return row;
  }

  /** The state of a model, if any. */
  of(name: string): Kind | undefined {
    return this.#byName.get(name);
  }

  /** All states, including those of absent models. */
  all(): Iterable<Kind> {
    return this.#byName.values();
  }

  #getRecord(name: string): Kind {
    const existing = this.#byName.get(name);
    if (existing !== undefined) return existing;
    const record = this.#make(name);
    this.#byName.set(name, record);
    return record;
  }
}
