/**
 * What was spent per day and client, or team, in the last 90 days: a bar per day, and a table of the sums.
 * @module
 */
import type { RoutingRecord } from "../src/contracts/events.ts";
import { type Connection, ResponseError } from "./connection.ts";
import { byId, choice, el, setText } from "./dom.ts";
import { none, usd } from "./format.ts";
import type { MeshStatus } from "./records.ts";
import { dayName, listDays, type OwnSpend, shownDays, type SpendOwner, type SpendRow, sumSpend } from "./spend_days.ts";

/** Columns of the table: their last days. */
const periods: Readonly<Record<string, number>> = { "Today": 1, "7 days": 7, "30 days": 30, "90 days": shownDays };

/** The section of spending. */
export class Spend {
  readonly #connection: Connection;
  #rows: SpendRow[] = [];
  #by: SpendOwner = "client";
  #problem = "";
  #changes = 0;
  #shown = "";

  constructor(connection: Connection, redraw: () => void) {
    this.#connection = connection;
    choice<SpendOwner>("spend-by", {
      options: { client: "Client", team: "Team" },
      selected: this.#by,
      onChange: (by) => (this.#by = by, this.#changes++, redraw()),
    });
  }

  /**
   * Reads the sums of the days.
   *
   * @param status A proxy without a storage has no such sums.
   */
  async read({ daily_usage: isKept = false }: MeshStatus): Promise<void> {
    this.#changes++;
    this.#rows = [];
    this.#problem = isKept ? "" : "A section “storage” in the configuration keeps what is spent per day.";
    if (!isKept) return;
    try {
      const response = await this.#connection.request("/mesh/usage?by=day,client,team");
      this.#rows = (await response.json()).data;
    } catch (error) {
      if (!(error instanceof ResponseError)) throw error;
      this.#problem = error.message;
    }
  }

  /** Adds a request to the sums, so that they need not be read again. */
  add(record: RoutingRecord): void {
    const { timestamp, cost_usd } = record;
    const [client, team] = [record.client ?? null, record.team ?? null];
    if (this.#problem !== "" || cost_usd === undefined || cost_usd === 0) return;
    this.#changes++;
    const day = dayName(Date.parse(timestamp));
    const index = this.#rows.findIndex((row) => row.day === day && row.client === client && row.team === team);
    const before = this.#rows[index];
    if (before === undefined) this.#rows.push({ day, client, team, cost_usd });
    else this.#rows[index] = { ...before, cost_usd: before.cost_usd + cost_usd };
  }

  /** Shows the sums, if they have changed. */
  draw(now: number): void {
    const days = listDays(now);
    const shown = `${days.at(-1)} ${this.#changes}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    byId("spend-by").hidden = this.#rows.every(({ team }) => team === null);
    const by = byId("spend-by").hidden ? "client" : this.#by;
    const clients = sumSpend(this.#rows, days, by);
    const isEmpty = clients.length === 0;
    byId("spend-scroll").hidden = byId("spend-days").hidden = isEmpty;
    byId("spend-empty").hidden = !isEmpty;
    setText(byId("spend-empty"), this.#problem === "" ? "Nothing was spent." : this.#problem);
    byId("spend-days").replaceChildren(...drawBars(clients, days));
    byId("spend-days").setAttribute("aria-label", describe(clients));
    byId("spend-table").replaceChildren(...drawTable(clients, by));
  }
}

/** One column per day, of a part per owner. */
function drawBars(clients: readonly OwnSpend[], days: readonly string[]): readonly HTMLElement[] {
  const totals = days.map((_, index) => total(clients, index));
  const highest = Math.max(...totals, Number.MIN_VALUE);
  return days.map((day, index) => {
    const column = el("span", { title: `${day}: ${usd(totals[index])}` });
    for (const [color, client] of clients.entries()) {
      const share = client.days[index]! / highest;
      if (share === 0) continue;
      const part = el("i", { "data-color": String(color) });
      part.style.height = `${share * 100}%`;
      column.prepend(part);
    }
    return column;
  });
}

function drawTable(clients: readonly OwnSpend[], by: SpendOwner): readonly HTMLElement[] {
  const header = [by === "client" ? "Client" : "Team", ...Object.keys(periods)].map((name) =>
    el("th", { scope: "col" }, name)
  );
  const rows = clients.map((client, color) => {
    const key = el("span", { class: "swatch", "data-color": String(color), "aria-hidden": "true" });
    const name = client.isOthers ? "Others" : client.name ?? none;
    return el(
      "tr",
      {},
      el("th", { scope: "row", title: name }, key, el("bdi", {}, name)),
      ...Object.values(periods).map((length) => el("td", {}, usd(lastDays(client, length)))),
    );
  });
  const sums = Object.values(periods).map((length) =>
    el("td", {}, usd(clients.reduce((sum, client) => sum + lastDays(client, length), 0)))
  );
  const footer = el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "Total"), ...sums));
  return [el("thead", {}, el("tr", {}, ...header)), el("tbody", {}, ...rows), footer];
}

function describe(clients: readonly OwnSpend[]): string {
  const sum = clients.reduce((all, client) => all + client.total, 0);
  return `Spend per day: ${usd(sum)} in the last ${shownDays} days`;
}

function total(clients: readonly OwnSpend[], index: number): number {
  return clients.reduce((sum, client) => sum + client.days[index]!, 0);
}

function lastDays({ days }: OwnSpend, length: number): number {
  return days.slice(-length).reduce((sum, amount) => sum + amount, 0);
}
