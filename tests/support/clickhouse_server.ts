/**
 * A server with the behaviour of ClickHouse's HTTP interface: users, tables, asynchronous inserts of `JSONEachRow` in gzip,
 * and exceptions with their codes, of which some come in the body of a response with status 200.
 * @module
 */
import { gunzipSync } from "node:zlib";

/** Its user. */
export const clickHouseUser = { user: "logger", password: "the-password-0123456789" } as const;

/** A row of a table. */
type Row = Readonly<Record<string, unknown>>;

/** How the server behaves; a test may change it at any time. */
export interface ClickHouseBehaviour {
  /** Answers in place of the server. Called after the user has been verified. */
  fault?: (() => Response | Promise<Response> | undefined) | undefined;
  /** Whether a row cannot be parsed. */
  rejects?: (row: Row) => boolean;
  /** Whether exceptions come in the body of a response with status 200, without a header. */
  hasLateExceptions?: boolean;
}

/** A running server. */
export interface ClickHouseServer extends AsyncDisposable {
  /** Its URL. */
  readonly url: string;
  /** The parameters of every request. */
  readonly calls: URLSearchParams[];
  /** Rows by `<database>.<table>`. */
  readonly tables: Map<string, Row[]>;
  /** Definitions by `<database>.<table>`. */
  readonly definitions: Map<string, string>;
}

/** Starts a server with the database `default` and these tables in it. */
export function startClickHouse(behaviour: ClickHouseBehaviour = {}, names: readonly string[] = []): ClickHouseServer {
  const tables: ClickHouseServer["tables"] = new Map(names.map((name) => [`default.${name}`, []]));
  const definitions: ClickHouseServer["definitions"] = new Map();
  const calls: URLSearchParams[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const { searchParams } = new URL(request.url);
    calls.push(searchParams);
    const body = await request.bytes();
    const { headers } = request;
    const isUser = headers.get("x-clickhouse-user") === clickHouseUser.user;
    if (!isUser || headers.get("x-clickhouse-key") !== clickHouseUser.password) {
      return exception(behaviour, 516, "AUTHENTICATION_FAILED");
    }
    const fault = behaviour.fault?.();
    if (fault !== undefined) return await fault;
    if (headers.get("content-encoding") !== "gzip") return exception(behaviour, 62, "SYNTAX_ERROR");
    const text = new TextDecoder().decode(gunzipSync(body));
    const query = searchParams.get("query");
    if (query === null) return define(text);
    const [, table = ""] = /^INSERT INTO `(\w+`\.`\w+)` FORMAT JSONEachRow$/.exec(query) ?? [];
    const rows = tables.get(table.replace("`.`", "."));
    if (rows === undefined) return exception(behaviour, 60, "UNKNOWN_TABLE");
    return insert(rows, text);
  });

  function define(text: string): Response {
    const name = /^CREATE TABLE IF NOT EXISTS `(\w+)`\.`(\w+)` \(/.exec(text)?.slice(1).join(".");
    if (name === undefined) return exception(behaviour, 62, "SYNTAX_ERROR");
    if (!tables.has(name)) {
      tables.set(name, []);
      definitions.set(name, text);
    }
    return new Response();
  }

  /** A statement is atomic: a row that cannot be parsed rejects all of them. */
  function insert(rows: Row[], text: string): Response {
    const parsed = text.trimEnd().split("\n").map((line) => JSON.parse(line) as Row);
    const rejected = parsed.find((row) => behaviour.rejects?.(row));
    if (rejected !== undefined) return exception(behaviour, 27, "CANNOT_PARSE_INPUT_ASSERTION_FAILED", rejected);
    rows.push(...parsed);
    return new Response();
  }

  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    calls,
    tables,
    definitions,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function exception(
  { hasLateExceptions = false }: ClickHouseBehaviour,
  code: number,
  name: string,
  row?: Row,
): Response {
  const quoted = row === undefined ? "" : ` at row ${JSON.stringify(row)}`;
  const text = `Code: ${code}. DB::Exception: It failed${quoted}. (${name}) (version 25.8.1.1)\n`;
  if (hasLateExceptions) return new Response(text);
  const status = code === 516 ? 403 : code === 60 ? 404 : 400;
  return new Response(text, { status, headers: { "x-clickhouse-exception-code": String(code) } });
}
