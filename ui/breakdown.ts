/**
 * The table of the traffic by pool, model or client.
 * @module
 */
import { byId, el, setText } from "./dom.ts";
import { count, duration, percent, usd } from "./format.ts";
import type { Group, Grouping } from "./series.ts";
import type { Totals } from "./totals.ts";

const columns: Readonly<Record<string, (totals: Totals) => string>> = {
  "Requests": ({ requests }) => count(requests),
  "Errors": ({ failed, requests }) => percent(failed / requests),
  "Failed over": ({ saved }) => count(saved),
  "Latency p50": ({ latency }) => duration(latency.percentile(0.5)),
  "p95": ({ latency }) => duration(latency.percentile(0.95)),
  "First token p50": ({ firstToken }) => duration(firstToken.percentile(0.5)),
  "Tokens in": ({ tokensIn }) => count(tokensIn),
  "Tokens out": ({ tokensOut }) => count(tokensOut),
  "Cost": ({ costUsd }) => usd(costUsd),
};

/** The table; its cells are updated in place, so that a selection of text stays. */
export class Breakdown {
  readonly #title = el("th", { scope: "col" });
  readonly #body = el("tbody");

  constructor() {
    const header = Object.keys(columns).map((name) => el("th", { scope: "col" }, name));
    byId("table").append(el("thead", {}, el("tr", {}, this.#title, ...header)), this.#body);
  }

  /** Shows groups, the busiest first. */
  draw(groups: readonly Group[], by: Exclude<Grouping, "none">): void {
    setText(this.#title, by.charAt(0).toUpperCase() + by.slice(1));
    byId("table-scroll").hidden = groups.length === 0;
    byId("table-empty").hidden = groups.length > 0;
    while (this.#body.rows.length > groups.length) this.#body.deleteRow(-1);
    groups.forEach((group, index) => show(this.#body.rows[index] ?? this.#addRow(), group));
  }

  #addRow(): HTMLTableRowElement {
    const row = el("tr", {}, el("th", { scope: "row" }, el("bdi")), ...Object.keys(columns).map(() => el("td")));
    this.#body.append(row);
    return row;
  }
}

function show(row: HTMLTableRowElement, { name, total }: Group): void {
  const [title, ...cells] = row.cells;
  setText(title!.querySelector("bdi")!, name);
  title!.title = name;
  Object.values(columns).forEach((format, index) => setText(cells[index]!, format(total)));
  cells[1]!.className = total.failed > 0 ? "problem" : "";
}
