/**
 * Budgets and clients: what was spent, and by whom.
 * @module
 */
import type { RoutingRecord } from "../src/contracts/events.ts";
import { byId, el, setSpan } from "./dom.ts";
import { count, counted, percent, span, usd, words } from "./format.ts";
import type { BudgetStatus, ClientTotals, MeshStatus } from "./records.ts";

/** A budget's share of its limit from which on it is shown as a warning. */
const warnAt = 0.8;

/** Shows budgets and clients. */
export function showAccounts({ budgets, clients = [] }: MeshStatus, now: number): void {
  byId("budgets").replaceChildren(...budgets.map((budget) => budgetRow(budget, now)));
  byId("budgets-title").hidden = budgets.length === 0;
  byId("clients").replaceChildren(...clients.map(clientRow));
  byId("clients-title").hidden = clients.length === 0;
}

/** Adds the cost of a request to the last known sums, so that the page need not read them again. */
export function withCost(status: MeshStatus, record: RoutingRecord): MeshStatus {
  const cost = record.cost_usd ?? 0;
  const ids: Record<string, string | null | undefined> = {
    pool: record.pool,
    provider: record.provider,
    client: record.client_id ?? record.client,
  };
  const concerns = ({ scope, id }: BudgetStatus) => scope === "all" || ids[scope] === id;
  const budgets = status.budgets.map((budget) =>
    concerns(budget) ? { ...budget, spent_usd: budget.spent_usd + cost } : budget
  );
  const clients = status.clients?.map((client) =>
    (client.id ?? client.name) !== ids.client ? client : {
      ...client,
      requests: client.requests + 1,
      tokens_in: client.tokens_in + (record.tokens_in ?? 0),
      tokens_out: client.tokens_out + (record.tokens_out ?? 0),
      cost_usd: client.cost_usd + cost,
    }
  );
  return { ...status, budgets, ...(clients === undefined ? {} : { clients }) };
}

function budgetRow(budget: BudgetStatus, now: number): HTMLElement {
  const { scope, id, name = id, window, spent_usd, limit_usd, resets_at } = budget;
  const share = limit_usd === 0 ? 1 : spent_usd / limit_usd;
  const tone = share >= 1 ? "bad" : share >= warnAt ? "warn" : "good";
  const bar = el("i", { "data-tone": tone });
  setSpan(bar, { share });
  const title = `${id === "" ? "All requests" : `${scope} ${name}`}, ${words(window)}`;
  const left = Date.parse(resets_at) - now;
  const state = share >= 1 ? "used up" : `${percent(share)} used`;
  return el(
    "li",
    {},
    el("div", { class: "fact" }, el("span", {}, title), el("span", {}, `${usd(spent_usd)} of ${usd(limit_usd)}`)),
    el("span", { class: "track" }, bar),
    el(
      "small",
      { class: "fact muted" },
      el("span", { "data-tone": tone }, state),
      el("span", {}, `resets in ${span(left)}`),
    ),
  );
}

function clientRow({ name, requests, tokens_in, tokens_out, cost_usd }: ClientTotals): HTMLElement {
  const sums = `${counted(requests, "request")} · ${count(tokens_in + tokens_out)} tokens`;
  return el(
    "li",
    {},
    el("div", { class: "fact" }, el("span", {}, name), el("span", {}, usd(cost_usd))),
    el("small", { class: "muted" }, sums),
  );
}
