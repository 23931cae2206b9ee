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
import type { OwnedRecord } from "./overview/record_ring.ts";
import { recordStream } from "./overview/record_stream.ts";

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
export async function metrics(exchange: Exchange): Promise<PlainResponse> {
  const { mesh, headers, overview } = exchange;
  const own = viewOf(exchange);
  const { families, inFlight, lost } = await overview.read("families");
  const measured = {
    statistics: { metrics: { families: () => families }, inFlight },
    hub: { lost: new Map(lost) },
    poolStatus: () => mesh.poolStatus(),
  };
  headers["content-type"] = prometheusMediaType;
  return { status: 200, headers, body: prometheusText(metricFamilies(measured, own)) };
}

/** States, budgets and clients right now. */
export async function status(exchange: Exchange): Promise<PlainResponse> {
  const { mesh, headers, overview } = exchange;
  const own = viewOf(exchange);
  const { uptimeMs, inFlight, clients: all } = await overview.read("clients");
  const pools = Object.entries(mesh.poolStatus()).filter(([name]) => own?.pools?.has(name) ?? true);
  const clients = all.filter(({ name }) => !own || name === own.name);
  return json({
    version,
    uptime_seconds: Math.floor(uptimeMs / 1000),
    pools: Object.fromEntries(pools),
    providers: providersOf(exchange, pools.map(([, pool]) => pool)),
    budgets: budgetsOf(exchange, own),
    ...(clients.length === 0 ? {} : { clients }),
    in_flight: inFlight,
  }, { headers });
}

/** Records as they come, those kept after `Last-Event-ID` first, as long as the token is accepted. */
export function events(exchange: Exchange): PlainResponse {
  const { mesh, headers, request, overview, isStopping } = exchange;
  let own = viewNow(exchange);
  headers["content-type"] = "text/event-stream";
  headers["cache-control"] = "no-cache";
  const given = request.headers.get("last-event-id") ?? "";
  const body = recordStream(overview.records, {
    clock: mesh.runtime.clock,
    after: /^\d{1,15}$/.test(given) ? Number(given) : undefined,
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
    const standbyFacts = isDown ? { reason: next?.reason, retry_at: next?.retryAt } : {};
    return { id, status: isDown ? "standby" : "active", ...standbyFacts, active, total: own.length };
  });
}

/** Every budget once for each of its limits; a client sees its own. */
function budgetsOf({ mesh: { state, runtime: { clock } } }: Exchange, own: Own | undefined) {
  const wallTimeMs = clock.now();
  const scopes = [...state.members.flatMap(({ state }) => state.tracker.budgetScopes), ...state.budgetScopes];
  return [...new Map(scopes.map(({ id, budget }) => [id, budget]))].flatMap(([key, budget]) => {
    const [, scope = key, id = ""] = /^(\S+) (.*)$/.exec(key) ?? [];
    if (own !== undefined && (scope !== "client" || id !== own.name)) return [];
    return budget.windows(wallTimeMs).map(({ window, spent, limit, reserved, end }) => ({
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
