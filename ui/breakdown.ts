/**
 * The table of the traffic by pool, model or client.
 * @module
 */
import { byId, el, setText } from "./dom.ts";
import { count, duration, none, percent, usd } from "./format.ts";
import type { Group, Grouping } from "./series.ts";
import type { Totals } from "./totals.ts";

type Columns = Readonly<Record<string, (totals: Totals) => string>>;

const others: Columns = {
  "Latency p50": ({ latency }) => duration(latency.percentile(0.5)),
  "p95": ({ latency }) => duration(latency.percentile(0.95)),
  "First token p50": ({ firstToken }) => duration(firstToken.percentile(0.5)),
  "Tokens in": ({ tokensIn }) => count(tokensIn),
  "Tokens out": ({ tokensOut }) => count(tokensOut),
  "Cost": ({ costUsd }) => usd(costUsd),
};

/** Of pools and clients. */
const ofRequests: Columns = {
  "Requests": ({ requests }) => count(requests),
  "Errors": ({ failed, requests }) => share(failed, requests),
  "Failed over": ({ saved }) => count(saved),
  ...others,
};

/** Of models: a request that fails over is one of the model that answered, and an attempt of each model that was asked. */
const ofModels: Columns = {
  "Attempts": ({ attempts }) => count(attempts),
  "Failed": ({ failedAttempts, attempts }) => share(failedAttempts, attempts),
  "Served": ({ requests, failed }) => count(requests - failed),
  ...others,
};

function share(part: number, all: number): string {
  return all === 0 ? none : percent(part / all);
}

/** The table; its cells are updated in place, so that a selection of text stays. */
export class Breakdown {
  readonly #header = el("tr");
  readonly #body = el("tbody");

  constructor() {
    const titles = ["", ...Object.keys(ofRequests)].map(() => el("th", { scope: "col" }));
    this.#header.append(...titles);
    byId("table").append(el("thead", {}, this.#header), this.#body);
  }

  /** Shows groups, the busiest first. */
  draw(groups: readonly Group[], by: Exclude<Grouping, "none">): void {
    const columns = by === "model" ? ofModels : ofRequests;
    const titles = [by.charAt(0).toUpperCase() + by.slice(1), ...Object.keys(columns)];
    titles.forEach((title, index) => setText(this.#header.cells[index]!, title));
    byId("table-scroll").hidden = groups.length === 0;
    byId("table-empty").hidden = groups.length > 0;
    while (this.#body.rows.length > groups.length) this.#body.deleteRow(-1);
    groups.forEach((group, index) => show(this.#body.rows[index] ?? this.#addRow(), group, columns));
  }

  #addRow(): HTMLTableRowElement {
    const cells = Object.keys(ofRequests).map(() => el("td"));
    const row = el("tr", {}, el("th", { scope: "row" }, el("bdi")), ...cells);
    this.#body.append(row);
    return row;
  }
}

function show(row: HTMLTableRowElement, { name, total }: Group, columns: Columns): void {
  const [title, ...cells] = row.cells;
  setText(title!.querySelector("bdi")!, name);
  title!.title = name;
  Object.values(columns).forEach((format, index) => setText(cells[index]!, format(total)));
  const failed = columns === ofModels ? total.failedAttempts : total.failed;
  cells[1]!.className = failed > 0 ? "problem" : "";
}
