/**
 * Pools and the states of their models.
 * @module
 */
import { byId, choice, setText } from "./dom.ts";
import { counted } from "./format.ts";
import { PoolCard } from "./pool_card.ts";
import type { MeshStatus } from "./records.ts";
import type { Override } from "./state_row.ts";

/** Up to this number, pools are open at first; on a narrow screen, only a single one. */
const maxOpen = 4;
const narrow = "(max-width: 920px)";

/** The part of the page with the pools. */
export class Pools {
  readonly #override: Override;
  #cards: readonly PoolCard[] = [];
  #shape = "";
  #isStandbyOnly = false;

  constructor(override: Override) {
    this.#override = override;
    choice<"all" | "standby">("pool-filter", {
      options: { all: "All", standby: "With standby" },
      selected: "all",
      onChange: (filter) => {
        this.#isStandbyOnly = filter === "standby";
        this.#filter();
      },
    });
  }

  /** Shows states; elements are made anew only after a change of pools or models. */
  draw({ pools }: Pick<MeshStatus, "pools">, now: number): void {
    const entries = Object.entries(pools);
    const shape = JSON.stringify(entries.map(([name, { models }]) => [name, models.map(({ name }) => name)]));
    if (shape !== this.#shape) this.#build(pools);
    this.#shape = shape;
    entries.forEach(([, pool], index) => this.#cards[index]!.update(pool, now));
    this.#filter();
  }

  #build(pools: MeshStatus["pools"]): void {
    const entries = Object.entries(pools);
    const isOpen = entries.length <= (matchMedia(narrow).matches ? 1 : maxOpen);
    this.#cards = entries.map(([name, pool]) => new PoolCard(name, pool, { isOpen, override: this.#override }));
    const models = new Set(entries.flatMap(([, { models }]) => models.map(({ name }) => name)));
    setText(byId("pools-about"), `${counted(entries.length, "pool")}, ${counted(models.size, "model")}`);
    byId("pool-filter").hidden = entries.length <= maxOpen;
    byId("pools").replaceChildren(...this.#cards.map(({ element }) => element));
  }

  #filter(): void {
    for (const { element, isActive: isWhole } of this.#cards) element.hidden = this.#isStandbyOnly && isWhole;
    const isEmpty = this.#cards.every(({ element }) => element.hidden);
    const text = this.#cards.length === 0 ? "No pool is configured." : isEmpty ? "No model is in standby." : "";
    setText(byId("pools-empty"), text);
  }
}
