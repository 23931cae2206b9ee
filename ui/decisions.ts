/**
 * The stream of routing decisions, changes of state and refusals: the latest first, each request opens to its attempts.
 * @module
 */
import { isFailed, isSaved, type MeshRecord } from "./records.ts";
import { byId, choice, el } from "./dom.ts";
import { decisionRow } from "./decision_row.ts";
import { eventRow } from "./event_row.ts";

/** Records that are kept, and rows that are shown of them. */
const maxKept = 1000;
const maxRows = 120;

type Filter = "all" | "failover" | "error" | "state";

/** The part of the page with the decisions. */
export class Decisions {
  /** The latest last. */
  #kept: MeshRecord[] = [];
  /** Arrived since the list was drawn last. */
  #waiting: MeshRecord[] = [];
  #filter: Filter = "all";
  #search = "";
  #isPaused = false;
  readonly #list = byId("stream");

  constructor() {
    choice<Filter>("filter", {
      options: { all: "All", failover: "Failovers", error: "Errors", state: "States" },
      selected: "all",
      onChange: (filter) => (this.#filter = filter, this.#rebuild()),
    });
    byId<HTMLInputElement>("search").addEventListener("input", ({ target }) => {
      this.#search = (target as HTMLInputElement).value.trim().toLowerCase();
      this.#rebuild();
    });
    const pause = byId("pause");
    pause.addEventListener("click", () => {
      this.#isPaused = !this.#isPaused;
      pause.setAttribute("aria-pressed", String(this.#isPaused));
      if (!this.#isPaused) this.#rebuild();
    });
    byId("held").addEventListener("click", () => this.#rebuild());
  }

  /** Adds records that have arrived; the next {@linkcode draw} shows them. */
  add(records: readonly MeshRecord[]): void {
    this.#waiting.push(...records.filter(isShown));
    if (this.#waiting.length > maxKept) this.#waiting = this.#waiting.slice(-maxKept);
  }

  /** Shows what has arrived, unless the list is paused or a row is open: a row that is being read does not move. */
  draw(): void {
    const arrived = this.#waiting.filter((record) => this.#matches(record));
    const isHeld = this.#isPaused || this.#list.querySelector("details[open]") !== null;
    const held = byId("held");
    held.hidden = !isHeld || arrived.length === 0;
    if (isHeld) {
      const text = `Show ${arrived.length} new`;
      if (held.textContent !== text) held.textContent = text;
      return;
    }
    this.#keep();
    if (arrived.length === 0) return;
    for (const row of this.#list.querySelectorAll(".new")) row.classList.remove("new");
    const rows = arrived.slice(-maxRows).reverse().map((record) => el("li", { class: "new" }, createRow(record)));
    this.#list.prepend(...rows);
    while (this.#list.children.length > maxRows) this.#list.lastElementChild!.remove();
    byId("empty").hidden = true;
  }

  #keep(): void {
    this.#kept = [...this.#kept, ...this.#waiting].slice(-maxKept);
    this.#waiting = [];
  }

  #rebuild(): void {
    this.#keep();
    const shown = this.#kept.filter((record) => this.#matches(record)).slice(-maxRows).reverse();
    this.#list.replaceChildren(...shown.map((record) => el("li", {}, createRow(record))));
    byId("held").hidden = true;
    const empty = byId("empty");
    empty.hidden = shown.length > 0;
    if (this.#kept.length > 0) empty.textContent = "No record matches.";
  }

  #matches(record: MeshRecord): boolean {
    return isOfKind(record, this.#filter) &&
      (this.#search === "" || JSON.stringify(record).toLowerCase().includes(this.#search));
  }
}

function createRow(record: MeshRecord): HTMLElement {
  return record.type === "routing" ? decisionRow(record) : eventRow(record);
}

/** Traces below a warning are left to the log. */
function isShown(record: MeshRecord): boolean {
  return record.type !== "trace" || ["warning", "error", "critical"].includes(record.severity);
}

function isOfKind(record: MeshRecord, filter: Filter): boolean {
  if (filter === "all") return true;
  if (filter === "state") return record.type === "event" || record.type === "trace";
  if (record.type === "routing") return filter === "error" ? isFailed(record) : isSaved(record);
  return filter === "error" && record.type === "log";
}
