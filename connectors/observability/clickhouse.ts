/**
 * Inserts records into ClickHouse, through its HTTP interface.
 * @module
 */
import type { Connector, MeshParts } from "../../src/contracts/connector.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { withAuthorities } from "../_authorities.ts";
import { callRemote } from "../storage/_remote.ts";
import { type Attempt, BatchDelivery, createRecordSink, RejectedError } from "./_batch_delivery.ts";
import { ClickHouseError, throwFault, unknownTable } from "./_clickhouse_fault.ts";
import { formatRow, formatTableDefinition, type SinkRecord } from "./_clickhouse_table.ts";
import { compressLines } from "./_compress_lines.ts";
import { clickHouseDeclaration } from "./declarations.ts";

const { id, attributes } = clickHouseDeclaration;

/** Timeout of a query, ms: the server answers an insert once the table has it. */
const queryTimeoutMs = 60_000;

/** Maximum number of calls that look for the rejected records of a batch. */
const maxSplits = 256;

/** Settings of every insert. */
const insertSettings: Readonly<Record<string, string>> = {
  async_insert: "1",
  wait_for_async_insert: "1", // otherwise the server accepts records that it loses later, uncounted
  input_format_skip_unknown_fields: "1",
  date_time_input_format: "best_effort",
};

/** Inserts records in batches; its declaration documents the attributes. */
export const clickHouseObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign(
  { create: createClickHouseSink },
  clickHouseDeclaration,
);

/** A row, and the table that it belongs to. */
interface TableRow {
  readonly table: string;
  readonly row: string;
}

function createClickHouseSink(
  settings: Readonly<Record<string, unknown>>,
  runtime: Runtime,
  mesh?: MeshParts,
): Observability {
  const { interval = attributes.interval.default, max_buffer = attributes.max_buffer.default } = settings;
  const options = readOptions(settings);
  const tables = new Tables(withAuthorities(runtime, settings, "observability"), options, mesh?.warn);
  const delivery = new BatchDelivery<TableRow>(runtime, {
    intervalMs: interval as number,
    maxBytes: max_buffer as number,
    measure: ({ row }) => row.length,
    deliver: (rows, attempt) => tables.insert(rows, attempt),
    warn: mesh?.warn,
  });
  const put = (record: object) => {
    const { type } = record as SinkRecord;
    delivery.add({ table: options.table.replaceAll("{type}", type), row: formatRow(record as SinkRecord) });
  };
  return createRecordSink(delivery, put);
}

/** Where rows are inserted, and as whom. */
interface ClickHouseOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly database: string;
  /** Name of the table, with `{type}` for the type of the record. */
  readonly table: string;
  readonly createsTables: boolean;
  readonly ttlMs: number | undefined;
  readonly settings: Readonly<Record<string, string>>;
}

/** The tables of a database. */
class Tables {
  readonly #runtime: Runtime;
  readonly #options: ClickHouseOptions;
  /** Tables that were created, or existed. */
  readonly #existing = new Set<string>();
  readonly #warn: MeshParts["warn"];
  #lastRejection = "";

  /**
   * @param runtime HTTP and clock.
   * @param options The database.
   * @param warn Reports why records are rejected.
   */
  constructor(runtime: Runtime, options: ClickHouseOptions, warn: MeshParts["warn"]) {
    this.#runtime = runtime;
    this.#options = options;
    this.#warn = warn;
  }

  /** Inserts rows into their tables. Returns the number of rows that were lost. */
  async insert(rows: readonly TableRow[], attempt: Attempt): Promise<number> {
    const byTable = new Map<string, string[]>();
    for (const { table, row } of rows) {
      const list = byTable.get(table);
      if (list === undefined) byTable.set(table, [row]);
      else list.push(row);
    }
    let lost = 0;
    for (const [table, list] of byTable) lost += await this.#insertRows(table, list, { attempt, splits: maxSplits });
    return lost;
  }

  /** Inserts rows; if they are rejected, each half of them, so that one row does not prevent the others. */
  async #insertRows(
    table: string,
    rows: readonly string[],
    search: { readonly attempt: Attempt; splits: number },
  ): Promise<number> {
    try {
      await search.attempt((signal) => this.#insertOnce(table, rows, signal));
      return 0;
    } catch (error) {
      if (!(error instanceof RejectedError)) return rows.length;
      if (rows.length === 1 || search.splits <= 0) return this.#reject(rows, error);
    }
    search.splits -= 2;
    const middle = Math.ceil(rows.length / 2);
    const lost = await this.#insertRows(table, rows.slice(0, middle), search);
    return lost + await this.#insertRows(table, rows.slice(middle), search);
  }

  /** Reports a rejection unless the last one was the same. */
  #reject(rows: readonly string[], { message }: RejectedError): number {
    if (message !== this.#lastRejection) this.#warn?.(`${message}: the rejected records are lost`);
    this.#lastRejection = message;
    return rows.length;
  }

  async #insertOnce(table: string, rows: readonly string[], signal: AbortSignal): Promise<void> {
    const { database, createsTables, ttlMs, settings } = this.#options;
    const name = `\`${database}\`.\`${table}\``;
    const wasKnown = this.#existing.has(table);
    if (createsTables && !wasKnown) {
      await this.#query({ wait_end_of_query: "1" }, [formatTableDefinition(name, ttlMs)], signal);
      this.#existing.add(table);
    }
    try {
      const query = `INSERT INTO ${name} FORMAT JSONEachRow`;
      await this.#query({ ...insertSettings, ...settings, query }, rows, signal);
    } catch (error) {
      if (!(error instanceof ClickHouseError) || error.code !== unknownTable) throw error;
      this.#existing.delete(table);
      if (!wasKnown) throw error;
      await this.#insertOnce(table, rows, signal); // it was dropped
    }
  }

  async #query(
    parameters: Readonly<Record<string, string>>,
    lines: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { url, headers } = this.#options;
    const target = new URL(url);
    for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
    const { bytes: body } = await compressLines(lines, this.#runtime.clock);
    const call = { method: "POST", url: target.href, headers, body, timeoutMs: queryTimeoutMs, signal };
    const response = await callRemote(id, this.#runtime, call);
    throwFault(id, { ...response, text: new TextDecoder().decode(response.bytes) });
  }
}

function readOptions(settings: Readonly<Record<string, unknown>>): ClickHouseOptions {
  const { url, user, password, ttl, create_table = attributes.create_table.default } = settings;
  const { database = attributes.database.default, table = attributes.table.default } = settings;
  if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw createClickHouseError("url", "requires an http or https URL");
  }
  const address = new URL(url);
  if (address.username !== "" || address.password !== "") {
    throw createClickHouseError("url", 'accepts no credentials in it: set "user" and "password"');
  }
  if (typeof database !== "string" || !/^\w{1,128}$/.test(database)) {
    throw createClickHouseError("database", 'requires letters, digits and "_"');
  }
  if (typeof table !== "string" || !/^\w{1,128}$/.test(table.replaceAll("{type}", "type"))) {
    throw createClickHouseError("table", 'requires letters, digits, "_" and "{type}"');
  }
  const headers = { "content-type": "text/plain; charset=utf-8", "content-encoding": "gzip" };
  return {
    url,
    headers: { ...headers, ...toCredentialHeaders(user, password) },
    database,
    table,
    createsTables: create_table === true,
    ttlMs: ttl as number | undefined,
    settings: readQuerySettings(settings.settings ?? {}),
  };
}

function toCredentialHeaders(user: unknown, password: unknown): Readonly<Record<string, string>> {
  for (const [name, value] of [["user", user], ["password", password]] as const) {
    if (value !== undefined && (typeof value !== "string" || !/^[\x20-\x7e]*$/.test(value))) {
      throw createClickHouseError(name, "requires printable ASCII characters");
    }
  }
  return {
    ...(user === undefined ? {} : { "x-clickhouse-user": user as string }),
    ...(password === undefined ? {} : { "x-clickhouse-key": password as string }),
  };
}

/** Parameters of the HTTP interface that are not settings of a query. */
const notSettings: readonly string[] = ["query", "database", "user", "password", "decompress"];

/** Settings of queries: strings, numbers or flags by name. */
function readQuerySettings(settings: unknown): Readonly<Record<string, string>> {
  if (!isObject(settings)) throw createClickHouseError("settings", "requires an object");
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      const isSetting = /^[a-z]\w{0,127}$/.test(name) && !notSettings.includes(name);
      if (!isSetting || !["string", "number", "boolean"].includes(typeof value)) {
        throw createClickHouseError("settings", "requires names of settings, with strings, numbers or flags");
      }
      return [name, typeof value === "boolean" ? String(Number(value)) : String(value)];
    }),
  );
}

function createClickHouseError(setting: string, message: string): ConfigError {
  return new ConfigError([{ path: `observability.${setting}`, message: `"${id}" ${message}` }]);
}
