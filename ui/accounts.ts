/**
 * Budgets, and the sums of requests that were not read again.
 * @module
 */
import type { RoutingRecord } from "../src/contracts/events.ts";
import { byId, el, setSpan } from "./dom.ts";
import { percent, span, usd, words } from "./format.ts";
import type { BudgetStatus, MeshStatus } from "./records.ts";

/** Budgets that are shown; of more, those of which most is used. */
const maxShown = 40;

/** A budget's share of its limit from which on it is shown as a warning. */
const warnAt = 0.8;

/** Shows budgets. */
export function showBudgets({ budgets }: MeshStatus, now: number): void {
  const most = budgets.length <= maxShown
    ? budgets
    : budgets.toSorted((first, second) => getShare(second) - getShare(first)).slice(0, maxShown);
  byId("budgets").replaceChildren(...most.map((budget) => budgetRow(budget, now)));
  byId("budgets-title").hidden = budgets.length === 0;
}

/** Whether it is the first request of a client since the status was read: its sums and budgets are not known yet. */
export function isOfNewClient({ clients = [] }: MeshStatus, { client, client_id = client }: RoutingRecord): boolean {
  return client_id !== undefined && !clients.some(({ name, id = name }) => id === client_id);
}

/** Adds the cost of a request to the last known sums, so that the page need not read them again. */
export function withCost(status: MeshStatus, record: RoutingRecord): MeshStatus {
  const cost = record.cost_usd ?? 0;
  const ids: Record<string, string | null | undefined> = {
    pool: record.pool,
    provider: record.provider,
    client: record.client_id ?? record.client,
    team: record.team,
  };
  const concerns = ({ scope, id }: BudgetStatus) =>
    scope === "all" || ids[scope] === id || scope === "tag" && record.tags?.includes(id) === true;
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

function getShare({ spent_usd, limit_usd }: BudgetStatus): number {
  return limit_usd === 0 ? 1 : spent_usd / limit_usd;
}

function budgetRow(budget: BudgetStatus, now: number): HTMLElement {
  const { scope, id, name = id, window, timezone, spent_usd, limit_usd, resets_at } = budget;
  const share = getShare(budget);
  const tone = share >= 1 ? "bad" : share >= warnAt ? "warn" : "good";
  const bar = el("i", { "data-tone": tone });
  setSpan(bar, { share });
  const title = `${id === "" ? "All requests" : `${scope} ${name}`}, ${words(window)}${
    timezone === undefined ? "" : ` (${timezone})`
  }`;
  const left = Date.parse(resets_at) - now;
  const state = share >= 1 ? "used up" : `${percent(share)} used, ${usd(limit_usd - spent_usd)} left`;
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
