/**
 * What a running proxy says of itself: `/metrics`, `/mesh/status`, `/mesh/events`.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { metricFamilies } from "../observe/metric_families.ts";
import type { PoolStatus } from "../registry/status.ts";
import { prometheusMediaType, prometheusText } from "../util/prometheus_text.ts";
import { version } from "../version.ts";
import type { Client } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import { json } from "./json.ts";
import type { OwnedRecord } from "./record_ring.ts";

/** What belongs to a caller. */
type Own = Partial<Pick<Client, "name" | "pools">>;

/** Whose own things alone are shown; undefined for an administrator. A token without a name has no requests to show. */
function viewOf({ client, caller }: Exchange): Own | undefined {
  return caller()?.isAdministrator ? undefined : client ?? {};
}

/** The same by the tokens of now; `gone` once the sender's token is not accepted any more. */
function viewNow({ callerNow }: Exchange): Own | undefined | "gone" {
  const caller = callerNow();
  if (caller === undefined) return "gone";
  return caller.isAdministrator ? undefined : caller.client ?? {};
}

/** The aggregator's numbers in Prometheus' text format. */
export function metrics(exchange: Exchange): PlainResponse {
  const { mesh, headers } = exchange;
  const own = viewOf(exchange);
  headers["content-type"] = prometheusMediaType;
  return { status: 200, headers, body: prometheusText(metricFamilies(mesh, own)) };
}

/** States, budgets and clients right now. */
export function status(exchange: Exchange): PlainResponse {
  const { mesh, headers, startedAt } = exchange;
  const { clock } = mesh.runtime;
  const own = viewOf(exchange);
  const pools = Object.entries(mesh.poolStatus()).filter(([name]) => own?.pools?.has(name) ?? true);
  const clients = (mesh.statistics.metrics?.clients() ?? []).filter(({ name }) => !own || name === own.name);
  return json({
    version,
    uptime_seconds: Math.floor((clock.monotonic() - startedAt) / 1000),
    pools: Object.fromEntries(pools),
    providers: providersOf(exchange, pools.map(([, pool]) => pool)),
    budgets: budgetsOf(exchange, own),
    ...(clients.length === 0 ? {} : { clients }),
    in_flight: mesh.statistics.inFlight,
  }, { headers });
}

/** Records as they come, those kept after `Last-Event-ID` first, as long as the token is accepted. */
export function events(exchange: Exchange): PlainResponse {
  const { mesh, headers, request, records, isStopping } = exchange;
  let own = viewNow(exchange);
  headers["content-type"] = "text/event-stream";
  headers["cache-control"] = "no-cache";
  const given = request.headers.get("last-event-id") ?? "";
  const body = records.stream({
    clock: mesh.runtime.clock,
    after: /^\d{1,15}$/.test(given) ? Number(given) : NaN,
    isVisible: (record) => own === undefined || own !== "gone" && isOwn(record, own),
    isStopping: () => {
      own = viewNow(exchange);
      return own === "gone" || isStopping() || request.signal.aborted; // a server ends without its proxy, too
    },
  });
  return { status: 200, headers, body };
}

/** A client's requests are its own, the states of its pools, and its budget. */
function isOwn({ type, event, pool, client, metadata }: OwnedRecord, { name, pools }: Own): boolean {
  if (type !== "event") return client !== undefined && client === name;
  if (event === "budget") return name !== undefined && metadata?.scope === "client" && metadata.id === name;
  return pool !== undefined && (pools?.has(pool) ?? true);
}

/** Each provider with a model in these pools: in standby when all of its models are, for the reason of the first back. */
function providersOf({ mesh }: Exchange, pools: readonly PoolStatus[]) {
  const models = pools.flatMap(({ models }) => models);
  return mesh.registry.instances.flatMap(({ entry: { id } }) => {
    const own = models.filter(({ provider }) => provider === id);
    if (own.length === 0 && pools.length < mesh.registry.pools.length) return [];
    const active = own.filter(({ status }) => status === "active").length;
    const isDown = own.length > 0 && active === 0;
    const [next] = own.toSorted((one, other) => (one.retryAt ?? "~").localeCompare(other.retryAt ?? "~"));
    const why = isDown ? { reason: next?.reason, retry_at: next?.retryAt } : {};
    return { id, status: isDown ? "standby" : "active", ...why, active, total: own.length };
  });
}

/** Every budget once for each of its limits; a client sees its own. */
function budgetsOf({ mesh: { state, runtime: { clock } } }: Exchange, own: Own | undefined) {
  const wall = clock.now();
  const scopes = [...state.members.flatMap(({ state }) => state.tracker.budgetScopes), ...state.budgetScopes];
  return [...new Map(scopes.map(({ id, budget }) => [id, budget]))].flatMap(([key, budget]) => {
    const [, scope = key, id = ""] = /^(\S+) (.*)$/.exec(key) ?? [];
    if (own !== undefined && (scope !== "client" || id !== own.name)) return [];
    return budget.windows(wall).map(({ window, spent, limit, reserved, end }) => ({
      scope,
      id,
      window,
      spent_usd: spent / 1e9,
      limit_usd: limit / 1e9,
      reserved_usd: reserved / 1e9,
      resets_at: new Date(end).toISOString(),
    }));
  });
}
