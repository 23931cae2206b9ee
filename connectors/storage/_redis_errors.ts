/**
 * Errors of Redis, worded by their cause. Its messages quote neither passwords nor values.
 * @module
 */
import { ConnectorError, type ConnectorProblem } from "../../src/errors.ts";
import { describeDenial } from "../../src/util/denial.ts";
import type { RedisNode } from "./_redis_address.ts";
import { redisDeclaration } from "./declarations.ts";

/** The connector's id. */
export const redisId: string = redisDeclaration.id;

/** Error codes of a server that is not, or not yet, the one to write to. Another one may have its address by now. */
const failover = /\b(READONLY|CLUSTERDOWN|LOADING|MASTERDOWN|NOREPLICAS|MOVED)\b|^(?:ASK|TRYAGAIN)\b/;

/** Error codes of a server that is not the one for the keys any more, and has changed nothing. */
const moved = /\b(READONLY|MOVED)\b/;

/** End of the message of an error whose cause is unknown. */
export const unreachable = "check that it runs, and check the url or host";

/** Why such a server does not serve. */
const failoverReasons: Readonly<Record<string, string>> = {
  READONLY: "it is a read-only replica",
  CLUSTERDOWN: "its cluster is down",
  LOADING: "it is loading its data",
  MASTERDOWN: "it is a replica without its master",
  NOREPLICAS: "it has too few replicas to write",
  MOVED: 'it is a node of a cluster that has the keys elsewhere; name its nodes by "cluster"',
  ASK: "it is a node of a cluster that is moving the keys",
  TRYAGAIN: "it is a node of a cluster that is moving the keys",
};

/** What Node (by code) and Deno (by message) report of a certificate. */
const certificate =
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|certificate|UnknownIssuer|NotValidForName|Expired/;

/** Whether a reply shows that the connection leads to a server that is not the one to write to. */
export function isFailover(error: unknown): boolean {
  return failover.test(textIn(error));
}

/** Whether a reply shows that another server has the keys by now, and that the command has had no effect. */
export function isMoved(error: unknown): boolean {
  return moved.test(textIn(error));
}

/** Whether another node of a cluster has received the keys. */
export function isRedirected(error: unknown): boolean {
  return /^MOVED\b/.test(textIn(error));
}

/**
 * Words an error by its cause.
 *
 * @param error The error of the client, or of the server.
 * @param sent What caused it.
 */
export function toRedisError(error: unknown, { address: { host, port }, script, gaps = "" }: {
  readonly address: RedisNode;
  /** The script, if it was one. */
  readonly script?: string | undefined;
  /** Slots of the cluster that no node serves. */
  readonly gaps?: string;
}): ConnectorError {
  const where = `Redis at ${host}:${port}`;
  const subject = `The storage "${redisId}"`;
  const text = textIn(error);
  const createError = (message: string, problem?: ConnectorProblem) =>
    new ConnectorError(`${subject} ${message}`, error, problem);
  const code = failover.exec(text)?.[0];
  if (code !== undefined) {
    const reason = code === "CLUSTERDOWN" && gaps !== "" ? `no node serves the slots ${gaps}` : failoverReasons[code];
    return createError(`cannot use ${where}: ${reason} (${code})`, "unavailable");
  }
  const denied = describeDenial(error, { host: `${host}:${port}` });
  if (denied !== undefined) return createError(`cannot reach ${where}: ${denied}`, "forbidden");
  const denial = denialIn(text, script);
  if (denial !== undefined) {
    return createError(
      `was denied access by ${where}: ${denial}; check username, password and permissions`,
      "forbidden",
    );
  }
  if (/\bOOM\b/.test(text)) return createError(`cannot write: ${where} is full, its memory is used up (OOM)`, "full");
  if (/\bMISCONF\b/.test(text)) {
    return createError(`cannot write: ${where} is full, or cannot save to its disk (MISCONF)`, "full");
  }
  if (/^(ERR|WRONGTYPE|NOSCRIPT|BUSY)\b/.test(text)) return createError(`was rejected by ${where}: ${text}`);
  return createError(
    `cannot reach ${where}${reachIn(error, text)}: ${unreachable}`,
    "unavailable",
  );
}

/** Why access is denied; undefined if it is not. */
function denialIn(text: string, script: string | undefined): string | undefined {
  if (/\bWRONGPASS\b/.test(text)) return "wrong username or password (WRONGPASS)";
  if (/\bNOAUTH\b/.test(text)) return "it requires a password (NOAUTH)";
  if (!/\bNOPERM\b|The user executing the script can't/.test(text)) return undefined;
  if (/\bkeys?\b/.test(text)) return "no permission for its keys (NOPERM)";
  if (/\bchannels?\b/.test(text)) return "no permission for its channels (NOPERM)";
  const command = /'([\w|]+)' command/.exec(text)?.[1] ?? commandsAt(text, script);
  return `no permission for the command ${command} (NOPERM)`;
}

/** Redis 7 does not name the command of a script, but its line. */
function commandsAt(text: string, script = ""): string {
  const line = script.split("\n")[Number(/user_script:(\d+)/.exec(text)?.[1] ?? 0) - 1] ?? script;
  return [...new Set([...line.matchAll(/redis\.call\('(\w+)'/g)].map(([, name]) => name))].join(" or ");
}

/** Other reasons differ from one attempt to the next. */
function reachIn(error: unknown, text: string): string {
  const { code } = Object(error) as { readonly code?: unknown };
  const reason = typeof code === "string" ? code : text;
  if (/ALERT_|fatal alert/.test(reason)) return ` (it does not accept the certificate of this client: ${reason})`;
  return certificate.test(reason) || certificate.test(text) ? ` (its certificate is not accepted: ${reason})` : "";
}

function textIn(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
