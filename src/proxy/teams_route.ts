/**
 * `/mesh/teams`: the teams of the configuration, for administrators.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import type { BudgetWindow } from "../state/limits/budget.ts";
import { groupBy } from "../util/entries.ts";
import type { Exchange } from "./exchange.ts";
import { json } from "./json.ts";

/** Lists the teams: their limits, what they have spent, and their requests in flight. */
export function listTeams({ mesh, proxy, runtimeClients, headers }: Exchange): PlainResponse {
  const { state: { scopes }, runtime: { clock } } = mesh;
  const clients = groupBy([...proxy.clients, ...runtimeClients?.document.clients ?? []], ({ team }) => team);
  const data = (scopes?.teams ?? []).map(({ identity: { key }, pools, limits, budget, inFlight }) => {
    const { rpm, tpm, concurrent } = limits;
    return {
      name: key,
      ...(pools && { pools: [...pools] }),
      limits: { rpm, tpm, concurrent },
      budgets: budget?.windows(clock.now()).map(toShownWindow) ?? [],
      in_flight: inFlight,
      clients: clients.get(key)?.length ?? 0,
    };
  });
  return json({ object: "list", data }, { headers });
}

function toShownWindow({ window, spent, limit, reserved, end }: BudgetWindow) {
  return {
    window,
    spent_usd: spent / 1e9,
    limit_usd: limit / 1e9,
    reserved_usd: reserved / 1e9,
    resets_at: new Date(end).toISOString(),
  };
}
