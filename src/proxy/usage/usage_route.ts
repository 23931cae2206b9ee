/**
 * `GET /mesh/usage`: requests, tokens and cost per day, client, team, pool, model or tag.
 * @module
 */
import type { PlainResponse } from "../../contracts/shell.ts";
import { ConnectorError } from "../../errors.ts";
import { HttpError } from "../error_body.ts";
import type { Exchange } from "../exchange.ts";
import { json } from "../json.ts";
import { findOwnView } from "../own_view.ts";
import { formatUsageCsv, groupUsage, sortUsage } from "./usage_table.ts";
import { readDimensions, readUsageQuery } from "./usage_query.ts";

/**
 * Handles a request. Callers other than administrators receive their own usage.
 *
 * @throws {HttpError} 400 without a storage or for invalid parameters, 503 while the storage fails.
 */
export async function handleUsage(exchange: Exchange): Promise<PlainResponse> {
  const { usage, headers, runtimeClients } = exchange;
  if (usage === undefined) {
    const message = "Daily usage is kept in the storage: add a section `storage` to the configuration";
    throw new HttpError(message, { status: 400, code: "no_storage" });
  }
  const by = readDimensions(exchange);
  const { from, to, days, format } = readUsageQuery(exchange);
  const own = findOwnView(exchange);
  const rows = (await readRows(usage, days))
    .filter(({ client, clientId = client }) => own === undefined || own.id !== undefined && clientId === own.id)
    .map((row) => ({ ...row, client: row.client ?? runtimeClients?.findName(row.clientId) }));
  const data = sortUsage(groupUsage(rows, by), by);
  if (format === "json") return json({ object: "list", from, to, by, data }, { headers });
  headers["content-type"] = "text/csv; charset=utf-8";
  return { status: 200, headers, body: formatUsageCsv(data, by) };
}

async function readRows(usage: NonNullable<Exchange["usage"]>, days: readonly string[]) {
  try {
    return await usage.readRows(days);
  } catch (error) {
    if (!ConnectorError.isInstance(error)) throw error;
    const facts = { status: 503, type: "server_error", code: "storage_unavailable" } as const;
    throw new HttpError(`The storage failed: ${error.message}`, facts);
  }
}
