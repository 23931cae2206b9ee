/**
 * What is known of a storage in PostgreSQL before it connects: the addresses of its server, and the names of its tables.
 * @module
 */
import { ConfigError } from "../../src/errors.ts";
import { postgresDeclaration } from "./declarations.ts";

const { attributes } = postgresDeclaration;

/** Address and credentials of a PostgreSQL server. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly username: string;
  readonly password?: string;
  /** Whether the connection is encrypted, and the certificate of the server verified. */
  readonly isTls: boolean;
}

/** Files and names of TLS. */
export interface PostgresTls {
  /** Certificate authorities, in place of the runtime's: PEM, or the path of a PEM file. */
  readonly ca?: string;
  /** Certificate and key of this client: PEM, or paths of PEM files. */
  readonly cert?: string;
  readonly key?: string;
  /** The name in the certificate of the server, if it is not the host. */
  readonly servername?: string;
}

/** The settings of a storage. */
export interface PostgresPlan {
  /** Address for statements. */
  readonly address: PostgresAddress;
  /** Address for messages, which a pooler in transaction mode does not deliver. */
  readonly listenAddress: PostgresAddress;
  readonly tls: PostgresTls;
  readonly schema: string;
  /** Prefix of table names. */
  readonly prefix: string;
  /** Number of connections for statements. */
  readonly poolSize: number;
  readonly isPrepared: boolean;
}

type Settings = Readonly<Record<string, unknown>>;
type Problem = (key: string, message: string) => void;

/** Names of tables have up to 63 bytes, the longest part of which is a partition of usage. */
const maxPrefix = 40;

/** Settings of addresses that are parts of a URL. */
const partNames = ["host", "port", "username", "password", "database"] as const;

const tlsNames: readonly string[] = ["ca", "cert", "key", "servername"];

/** TLS as libpq names it. Certificates are always verified. */
const tlsModes: Readonly<Record<string, boolean>> = {
  disable: false,
  require: true,
  "verify-ca": true,
  "verify-full": true,
};

/**
 * Reads the settings of a storage.
 *
 * @param settings `url`, or `host`, `port`, `username`, `password`, `database`, `tls`; and the attributes of tables and
 *   connections.
 * @throws {ConfigError} If a setting is invalid; reports all errors at once. Passwords are never quoted.
 */
export function readPostgresPlan(settings: Settings): PostgresPlan {
  const problems: { path: string; message: string }[] = [];
  const problem: Problem = (key, message) => void problems.push({ path: `storage.${key}`, message });
  const tls = readTls(settings.tls, problem);
  const address = readAddress(settings, problem);
  const listenAddress = settings.listen_url === undefined ? address : readUrl("listen_url", settings, problem);
  const {
    schema = attributes.schema.default,
    prefix = "",
    pool_size = attributes.pool_size.default,
    prepared_statements = attributes.prepared_statements.default,
  } = settings;
  if (!isName(schema, 1, 63)) problem("schema", 'expected 1 to 63 letters, digits, ".", ":", "_" or "-"');
  if (!isName(prefix, 0, maxPrefix)) {
    problem("prefix", `expected up to ${maxPrefix} letters, digits, ".", ":", "_" or "-"`);
  }
  if (!isIntegerWithin(pool_size, 1, 100)) problem("pool_size", "expected an integer from 1 to 100");
  if (typeof prepared_statements !== "boolean") problem("prepared_statements", "expected true or false");
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    address: address!,
    listenAddress: listenAddress!,
    tls,
    schema: schema as string,
    prefix: prefix as string,
    poolSize: pool_size as number,
    isPrepared: prepared_statements as boolean,
  };
}

function readAddress(settings: Settings, problem: Problem): PostgresAddress | undefined {
  if (settings.url === undefined) return readParts(settings, problem);
  for (const key of partNames) {
    if (settings[key] !== undefined) problem(key, 'is already part of "url": remove one of the two');
  }
  return readUrl("url", settings, problem);
}

function readParts(settings: Settings, problem: Problem): PostgresAddress {
  const { username, password } = settings;
  const { host = attributes.host.default, port = attributes.port.default } = settings;
  const { database = username ?? attributes.database.default } = settings;
  for (const [key, value] of Object.entries({ host, username, password, database })) {
    if (value !== undefined && !isText(value)) problem(key, "expected a string");
  }
  if (!isIntegerWithin(port, 1, 65_535)) problem("port", "expected an integer from 1 to 65535");
  return {
    host: host as string,
    port: port as number,
    database: database as string,
    username: (username ?? attributes.username.default) as string,
    isTls: isTlsOn(settings),
    ...(password === undefined ? {} : { password: password as string }),
  };
}

function readUrl(key: string, settings: Settings, problem: Problem): PostgresAddress | undefined {
  const { [key]: url } = settings;
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol) || parsed.hostname === "") {
    problem(key, "expected postgres://[user[:password]@]host[:port][/database][?sslmode=verify-full]");
    return undefined;
  }
  const mode = parsed.searchParams.get("sslmode") ?? (isTlsOn(settings) ? "verify-full" : "disable");
  const unknown = [...parsed.searchParams.keys()].find((name) => name !== "sslmode");
  if (unknown !== undefined) problem(key, 'accepts only the parameter "sslmode"');
  if (!Object.hasOwn(tlsModes, mode)) problem(key, `"sslmode" is ${Object.keys(tlsModes).join(", ")}`);
  else if (settings.tls !== undefined && tlsModes[mode] !== isTlsOn(settings)) {
    problem("tls", `contradicts "sslmode" of "${key}"`);
  }
  const decode = (text: string) => decodePart(text) ?? problem(key, 'contains a "%" that encodes nothing');
  const username = decode(parsed.username) || attributes.username.default;
  const password = decode(parsed.password);
  return {
    host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(parsed.port || attributes.port.default),
    database: decode(parsed.pathname.slice(1)) || username,
    username,
    isTls: tlsModes[mode] === true,
    ...(password ? { password } : {}),
  };
}

function isTlsOn({ tls = false }: Settings): boolean {
  return tls !== false;
}

function readTls(tls: unknown, problem: Problem): PostgresTls {
  if (tls === undefined || typeof tls === "boolean") return {};
  const members = Object.entries(Object(tls));
  for (const [name, value] of members) {
    if (!tlsNames.includes(name)) problem(`tls.${name}`, `is unknown: there are ${tlsNames.join(", ")}`);
    else if (!isText(value)) problem(`tls.${name}`, "expected a string");
  }
  const { cert, key } = Object(tls);
  if ((cert === undefined) !== (key === undefined)) {
    problem("tls", '"cert" and "key" belong together: one of them is missing');
  }
  return Object.fromEntries(members);
}

function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes("\0");
}

function isName(value: unknown, least: number, most: number): boolean {
  return typeof value === "string" && /^[\w.:-]*$/.test(value) && value.length >= least && value.length <= most;
}

function isIntegerWithin(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && value as number >= least && value as number <= most;
}
