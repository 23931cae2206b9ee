/**
 * What is known of a storage in Redis before it connects: the addresses of its servers, from settings, and its prefix.
 * @module
 */
import { ConfigError } from "../../src/errors.ts";
import { redisDeclaration } from "./declarations.ts";

const { attributes } = redisDeclaration;

/** Default port of a sentinel. */
const sentinelPort = 26_379;

/** A server. */
export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** Certificates and keys of TLS. */
export type RedisTls = Exclude<RedisOptions["tls"], boolean | undefined>;

/** How to log in to a server. */
export interface RedisLogin {
  readonly isTls: boolean;
  readonly tls?: RedisTls;
  readonly username?: string;
  readonly password?: string;
}

/** Sentinels, which know the current master. */
export interface RedisSentinels extends RedisLogin {
  /** Name of the master at the sentinels. */
  readonly master: string;
  readonly nodes: readonly RedisNode[];
}

/** Address and credentials of a Redis server; of a cluster or of sentinels, that of their first node. */
export interface RedisAddress extends RedisNode, RedisLogin {
  readonly db: number;
  /** Nodes of the cluster. They are asked for the others. */
  readonly cluster?: readonly RedisNode[];
  readonly sentinel?: RedisSentinels;
  /** Whether records are read from replicas. */
  readonly readsReplicas?: boolean;
}

/** Options of `redisStorage`: a `url`, its parts, or the nodes of a cluster or of sentinels. */
export interface RedisOptions {
  /** `redis://[user:password@]host[:port][/db]`, or `rediss://` for TLS. */
  readonly url?: string;
  /** Host name or IP address. @default {"127.0.0.1"} */
  readonly host?: string;
  /** Port. @default {6379} */
  readonly port?: number;
  /** Nodes of a Redis Cluster, `host:port` or a URL each. They are asked for the other nodes. */
  readonly cluster?: readonly string[];
  /** Sentinels that know the current master, `host:port` or a URL each. They may have a user of their own. */
  readonly sentinel?: {
    /** Name of the master at the sentinels. */
    readonly master: string;
    /** Addresses of the sentinels. */
    readonly nodes: readonly string[];
    /** User name at the sentinels. */
    readonly username?: string;
    /** Password at the sentinels. */
    readonly password?: string;
  };
  /** Where records are read; counters, locks and what is read under a lock always use the master. @default {"master"} */
  readonly readFrom?: "master" | "replica";
  /** TLS: whether it is used, or its certificates and keys, each as PEM or as the path of a PEM file. */
  readonly tls?: boolean | {
    /** Certificate authorities to trust in place of the runtime's own. */
    readonly ca?: string;
    /** Certificate of this client. */
    readonly cert?: string;
    /** Private key of this client. */
    readonly key?: string;
    /** Host name that certificates of the servers must have. @default the host name of the address */
    readonly servername?: string;
  };
  /** User name. */
  readonly username?: string;
  /** Password. */
  readonly password?: string;
  /** Database number; a cluster has only 0. @default {0} */
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

/** Reports an error at a setting. */
type Problem = (key: string, message: string) => void;

type RedisSettings = Readonly<Record<string, unknown>>;

/**
 * Parses the address of a Redis server, of a cluster, or of sentinels.
 *
 * @param settings `url`; or `host` and `port`; or `cluster`; or `sentinel`. Further: `username`, `password`, `db`, `tls`
 * and `read_from`.
 * @throws {ConfigError} If a setting is invalid; reports all errors at once. The password is never quoted.
 */
export function redisAddress(settings: RedisSettings): RedisAddress {
  const problems: { path: string; message: string }[] = [];
  const problem = (key: string, message: string) => problems.push({ path: `storage.${key}`, message });
  const { cluster, sentinel, read_from } = settings;
  checkServers(settings, problem);
  const read = { ...readLogin(settings, problem), db: readDb(settings, problem) };
  const address = cluster !== undefined
    ? toClusterAddress(cluster, read, problem)
    : sentinel !== undefined
    ? toSentinelAddress(sentinel, read, problem)
    : toServerAddress(settings, read, problem);
  if (problems.length > 0) throw new ConfigError(problems);
  return read_from === "replica" ? { ...address!, readsReplicas: true } : address!;
}

/** The settings that name servers exclude each other. */
function checkServers(settings: RedisSettings, problem: Problem): void {
  const { url, host = "host", port = 1, cluster, sentinel, read_from } = settings;
  if (!isText(host)) problem("host", "expected a host name or an IP address");
  if (!isIntegerWithin(port, 1, 65_535)) problem("port", "expected an integer from 1 to 65535");
  const by = cluster !== undefined ? "cluster" : sentinel !== undefined ? "sentinel" : undefined;
  const excluded = by === undefined ? [] : ["url", "host", "port", by === "cluster" ? "sentinel" : "cluster"];
  for (const key of excluded.filter((key) => settings[key] !== undefined)) {
    problem(key, `"${by}" already names the servers: remove one of the two`);
  }
  const inUrl = url === undefined || by !== undefined ? [] : ["host", "port", "username", "password", "db"];
  for (const key of inUrl.filter((key) => settings[key] !== undefined)) {
    problem(key, 'is already part of "url": remove one of the two');
  }
  if (cluster !== undefined && settings.db !== undefined && settings.db !== 0) {
    problem("db", "a cluster has only the database 0: remove it");
  }
  if (read_from !== undefined && read_from !== "master" && read_from !== "replica") {
    problem("read_from", 'expected "master" or "replica"');
  } else if (read_from === "replica" && by === undefined) {
    problem("read_from", 'requires "cluster" or "sentinel", which know the replicas');
  }
}

function readDb({ db = attributes.db.default }: RedisSettings, problem: Problem): number {
  if (!isIntegerWithin(db, 0, Number.MAX_SAFE_INTEGER)) problem("db", "expected an integer from 0");
  return db as number;
}

function readLogin({ username, password, tls }: RedisSettings, problem: Problem, path = ""): RedisLogin {
  if (username !== undefined && !isText(username)) problem(`${path}username`, "expected a string");
  if (password !== undefined && !isText(password)) problem(`${path}password`, "expected a string");
  const files = tls === undefined || typeof tls === "boolean" ? undefined : readTls(tls, problem);
  return {
    isTls: tls !== undefined && tls !== false,
    ...(files === undefined ? {} : { tls: files }),
    ...(username === undefined ? {} : { username: username as string }),
    ...(password === undefined ? {} : { password: password as string }),
  };
}

function readTls(tls: unknown, problem: Problem): RedisTls {
  const names = ["ca", "cert", "key", "servername"];
  const members = readMembers(tls, { path: "tls", names, problem });
  for (const [name, value] of Object.entries(members)) {
    if (!isText(value)) problem(`tls.${name}`, "expected a string");
  }
  if ((members.cert === undefined) !== (members.key === undefined)) {
    problem("tls", '"cert" and "key" belong together: one of them is missing');
  }
  return members as RedisTls;
}

/** Returns the members of an object, and reports those that it may not have. */
function readMembers(value: unknown, { path, names, problem }: {
  readonly path: string;
  readonly names: readonly string[];
  readonly problem: Problem;
}): RedisSettings {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    problem(path, `expected an object of ${names.join(", ")}`);
    return {};
  }
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined) problem(path, `accepts only ${names.join(", ")}`);
  return value as RedisSettings;
}

/** What applies to each way to name the servers. */
type Common = RedisLogin & { readonly db: number };

function toServerAddress({ url, host, port, tls }: RedisSettings, read: Common, problem: Problem): RedisAddress {
  if (url === undefined) {
    return { host: host ?? attributes.host.default, port: port ?? attributes.port.default, ...read } as RedisAddress;
  }
  const parsed = isText(url) && url.includes("://") ? parseRedisUrl(url, attributes.port.default) : undefined;
  if (parsed === undefined) problem("url", "expected redis://[user:password@]host[:port][/db], or rediss:// for TLS");
  if (parsed?.isTls && tls === false) problem("tls", 'contradicts "url", which is rediss://');
  const { db = read.db, ...server } = parsed ?? {};
  return { ...read, ...server, isTls: read.isTls || parsed?.isTls === true, db } as RedisAddress;
}

function toClusterAddress(setting: unknown, read: Common, problem: Problem): RedisAddress | undefined {
  const parsed = parseNodes(setting, { path: "cluster", port: attributes.port.default, login: read, problem });
  if (parsed === undefined) return undefined;
  const { nodes, login } = parsed;
  return { ...nodes[0]!, ...login, db: 0, cluster: nodes };
}

function toSentinelAddress(setting: unknown, read: Common, problem: Problem): RedisAddress | undefined {
  const names = ["master", "nodes", "username", "password"];
  const { master, nodes: listed, ...user } = readMembers(setting, { path: "sentinel", names, problem });
  if (!isText(master)) problem("sentinel.master", "expected the name of the master at the sentinels");
  const { isTls, tls } = read;
  const own = readLogin(user, problem, "sentinel.");
  const login = { ...own, isTls, ...(tls === undefined ? {} : { tls }) };
  const parsed = parseNodes(listed, { path: "sentinel.nodes", port: sentinelPort, login, problem });
  if (parsed === undefined) return undefined;
  const { nodes, login: sentinelLogin } = parsed;
  return { ...nodes[0]!, ...read, sentinel: { ...sentinelLogin, master: master as string, nodes } };
}

/** Parses a list of nodes. User and TLS that their URLs name apply to all of them. */
function parseNodes(setting: unknown, { path, port, login, problem }: {
  readonly path: string;
  readonly port: number;
  readonly login: RedisLogin;
  readonly problem: Problem;
}): { readonly nodes: readonly RedisNode[]; readonly login: RedisLogin } | undefined {
  const parsed = Array.isArray(setting)
    ? setting.map((node) => isText(node) ? parseRedisUrl(node, port) : undefined)
    : [];
  if (parsed.length === 0 || parsed.includes(undefined) || parsed.some((node) => (node?.db ?? 0) !== 0)) {
    problem(path, `expected a list of nodes, each as host:port, redis://host:port or rediss://host:port`);
    return undefined;
  }
  const urls = parsed as readonly ParsedUrl[];
  const users = urls.flatMap(({ username, password }) => username ?? password ? [{ username, password }] : []);
  if (new Set(urls.map(({ isTls }) => isTls ?? login.isTls)).size > 1) {
    problem(path, "either all nodes use TLS or none");
  }
  if (new Set(users.map((user) => JSON.stringify(user))).size > 1) problem(path, "all nodes have the same user");
  const { isTls = login.isTls } = urls.find((node) => node.isTls !== undefined) ?? {};
  const nodes = urls.map(({ host, port }) => ({ host, port }));
  return { nodes, login: { ...users[0], ...login, isTls } as RedisLogin };
}

/** Parts of an address. */
interface ParsedUrl extends RedisNode {
  /** Undefined if the address has no scheme. */
  readonly isTls?: boolean;
  readonly db?: number;
  readonly username?: string;
  readonly password?: string;
}

/** Parses `redis://[user:password@]host[:port][/db]`, `rediss://…`, or without a scheme `host[:port]`. */
function parseRedisUrl(text: string, defaultPort: number): ParsedUrl | undefined {
  const hasScheme = text.includes("://");
  try {
    const { protocol, hostname, port, pathname, username, password } = new URL(hasScheme ? text : `redis://${text}`);
    const db = pathname.replace(/^\//, "");
    if (!hasScheme && text.includes("@")) return undefined; // where a password stands only in URLs, it is left out of logs
    if (!/^rediss?:$/.test(protocol) || hostname === "" || !/^\d*$/.test(db)) return undefined;
    return {
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(port || defaultPort),
      ...(hasScheme ? { isTls: protocol === "rediss:" } : {}),
      ...(db === "" ? {} : { db: Number(db) }),
      ...(username === "" ? {} : { username: decodeURIComponent(username) }),
      ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    };
  } catch {
    return undefined; // no URL, or a malformed escape in it
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isIntegerWithin(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && value as number >= least && value as number <= most;
}
