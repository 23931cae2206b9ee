/**
 * Providers, budgets and clients.
 * @module
 */
import type { RoutingRecord } from "../src/contracts/events.ts";
import { byId, el, setSpan } from "./dom.ts";
import { count, span, usd, words } from "./format.ts";
import { type Override, overrideButton } from "./pools.ts";
import type { BudgetStatus, ClientTotals, MeshStatus } from "./records.ts";

/** The part of the page with what is accounted. */
export class Accounts {
  readonly #override: Override;
  #shown = "";

  constructor(override: Override) {
    this.#override = override;
  }

  /** Shows it, where it has changed: a button keeps its focus. */
  draw({ providers, budgets, clients = [] }: MeshStatus, now: number): void {
    const shown = JSON.stringify([providers, budgets, clients]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const focused = document.activeElement?.getAttribute("aria-label");
    const groups = [
      group("Providers", providers.map((provider) => this.#provider(provider, now))),
      group("Budgets", budgets.map((budget) => budgetOf(budget, now))),
      group("Clients", clients.map(clientOf)),
    ];
    byId("more").replaceChildren(...groups.flat());
    if (focused) byId("more").querySelector<HTMLElement>(`[aria-label=${JSON.stringify(focused)}]`)?.focus();
  }

  #provider(
    { id, status, reason, retry_at, active, total }: MeshStatus["providers"][number],
    now: number,
  ): HTMLElement {
    const isActive = status === "active";
    const { button, update } = overrideButton("provider", id, this.#override);
    update(isActive);
    const wait = retry_at === undefined ? "" : ` until ${new Date(retry_at).toLocaleTimeString("en-GB")}`;
    const text = isActive ? `${active} of ${total} models active` : `standby: ${words(reason ?? "")}${wait}`;
    const dot = el("span", { class: "dot", "data-tone": isActive ? "good" : "bad" });
    return el(
      "div",
      { class: "model" },
      dot,
      el("span", {}, id),
      button,
      el("small", {}, total === 0 && now ? "no models" : text),
    );
  }
}

/** Adds what a request cost to what was spent before it, so that nothing has to be asked again. */
export function withCost(status: MeshStatus, record: RoutingRecord): MeshStatus {
  const cost = record.cost_usd ?? 0;
  const ids: Record<string, string | null | undefined> = {
    pool: record.pool,
    provider: record.provider,
    client: record.client,
  };
  const concerns = ({ scope, id }: BudgetStatus) => scope === "all" || ids[scope] === id;
  const budgets = status.budgets.map((budget) =>
    concerns(budget) ? { ...budget, spent_usd: budget.spent_usd + cost } : budget
  );
  const clients = status.clients?.map((client) =>
    client.name !== record.client ? client : {
      ...client,
      requests: client.requests + 1,
      tokens_in: client.tokens_in + (record.tokens_in ?? 0),
      tokens_out: client.tokens_out + (record.tokens_out ?? 0),
      cost_usd: client.cost_usd + cost,
    }
  );
  return { ...status, budgets, ...(clients === undefined ? {} : { clients }) };
}

function group(title: string, rows: readonly HTMLElement[]): HTMLElement[] {
  return rows.length === 0 ? [] : [el("div", { class: "group" }, el("h3", {}, title), ...rows)];
}

function budgetOf({ scope, id, window, spent_usd, limit_usd, resets_at }: BudgetStatus, now: number): HTMLElement {
  const share = limit_usd === 0 ? 1 : spent_usd / limit_usd;
  const bar = el("i", { "data-tone": share >= 1 ? "bad" : share >= 0.8 ? "warn" : "good" });
  setSpan(bar, { share });
  const title = `${id === "" ? "all requests" : `${scope} ${id}`}, ${window}`;
  const left = Date.parse(resets_at) - now;
  return el(
    "div",
    {},
    el("div", { class: "fact" }, el("span", {}, title), el("span", {}, `${usd(spent_usd)} of ${usd(limit_usd)}`)),
    el("span", { class: "track", title: `begins anew in ${span(left)}` }, bar),
  );
}

function clientOf({ name, requests, tokens_in, tokens_out, cost_usd }: ClientTotals): HTMLElement {
  const text = `${count(requests)} req · ${count(tokens_in + tokens_out)} tok · ${usd(cost_usd)}`;
  return el("div", { class: "fact" }, el("span", {}, name), el("span", { class: "muted" }, text));
}
