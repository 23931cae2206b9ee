/**
 * Usage as rows in PostgreSQL: one per hour, client, pool, model, tier and tags, in a partition per day.
 * @module
 */
import type { AddedUsage, StoredUsage, UsageAmounts, UsageRows } from "../../src/contracts/storage.ts";
import type { PostgresConnection } from "./_postgres_client.ts";
import { readPostgresText, toPostgresText } from "./_postgres_text.ts";

const lane = "usage";

/** The usage facet of a `PostgresStorage`. */
export class PostgresUsage implements UsageRows {
  readonly #connection: PostgresConnection;

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  async add(id: string, rows: readonly AddedUsage[]): Promise<void> {
    const toText = (text: string | undefined) => text === undefined ? null : toPostgresText(text);
    const added = rows.map(({ hour, client, clientId, pool, model, tier, tags, team, amounts }) => ({
      hour: `${hour}:00:00Z`,
      client: toText(client),
      client_id: toText(clientId),
      pool: toText(pool),
      model: toText(model),
      tier: toText(tier),
      tags: tags.map(toPostgresText),
      team: toText(team),
      requests: amounts[0],
      tokens_in: amounts[1],
      tokens_out: amounts[2],
      cost_nano_usd: amounts[3],
      caller_cost_nano_usd: amounts[4] ?? 0,
    }));
    const text = `SELECT ${this.#connection.names("add_usage")}($1, $2::text::jsonb)`;
    await this.#connection.query(lane, text, [id, JSON.stringify(added)]);
  }

  async read(from: string, to: string): Promise<readonly StoredUsage[]> {
    const text = `SELECT to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, client, client_id, pool, model,
        to_json(tags)::text AS tags, team, sum(requests)::text AS requests, sum(tokens_in)::text AS tokens_in,
        sum(tokens_out)::text AS tokens_out, sum(cost_nano_usd)::text AS cost_nano_usd,
        sum(caller_cost_nano_usd)::text AS caller_cost_nano_usd
      FROM ${this.#connection.names("usage")} AS u
      WHERE hour >= ($1::text || ' 00:00+00')::timestamptz AND hour < ($2::text || ' 00:00+00')::timestamptz + '24 hours'
      GROUP BY day, client, client_id, pool, model, u.tags, team ORDER BY day`;
    const rows = await this.#connection.query(lane, text, [from, to]);
    const readText = (text: unknown) => typeof text === "string" ? readPostgresText(text) : undefined;
    return rows.map((row) => ({
      day: String(row.day),
      client: readText(row.client),
      clientId: readText(row.client_id),
      pool: readText(row.pool) ?? "",
      model: readText(row.model),
      tags: (JSON.parse(String(row.tags)) as string[]).map(readPostgresText),
      team: readText(row.team),
      amounts: readAmounts(row),
    }));
  }

  async drop(before: string): Promise<void> {
    await this.#connection.query(lane, `SELECT ${this.#connection.names("drop_usage")}($1::text::date)`, [before]);
  }
}

function readAmounts(row: Readonly<Record<string, unknown>>): UsageAmounts {
  const names = ["requests", "tokens_in", "tokens_out", "cost_nano_usd", "caller_cost_nano_usd"];
  const [requests = 0, tokensIn = 0, tokensOut = 0, cost = 0, callerCost = 0] = names.map((name) => Number(row[name]));
  return callerCost > 0 ? [requests, tokensIn, tokensOut, cost, callerCost] : [requests, tokensIn, tokensOut, cost];
}
