/**
 * Providers and their states.
 * @module
 */
import { byId } from "./dom.ts";
import { counted, words } from "./format.ts";
import type { MeshStatus, ProviderStatus } from "./records.ts";
import { type Override, type StateRow, stateRow } from "./state_row.ts";

/** The part of the page with the providers. */
export class Providers {
  readonly #override: Override;
  #rows = new Map<string, StateRow>();

  constructor(override: Override) {
    this.#override = override;
  }

  /** Shows states; rows are made anew only after a change of providers. */
  draw({ providers }: Pick<MeshStatus, "providers">, now: number): void {
    const ids = providers.map(({ id }) => id);
    if (ids.join("\n") !== [...this.#rows.keys()].join("\n")) this.#build(ids);
    for (const provider of providers) this.#rows.get(provider.id)!.update(describeProvider(provider), now);
  }

  #build(ids: readonly string[]): void {
    this.#rows = new Map(
      ids.map((id) => [id, stateRow({ kind: "provider", name: id }, this.#override)]),
    );
    byId("providers").replaceChildren(...[...this.#rows.values()].map(({ element }) => element));
  }
}

function describeProvider({ status, reason, retry_at, last_error: error, active, total }: ProviderStatus) {
  const counts = total === 0 ? "no model in a pool" : `${active} of ${counted(total, "model")} active`;
  const text = error === undefined ? counts : `${counts}; last call: ${words(error.kind)} ${error.status ?? ""}`.trim();
  return { isActive: status === "active", active: text, reason, retryAt: retry_at };
}
