/**
 * One pool: how many of its models are active, which one is in standby, and each model when it is opened.
 * @module
 */
import type { ModelStatus, PoolStatus } from "../src/registry/status.ts";
import { el, setText } from "./dom.ts";
import { span, words } from "./format.ts";
import { type Override, type StateRow, stateRow } from "./state_row.ts";
import { isPaused } from "./summary.ts";

/** Pools of up to this number of models show a dot for each. */
const maxDots = 16;

/** A pool of the page. */
export class PoolCard {
  readonly element: HTMLDetailsElement;
  readonly #override: Override;
  readonly #badge = el("span", { class: "badge" });
  readonly #dots: readonly HTMLElement[];
  readonly #standby = el("small", { class: "why" });
  readonly #list = el("ul", { class: "models" });
  #rows: readonly StateRow[] = [];
  #shown: (readonly [pool: PoolStatus, now: number]) | undefined;

  constructor(
    name: string,
    { capability, strategy, models }: PoolStatus,
    { isOpen, override }: { readonly isOpen: boolean; readonly override: Override },
  ) {
    this.#override = override;
    this.#dots = models.length > maxDots ? [] : models.map(({ name }) => el("span", { class: "dot", title: name }));
    const leaf = capability?.split(".").at(-1);
    const about = [shortenStrategy(strategy), leaf === name ? "" : leaf].filter(Boolean).join(" · ");
    const summary = el(
      "summary",
      {},
      el("b", {}, name),
      this.#badge,
      el("small", { class: "muted", title: capability ?? "" }, about),
      el("span", { class: "dots", "aria-hidden": "true" }, ...this.#dots),
      this.#standby,
    );
    this.element = el("details", { class: "pool", open: isOpen }, summary, this.#list);
    this.element.addEventListener("toggle", () => this.#shown && this.update(...this.#shown));
  }

  /** Whether no model is in standby. */
  get isActive(): boolean {
    return this.#badge.dataset.tone === "good";
  }

  /** Shows states. */
  update(pool: PoolStatus, now: number): void {
    this.#shown = [pool, now];
    const { active, total, models } = pool;
    const state = total === 0 || active > 0 ? undefined : isPaused(pool, now) ? "rate limited" : "down";
    this.#badge.dataset.tone = state === "down" ? "bad" : active < total ? "warn" : "good";
    const text = `${active} of ${total} active`;
    setText(this.#badge, total === 0 ? "no models" : state === undefined ? text : `${state}, ${text}`);
    this.#dots.forEach((dot, index) => dot.dataset.tone = models[index]!.status === "active" ? "good" : "warn");
    setText(this.#standby, this.element.open ? "" : standbyText(models, now));
    if (this.element.open) this.#updateRows(models, now);
  }

  /** The rows are made when the pool is opened: most pools of many never are. */
  #updateRows(models: readonly ModelStatus[], now: number): void {
    if (this.#rows.length === 0) {
      this.#rows = models.map(({ name }) => stateRow({ kind: "model", name }, this.#override));
      this.#list.replaceChildren(...this.#rows.map(({ element }) => element));
    }
    models.forEach(({ provider, status, reason, since, retryAt }, index) => {
      const state = { isActive: status === "active", active: `active · ${provider}`, reason, since, retryAt };
      this.#rows[index]!.update(state, now);
    });
  }
}

/** The model that recovers first, and how many others are in standby. */
function standbyText(models: readonly ModelStatus[], now: number): string {
  const standby = models.filter(({ status }) => status === "standby");
  const [first, ...others] = standby.toSorted((model, other) => getStandbyEnd(model) - getStandbyEnd(other));
  if (first === undefined) return "";
  const recovery = getStandbyEnd(first) === Infinity ? "" : `, recovers in ${span(getStandbyEnd(first) - now)}`;
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  return `${first.name}: ${words(first.reason ?? "standby")}${recovery}${more}`;
}

function getStandbyEnd({ retryAt }: ModelStatus): number {
  return retryAt === undefined ? Infinity : Date.parse(retryAt);
}

/** `mesh.round-robin.v1` as `round-robin`. */
function shortenStrategy(strategy: string): string {
  return strategy.replace(/^mesh\.(.*)\.v\d+$/, "$1");
}
