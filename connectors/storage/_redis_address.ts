/**
 * What is known of a storage in Redis before it connects: the address of its server, from settings, and its prefix.
 * @module
 */
import { ConfigError } from "../../src/errors.ts";
import { redisDeclaration } from "./declarations.ts";

const { attributes } = redisDeclaration;

/** Address and credentials of a Redis server. */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly db: number;
}

/** Options of `redisStorage`: a `url`, or its parts. */
export interface RedisOptions {
  /** `redis://[user:password@]host[:port][/db]`, or `rediss://` for TLS. */
  readonly url?: string;
  /** Host name or IP address. @default {"127.0.0.1"} */
  readonly host?: string;
  /** Port. @default {6379} */
  readonly port?: number;
  /** User name. */
  readonly username?: string;
  /** Password. */
  readonly password?: string;
  /** Database number. @default {0} */
  readonly db?: number;
  /** Prefix of all keys. Processes with the same server and prefix share all state. @default {"modelmesh"} */
  readonly prefix?: string;
}

/**
 * Lease duration, ms by Redis's clock: a process without a call for this long counts as ended, and its leases are
 * released.
 */
export const leaseMs = 15_000;

/**
 * Checks the prefix of all keys.
 *
 * @throws {ConfigError} If it is invalid.
 */
export function checkPrefix(prefix: unknown): void {
  if (typeof prefix === "string" && /^[\w.:-]{1,64}$/.test(prefix)) return;
  throw new ConfigError([{
    path: "storage.prefix",
    message: 'expected 1 to 64 letters, digits, ".", ":", "_" or "-"',
  }]);
}

/**
 * Parses the address of a Redis server.
 *
 * @param settings `url`, or `host`, `port`, `username`, `password`, `db`.
 * @throws {ConfigError} If a setting is invalid; reports all errors at once. The password is never quoted.
 */
export function redisAddress(settings: Readonly<Record<string, unknown>>): RedisAddress {
  const problems: { path: string; message: string }[] = [];
  const problem = (key: string, message: string) => problems.push({ path: `storage.${key}`, message });
  const { url, host, port, username, password, db } = settings;
  const parts = { host, port, username, password, db };
  const beside = Object.entries(parts).flatMap(([key, value]) => value === undefined ? [] : [key]);
  if (url !== undefined) {
    for (const key of beside) {
      problem(key, 'is already part of "url": remove one of the two');
    }
  }
  const address = url === undefined ? toRedisAddress(parts, problem) : addressOfUrl(url, problem);
  if (problems.length > 0) throw new ConfigError(problems);
  return address!;
}

type Problem = (key: string, message: string) => void;

function toRedisAddress(parts: Readonly<Record<string, unknown>>, problem: Problem): RedisAddress {
  const { username, password } = parts;
  const { host = attributes.host.default, port = attributes.port.default, db = attributes.db.default } = parts;
  const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
  if (!isText(host)) problem("host", "expected a host name or an IP address");
  if (!isIntegerWithin(port, 1, 65_535)) problem("port", "expected an integer from 1 to 65535");
  if (!isIntegerWithin(db, 0, Number.MAX_SAFE_INTEGER)) problem("db", "expected an integer from 0");
  if (username !== undefined && !isText(username)) problem("username", "expected a string");
  if (password !== undefined && !isText(password)) problem("password", "expected a string");
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
  const db = parsed?.pathname.replace(/^\//, "") || attributes.db.default;
  if (
    parsed === undefined || !(isTls || parsed.protocol === "redis:") || parsed.hostname === "" ||
    !/^\d+$/.test(String(db))
  ) {
    problem("url", "expected redis://[user:password@]host[:port][/db], or rediss:// for TLS");
    return undefined;
  }
  const { username, password } = parsed;
  return {
    host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(parsed.port || attributes.port.default),
    isTls,
    db: Number(db),
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
  };
}

function isIntegerWithin(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && value as number >= least && value as number <= most;
}
