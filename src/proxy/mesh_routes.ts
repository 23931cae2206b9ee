/**
 * The state of a running proxy: `/metrics`, `/mesh/status`, `/mesh/events`.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import type { Engine } from "../engine/engine.ts";
import { metricFamilies } from "../observe/metric_families.ts";
import type { PoolStatus } from "../registry/status.ts";
import type { ScopedBudgetWindow } from "../state/model/mesh_state.ts";
import { groupBy } from "../util/entries.ts";
import { prometheusMediaType, prometheusText } from "../util/prometheus_text.ts";
import { version } from "../version.ts";
import { HttpError, waitHeaders } from "./error_body.ts";
import type { Exchange } from "./exchange.ts";
import { json } from "./json.ts";
import { findOwnView, listShownPools, type Own, seesEverything } from "./own_view.ts";
import type { OwnedRecord } from "./overview/record_ring.ts";
import { recordStream } from "./overview/record_stream.ts";

/** The same for the current tokens; `gone` if the sender's token is no longer accepted. */
function viewNow(exchange: Exchange): Own | undefined | "gone" {
  const caller = exchange.callerNow();
  if (caller === undefined) return "gone";
  return seesEverything(caller) ? undefined : caller.client ?? {};
}

/** Statistics in Prometheus' text format. */
export async function metrics(exchange: Exchange): Promise<PlainResponse> {
  const { mesh, headers, overview } = exchange;
  const own = findOwnView(exchange);
  const { families, inFlight, lost } = await overview.read("families", own && (own.id ?? ""));
  const measured = {
    statistics: { metrics: { families: () => families }, inFlight },
    hub: { lost: new Map(lost) },
    poolStatus: () => Object.fromEntries(listShownPools(mesh, own)),
    listBudgets: () => mesh.listBudgets().filter(({ scope }) => scope !== "user"), // labels are from the configuration
  };
  headers["content-type"] = prometheusMediaType;
  return { status: 200, headers, body: prometheusText(metricFamilies(measured, own)) };
}

/** Current states, budgets and clients. */
export async function status(exchange: Exchange): Promise<PlainResponse> {
  const { mesh, headers, overview } = exchange;
  const own = findOwnView(exchange);
  const { uptimeMs, inFlight, clients: all } = await overview.read("clients");
  const pools = listShownPools(mesh, own);
  const clients = all.filter(({ name, id = name }) => !own || id === own.id);
  return json({
    version,
    uptime_seconds: Math.floor(uptimeMs / 1000),
    pools: Object.fromEntries(pools),
    providers: listProviders(exchange, pools.map(([, pool]) => pool), own),
    budgets: listShownBudgets(exchange, own),
    ...(clients.length === 0 ? {} : { clients: clients.map((client) => withNotes(client, exchange)) }),
    in_flight: inFlight,
    ...(exchange.usage === undefined ? {} : { daily_usage: true }),
    ...(mesh.caching === undefined ? {} : { cache: true }),
    ...((mesh.settings.teams?.size ?? 0) === 0 ? {} : { teams: true }),
    ...(exchange.processes === undefined ? {} : { process: exchange.processes.id }),
    role: getRole(exchange),
  }, { headers });
}

/** Adds what operators have noted about a client, for administrators. */
function withNotes<Facts extends { readonly name: string; readonly id?: string | undefined }>(
  client: Facts,
  exchange: Exchange,
): Facts & { readonly notes?: string } {
  if (exchange.caller()?.isAdministrator !== true) return client;
  const { proxy, runtimeClients } = exchange;
  const { name, id = name } = client;
  const { notes } = proxy.clients.find((configured) => configured.name === id) ?? runtimeClients?.find(id) ?? {};
  return notes === undefined ? client : { ...client, notes };
}

/** What the sender may do, so that a dashboard shows no more. */
function getRole(exchange: Exchange): "administrator" | "viewer" | "client" {
  const { isAdministrator = false, isViewer = false } = exchange.caller() ?? {};
  if (isAdministrator) return "administrator";
  return isViewer ? "viewer" : "client";
}

/** Maximum number of readers of records in one process. Each keeps a connection, and a part of the records. */
const maxRecordReaders = 100;

/**
 * Streams records, beginning with stored ones after `Last-Event-ID`, while the token is accepted.
 *
 * @throws {HttpError} 503 if there are too many readers.
 */
export function events(exchange: Exchange): PlainResponse {
  const { mesh, headers, request, overview, recordReaders, isStopping } = exchange;
  if (recordReaders.take(maxRecordReaders) !== true) {
    const facts = { status: 503, type: "server_error", code: "overloaded", headers: waitHeaders(1000, false) } as const;
    throw new HttpError(`There are ${maxRecordReaders} readers of records already`, facts);
  }
  let own = viewNow(exchange);
  headers["content-type"] = "text/event-stream";
  headers["cache-control"] = "no-cache";
  if (exchange.processes !== undefined) headers["x-mesh-process"] = exchange.processes.id;
  const lastId = request.headers.get("last-event-id") ?? "";
  const body = recordStream(overview.records, {
    clock: mesh.runtime.clock,
    after: /^\d{1,15}$/.test(lastId) ? Number(lastId) : undefined,
    isVisible: (record) => own === undefined || own !== "gone" && isOwnRecord(record, own, mesh),
    isStopping: () => {
      own = viewNow(exchange);
      return own === "gone" || isStopping() || request.signal.aborted; // the server may stop before the proxy does
    },
    onEnd: () => recordReaders.give(maxRecordReaders),
  });
  return { status: 200, headers, body };
}

/** The data of a client: its requests, the states of its pools, and its budget. */
function isOwnRecord(
  { type, event, pool, metadata = {}, ...record }: OwnedRecord,
  { id, pools, findOwnModels }: Own,
  { registry }: Pick<Engine, "registry">,
): boolean {
  const ownerIn = ({ client, client_id = client }: Record<string, unknown>) => client_id;
  if (type !== "event") return id !== undefined && ownerIn(record) === id;
  if (event === "budget") return id !== undefined && metadata.scope === "client" && metadata.id === id;
  if (event === "batch") return id !== undefined && ownerIn(metadata) === id;
  if (pool === undefined || pools !== undefined && !pools.has(pool)) return false;
  if (findOwnModels === undefined) return true;
  const own = new Set([...findOwnModels(registry)].map(({ name }) => name));
  const models = [record.model, event === "rotation" ? record.from : undefined];
  return models.every((model) => typeof model !== "string" || own.has(model));
}

/** The providers of these pools. A provider whose models are all in standby has the reason of the first to recover. */
function listProviders({ mesh }: Exchange, pools: readonly PoolStatus[], own: Own | undefined) {
  const isRestricted = pools.length < mesh.registry.pools.length || own?.findOwnModels !== undefined;
  const models = groupBy(pools.flatMap(({ models }) => models), ({ provider }) => provider);
  return mesh.registry.instances.flatMap(({ entry: { id }, lastError }) => {
    const members = models.get(id) ?? [];
    if (members.length === 0 && isRestricted) return [];
    const active = members.filter(({ status }) => status === "active").length;
    const isDown = members.length > 0 && active === 0;
    const [next] = members.toSorted((first, second) => (first.retryAt ?? "~").localeCompare(second.retryAt ?? "~"));
    const standbyFacts = isDown ? { reason: next?.reason, retry_at: next?.retryAt } : {};
    const errorFacts = lastError === undefined ? {} : { last_error: lastError };
    return { id, status: isDown ? "standby" : "active", ...standbyFacts, ...errorFacts, active, total: members.length };
  });
}

/** Maximum number of limits of end users in the status: those of which most is spent. */
const maxUserBudgets = 100;

/** Each budget, once per limit. A client sees only its own. */
function listShownBudgets({ mesh: { state, runtime: { clock } } }: Exchange, own: Own | undefined) {
  const isOwn = ({ scope, id }: ScopedBudgetWindow) => own === undefined || scope === "client" && id === own.id;
  const budgets = groupBy(state.listBudgets(clock.now()).filter(isOwn), ({ scope }) => scope === "user");
  const findShare = ({ spent, reserved, limit }: ScopedBudgetWindow) => (spent + reserved) / Math.max(1, limit);
  const users = budgets.get(true)?.toSorted((first, second) => findShare(second) - findShare(first)) ?? [];
  return [...budgets.get(false) ?? [], ...users.slice(0, maxUserBudgets)].map((
    { scope, id, name, window, timezone, spent, limit, reserved, end },
  ) => ({
    scope,
    id,
    ...(name !== undefined && { name }),
    window,
    ...(timezone !== undefined && { timezone }),
    spent_usd: spent / 1e9,
    limit_usd: limit / 1e9,
    reserved_usd: reserved / 1e9,
    resets_at: new Date(end).toISOString(),
  }));
}
