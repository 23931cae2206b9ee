/**
 * Pools and their models: state, reason, and when a model is reconsidered.
 * @module
 */
import type { ModelStatus } from "../src/registry/status.ts";
import { byId, el, setSpan, setText } from "./dom.ts";
import { span, words } from "./format.ts";
import type { MeshStatus } from "./records.ts";

/** Pools up to this number are open at first. */
const maxOpen = 4;

/** Deactivates or activates. */
export type Override = (action: "activate" | "deactivate", target: Readonly<Record<string, string>>) => void;

/** A model's row. */
interface Row {
  readonly element: HTMLElement;
  readonly update: (status: ModelStatus, now: number) => void;
}

/** A button, and what fits it to a state. */
interface OverrideButton {
  readonly button: HTMLElement;
  readonly update: (isActive: boolean) => void;
}

/** A button that deactivates or activates, as the state is. */
export function overrideButton(kind: "model" | "provider", name: string, override: Override): OverrideButton {
  const button = el("button", { type: "button", class: "small" });
  const update = (isActive: boolean) => {
    const action = isActive ? "deactivate" : "activate";
    if (button.dataset.action === action) return;
    button.dataset.action = action;
    setText(button, isActive ? "Deactivate" : "Activate");
    button.setAttribute("aria-label", `${button.textContent} ${kind} ${name}`);
  };
  button.addEventListener("click", () => override(button.dataset.action as "activate", { [kind]: name }));
  return { button, update };
}

/** The part of the page with the pools. */
export class Pools {
  readonly #override: Override;
  readonly #host = byId("pools");
  #rows = new Map<string, Row>();
  #badges = new Map<string, HTMLElement>();
  #shape = "";

  constructor(override: Override) {
    this.#override = override;
  }

  /** Shows states; elements are made anew only where pools or models are others. */
  draw({ pools }: Pick<MeshStatus, "pools">, now: number): void {
    const shape = JSON.stringify(
      Object.entries(pools).map(([name, { models }]) => [name, models.map(({ name }) => name)]),
    );
    if (shape !== this.#shape) this.#build(pools);
    this.#shape = shape;
    for (const [pool, { active, total, models }] of Object.entries(pools)) {
      const badge = this.#badges.get(pool)!;
      badge.dataset.tone = total === 0 ? "" : active === 0 ? "bad" : active < total ? "warn" : "good";
      const count = `${active} of ${total} active`;
      setText(badge, total === 0 ? "no models" : active === 0 ? `down, ${count}` : count);
      for (const model of models) this.#rows.get(`${pool}\n${model.name}`)!.update(model, now);
    }
  }

  #build(pools: MeshStatus["pools"]): void {
    this.#rows = new Map();
    this.#badges = new Map();
    const entries = Object.entries(pools);
    const cards = entries.map(([name, { capability, strategy, models }]) => {
      const badge = el("span", { class: "badge" });
      this.#badges.set(name, badge);
      const rows = models.map((model) => {
        const row = rowOf(model, this.#override);
        this.#rows.set(`${name}\n${model.name}`, row);
        return row.element;
      });
      const about = [shortOf(strategy), capability !== name && capability].filter(Boolean).join(" · ");
      const summary = el("summary", {}, el("b", {}, name), badge, el("small", {}, about));
      return el(
        "details",
        { class: "pool", open: entries.length <= maxOpen },
        summary,
        el("ul", { class: "models" }, ...rows),
      );
    });
    this.#host.replaceChildren(...(cards.length === 0 ? [el("p", { class: "muted" }, "There is no pool.")] : cards));
  }
}

/** `mesh.round-robin.v1` as `round-robin`. */
function shortOf(strategy: string): string {
  return strategy.replace(/^mesh\.(.*)\.v\d+$/, "$1");
}

function rowOf({ name, provider }: ModelStatus, override: Override): Row {
  const [dot, state, bar] = [el("span", { class: "dot" }), el("small"), el("i")];
  const track = el("span", { class: "track", hidden: true }, bar);
  const { button, update: updateButton } = overrideButton("model", name, override);
  const element = el("li", { class: "model" }, dot, el("span", {}, name), button, state, track);
  const update = ({ status, reason, since, retryAt }: ModelStatus, now: number) => {
    const isActive = status === "active";
    dot.dataset.tone = isActive ? "good" : "bad";
    state.className = isActive ? "" : "why";
    const [start, end] = [Date.parse(since ?? ""), Date.parse(retryAt ?? "")];
    const wait = Number.isNaN(end) ? "" : end > now ? `, back in ${span(end - now)}` : ", about to be back";
    setText(state, isActive ? provider : `standby: ${words(reason ?? "")}${wait}`);
    track.hidden = isActive || Number.isNaN(end) || Number.isNaN(start);
    if (!track.hidden) setSpan(bar, { share: (end - now) / Math.max(1, end - start) });
    updateButton(isActive);
  };
  return { element, update };
}
