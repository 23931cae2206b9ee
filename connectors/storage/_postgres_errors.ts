/**
 * Errors of PostgreSQL, worded by their cause. They quote neither passwords nor values.
 * @module
 */
import { ConnectorError, type ConnectorProblem, MeshError } from "../../src/errors.ts";
import { describeDenial } from "../../src/util/denial.ts";
import type { PostgresAddress } from "./_postgres_address.ts";
import { postgresDeclaration } from "./declarations.ts";

/** The connector's id. */
export const postgresId: string = postgresDeclaration.id;

const subject = `The storage "${postgresId}"`;

/** Errors of the server and of the network have a code. */
interface CodedError {
  /** SQLSTATE, or the name of a network error. */
  readonly code?: unknown;
}

/** SQLSTATEs of a server that is not, or not yet, the one to use. Another one may have its address by now. */
const unavailableCodes: Readonly<Record<string, string>> = {
  "25006": "it is a read-only replica",
  "53300": "it has too many connections",
  "57P01": "it is stopping",
  "57P02": "it has crashed",
  "57P03": "it is starting or stopping",
  "57P05": "it has closed an idle connection",
};

/** SQLSTATEs of a statement that took too long, or was not allowed to complete. */
const lateCodes: readonly string[] = ["57014", "55P03", "40P01", "40001"];

/** SQLSTATEs of tables and functions that do not exist. */
const missingCodes: readonly string[] = ["42P01", "3F000", "42883"];

const denials: Readonly<Record<string, string>> = {
  "28P01": "wrong username or password",
  "28000": "this user may not connect",
  "42501": "this user lacks a permission",
};

/** What Node (by code) and Deno (by message) report of a certificate. */
const certificate =
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|certificate|UnknownIssuer|NotValidForName|Expired|Hostname/;

/** The SQLSTATE of an error that the server has reported; undefined for others. */
export function findSqlState(error: unknown): string | undefined {
  const { code } = Object(error) as CodedError;
  return typeof code === "string" && /^(?!E)[0-9A-Z]{5}$/.test(code) ? code : undefined; // EPIPE is none
}

/** Whether an error leaves open whether the connection leads to a server to use. */
export function isOutage(error: unknown): boolean {
  const state = findSqlState(error);
  return state === undefined || Object.hasOwn(unavailableCodes, state) || /^(08|28|3D)/.test(state);
}

/** Whether a table or a function does not exist. */
export function isMissing(error: unknown): boolean {
  return missingCodes.includes(findSqlState(error) ?? "");
}

/** Words an error by its cause. */
export function toPostgresError(error: unknown, { host, port, database }: PostgresAddress): MeshError {
  if (MeshError.isInstance(error)) return error;
  const where = `PostgreSQL at ${host}:${port}`;
  const state = findSqlState(error) ?? "";
  const text = error instanceof Error ? error.message : "";
  const cause = new Error(text); // the client's own error carries the values of the statement
  const createError = (message: string, problem?: ConnectorProblem) =>
    new ConnectorError(`${subject} ${message}`, cause, problem);
  if (Object.hasOwn(unavailableCodes, state)) {
    return createError(`cannot use ${where}: ${unavailableCodes[state]} (${state})`, "unavailable");
  }
  if (Object.hasOwn(denials, state)) {
    const advice = state === "42501" ? `: ${text}` : "; check username and password";
    return createError(`was denied access by ${where}: ${denials[state]} (${state})${advice}`, "forbidden");
  }
  if (state === "3D000") {
    return createError(`cannot use ${where}: the database "${database}" does not exist: create it`, "unavailable");
  }
  if (/^53[12]00$/.test(state)) return createError(`cannot write: ${where} is full (${state})`, "full");
  if (lateCodes.includes(state)) {
    return createError(`had to give up a statement on ${where}: it took too long (${state})`, "unavailable");
  }
  if (/unsupported startup parameter/.test(text)) {
    const advice = 'through a pooler, set "prepared_statements" to false, and "listen_url"';
    return createError(`was rejected by ${where}: ${text} (${state}); ${advice}`, "unavailable");
  }
  const denied = describeDenial(error, { host: `${host}:${port}` });
  if (denied !== undefined) return createError(`cannot reach ${where}: ${denied}`, "forbidden");
  if (state !== "") return createError(`was rejected by ${where}: ${text} (${state})`);
  return createError(
    `cannot reach ${where}${reachIn(error, text)}: check that it runs, and check the url or host`,
    "unavailable",
  );
}

/** The storage is closed. */
export function closedError(): ConnectorError {
  return new ConnectorError(`${subject} is closed`);
}

/** A statement of this process arrived after a later one, and had no effect. */
export function supersededError(): ConnectorError {
  return new ConnectorError(`${subject} has received a statement after a later one: it had no effect`);
}

/** Messages do not arrive. */
export function undeliveredError({ host, port }: PostgresAddress): ConnectorError {
  return new ConnectorError(
    `${subject} receives no messages from PostgreSQL at ${host}:${port}. Through a pooler in transaction mode, they do ` +
      'not arrive: set "listen_url" to the address of the server itself',
    undefined,
    "unavailable",
  );
}

/** The package is missing. */
export function notInstalledError(cause: unknown): ConnectorError {
  return new ConnectorError(
    `${subject} requires the package "postgres", which is not installed: add it with "npm install postgres@3"`,
    cause,
  );
}

/** The tables are those of a newer version of this package. */
export function newerSchemaError(present: number, newest: number, tables: string): ConnectorError {
  return new ConnectorError(
    `${subject} found tables of a newer version in ${tables}: their version is ${present}, and this program knows ` +
      `versions up to ${newest}. Nothing was changed: update this program, or set another "schema"`,
  );
}

/** Tables of the same names belong to another program. */
export function foreignSchemaError(tables: string): ConnectorError {
  return new ConnectorError(
    `${subject} found tables in ${tables} that another program has created. Nothing was changed: set another "schema", ` +
      'or a "prefix" of table names',
  );
}

/** Other reasons differ from one attempt to the next. */
function reachIn(error: unknown, text: string): string {
  const { code } = Object(error) as CodedError;
  const reason = typeof code === "string" && code !== "ERR_TLS_CERT_ALTNAME_INVALID" ? code : text;
  return certificate.test(reason) || certificate.test(text) ? ` (its certificate is not accepted: ${reason})` : "";
}
