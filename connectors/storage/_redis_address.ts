/**
 * Where a Redis is, as settings say it.
 * @module
 */
import { ConfigError } from "../../src/errors.ts";

/** Where a Redis is, and how it is entered. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly db: number;
}

/** Options of `redisStorage`: a `url`, or where it is in parts. */
export interface RedisOptions {
  /** `redis://[user:password@]host[:port][/db]`, or `rediss://` for TLS. */
  readonly url?: string;
  /** Host name or address; 127.0.0.1 unless given. */
  readonly host?: string;
  /** Port; 6379 unless given. */
  readonly port?: number;
  /** Who enters. */
  readonly username?: string;
  /** With what. */
  readonly password?: string;
  /** The database's number; 0 unless given. */
  readonly db?: number;
  /** What all keys begin with; `modelmesh` unless given. Those who share a Redis and a prefix share everything. */
  readonly prefix?: string;
}

/**
 * Reads where the Redis is.
 *
 * @param settings `url`, or `host`, `port`, `username`, `password`, `db`.
 * @throws {ConfigError} With all that does not hold; a password is never quoted.
 */
export function redisAddress(settings: Readonly<Record<string, unknown>>): RedisAddress {
  const problems: { path: string; message: string }[] = [];
  const problem = (key: string, message: string) => problems.push({ path: `storage.${key}`, message });
  const { url, host, port, username, password, db } = settings;
  const parts = { host, port, username, password, db };
  const beside = Object.entries(parts).flatMap(([key, value]) => value === undefined ? [] : [key]);
  if (url !== undefined) {
    for (const key of beside) {
      problem(key, 'is given by "url" already: leave one of the two out');
    }
  }
  const address = url === undefined ? addressOf(parts, problem) : addressOfUrl(url, problem);
  if (problems.length > 0) throw new ConfigError(problems);
  return address!;
}

type Problem = (key: string, message: string) => void;

function addressOf(parts: Readonly<Record<string, unknown>>, problem: Problem): RedisAddress {
  const { host = "127.0.0.1", port = 6379, username, password, db = 0 } = parts;
  const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
  if (!isText(host)) problem("host", "expected a host name or an address");
  if (!isWithin(port, 1, 65_535)) problem("port", "expected a whole number from 1 to 65535");
  if (!isWithin(db, 0, Number.MAX_SAFE_INTEGER)) problem("db", "expected a whole number from 0");
  if (username !== undefined && !isText(username)) problem("username", "expected a text");
  if (password !== undefined && !isText(password)) problem("password", "expected a text");
  return {
    host: host as string,
    port: port as number,
    isTls: false,
    db: db as number,
    ...(username === undefined ? {} : { username: username as string }),
    ...(password === undefined ? {} : { password: password as string }),
  };
}

function addressOfUrl(url: unknown, problem: Problem): RedisAddress | undefined {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  const isTls = parsed?.protocol === "rediss:";
  const db = parsed?.pathname.replace(/^\//, "") || "0";
  if (parsed === undefined || !(isTls || parsed.protocol === "redis:") || parsed.hostname === "" || !/^\d+$/.test(db)) {
    problem("url", "expected redis://[user:password@]host[:port][/db], or rediss:// for TLS");
    return undefined;
  }
  const { username, password } = parsed;
  return {
    host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(parsed.port || 6379),
    isTls,
    db: Number(db),
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
  };
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && value as number >= least && value as number <= most;
}
