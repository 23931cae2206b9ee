/**
 * The processes that share a storage: a choice among them, and what each has done. Charts and decisions are those of
 * the process that the page is connected to.
 * @module
 */
import type { ProcessRecord } from "../src/proxy/processes/process_record.ts";
import { type Connection, ResponseError } from "./connection.ts";
import { byId, el, setText } from "./dom.ts";
import { count, none, percent, rate, span, usd } from "./format.ts";
import type { MeshStatus } from "./records.ts";
import { showTiles } from "./tiles.ts";

/** How often the list is read while the page is seen, ms: each process writes its record as often. */
const intervalMs = 10_000;

const all = "all";

type Sums = Pick<
  ProcessRecord,
  "in_flight" | "requests_per_minute" | "requests" | "failed" | "tokens_in" | "tokens_out" | "cost_usd"
>;

const members = [
  "in_flight",
  "requests_per_minute",
  "requests",
  "failed",
  "tokens_in",
  "tokens_out",
  "cost_usd",
] as const;

/** The choice of a process. */
export class Processes {
  readonly #connection: Connection;
  readonly #select = byId<HTMLSelectElement>("process");
  #records: readonly ProcessRecord[] = [];
  #shape = "";
  /** Whether this proxy has such a list, and this token may read it. */
  #isListed = false;
  /** That whose records are read. */
  #current = "";
  #selected = "";

  constructor(connection: Connection, redraw: () => void) {
    this.#connection = connection;
    this.#select.addEventListener("change", () => (this.#selected = this.#select.value, redraw()));
    setInterval(() => {
      if (!this.#isListed || document.hidden) return;
      this.#read().then(redraw, () => {}); // a lost connection ends the stream, too, and is shown then
    }, intervalMs);
  }

  /** Reads the list, if there is one. */
  async read({ role, process }: MeshStatus): Promise<void> {
    this.#isListed = role !== "client" && process !== undefined;
    if (this.#isListed) await this.#read();
  }

  /** Receives the id of the process whose records are read. */
  set current(id: string) {
    this.#current = id;
  }

  /** Shows the choice, and the figures of what is chosen. */
  draw(now: number): void {
    const chosen = this.#records.find(({ id }) => id === this.#selected);
    if (chosen === undefined && this.#selected !== all) this.#selected = this.#current;
    const isAlone = this.#records.length < 2;
    const isOwn = isAlone || this.#selected === this.#current;
    byId("processes").hidden = isAlone;
    document.body.dataset.process = isOwn ? "own" : this.#selected === all ? all : "other";
    if (isAlone) return;
    this.#drawOptions();
    const sums = add(chosen === undefined ? this.#records : [chosen]);
    setText(byId("process-about"), this.#describe(chosen, now));
    byId("process-tiles").hidden = isOwn;
    if (!isOwn) showTiles(toTiles(sums), "process-tiles");
    byId("process-scroll").hidden = this.#selected !== all;
    if (this.#selected === all) byId("process-table").replaceChildren(...drawTable(this.#records, now));
  }

  async #read(): Promise<void> {
    try {
      this.#records = (await (await this.#connection.request("/mesh/processes")).json()).data;
    } catch (error) {
      if (!(error instanceof ResponseError)) throw error;
      this.#records = []; // the storage is out of reach
    }
  }

  #drawOptions(): void {
    const entries: readonly (readonly [string, string])[] = [
      [all, `All ${this.#records.length} processes`],
      ...this.#records.map((record): [string, string] => {
        const isCurrent = record.id === this.#current;
        return [record.id, isCurrent ? `${getName(record)}, this page's` : getName(record)];
      }),
    ];
    const shape = JSON.stringify(entries);
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#select.replaceChildren(...entries.map(([value, text]) => el("option", { value }, text)));
    }
    this.#select.value = this.#selected;
  }

  #describe(chosen: ProcessRecord | undefined, now: number): string {
    if (this.#selected === this.#current) return "";
    if (chosen === undefined) {
      return "Sums since the start of each process. Charts and decisions are those of this page's process.";
    }
    const { version, started_at, seen_at } = chosen;
    const age = span(Math.max(0, now - Date.parse(seen_at)));
    return `Version ${version}, up for ${
      span(now - Date.parse(started_at))
    }, as of ${age} ago. Its charts and decisions are on its own page.`;
  }
}

function add(records: readonly ProcessRecord[]): Sums {
  const sums = members.map((name) => [name, records.reduce((sum, record) => sum + record[name], 0)]);
  return Object.fromEntries(sums) as Sums;
}

function toTiles({ in_flight, requests_per_minute, requests, failed, tokens_in, tokens_out, cost_usd }: Sums) {
  return {
    "In flight": { value: count(in_flight), detail: "requests" },
    "Requests per minute": { value: rate(requests_per_minute), detail: "in the last minute" },
    "Requests": { value: count(requests), detail: "since the start" },
    "Error rate": {
      value: requests === 0 ? none : percent(failed / requests),
      detail: `${count(failed)} of ${count(requests)}`,
      tone: failed > 0 ? "bad" as const : undefined,
    },
    "Tokens": { value: count(tokens_in + tokens_out), detail: `${count(tokens_in)} in, ${count(tokens_out)} out` },
    "Cost": { value: usd(cost_usd), detail: "since the start" },
  };
}

function drawTable(records: readonly ProcessRecord[], now: number): readonly HTMLElement[] {
  const titles = ["Process", "Up for", "In flight", "Requests per minute", "Requests", "Errors", "Tokens", "Cost"];
  const rows = records.map((record) => {
    const { started_at, in_flight, requests_per_minute, requests, failed, tokens_in, tokens_out, cost_usd } = record;
    const cells = [
      span(now - Date.parse(started_at)),
      count(in_flight),
      rate(requests_per_minute),
      count(requests),
      requests === 0 ? none : percent(failed / requests),
      count(tokens_in + tokens_out),
      usd(cost_usd),
    ];
    const name = el("th", { scope: "row", title: record.id }, el("bdi", {}, getName(record)));
    return el("tr", {}, name, ...cells.map((text) => el("td", {}, text)));
  });
  const header = el("tr", {}, ...titles.map((title) => el("th", { scope: "col" }, title)));
  return [el("thead", {}, header), el("tbody", {}, ...rows)];
}

/** Its address, or the first digits of its id. */
function getName({ id, address }: ProcessRecord): string {
  return address ?? `Process ${id.slice(0, 8)}`;
}
