/**
 * Stored clients: settings and the hash of a token, never the token.
 * @module
 */
import { type BudgetValues, mergeBudgets } from "../../config/schema/budget.ts";
import type { ClientSettings } from "../../config/settings/settings.ts";
import { ConnectorError } from "../../errors.ts";
import { isObject } from "../../util/is_object.ts";

/** Settings of a client. Money is in USD, times are ISO 8601. */
export interface RuntimeClientFacts {
  readonly name: string;
  readonly pools?: readonly string[];
  readonly budget?: BudgetValues;
  readonly rpm?: number;
  readonly priority?: number;
  readonly expires_at?: string;
}

/** A stored client. */
export interface StoredClient extends RuntimeClientFacts {
  readonly id: string;
  readonly created_at: string;
  /** SHA-256 of its token, hexadecimal. */
  readonly token_sha256: string;
  /** Number of changes since it was created. @default 0 */
  readonly revision?: number;
}

/** The stored record. */
export interface ClientsDocument {
  readonly version: 1;
  readonly clients: readonly StoredClient[];
  /** Revoked clients, whose names appear in their usage. */
  readonly revoked: readonly (Pick<StoredClient, "id" | "name"> & { readonly revoked_at: string })[];
}

export const noClients: ClientsDocument = { version: 1, clients: [], revoked: [] };

/**
 * Reads the record.
 *
 * @param text JSON.
 * @throws {ConnectorError} `unreadable` if the format is unknown, since a guess might grant access.
 */
export function readDocument(text: string): ClientsDocument {
  const value: unknown = JSON.parse(text);
  if (isObject(value) && value.version === 1 && areAll(value.clients, isStored) && areAll(value.revoked, isRevoked)) {
    return value as unknown as ClientsDocument;
  }
  throw new ConnectorError("The record of the clients is not what this version writes", undefined, "unreadable");
}

/** The limits in the proxy's format. */
export function toClientSettings(
  { pools, budget, rpm, priority }: RuntimeClientFacts,
): Omit<ClientSettings, "token" | "name"> {
  const limits = mergeBudgets([budget]);
  return {
    ...(pools && { pools }),
    ...(rpm !== undefined && { rpm }),
    ...(priority !== undefined && { priority }),
    ...(limits && { budget: limits }),
  };
}

/** A client as shown to administrators. */
export function shownClient(
  { token_sha256: _, revision: __, ...shown }: StoredClient,
): Omit<StoredClient, "token_sha256" | "revision"> {
  return shown;
}

function areAll(value: unknown, isOne: (entry: Readonly<Record<string, unknown>>) => boolean): boolean {
  return Array.isArray(value) && value.every((entry) => isObject(entry) && isOne(entry));
}

function isStored(
  { id, name, token_sha256, pools, rpm, priority, expires_at, revision }: Readonly<Record<string, unknown>>,
): boolean {
  return typeof id === "string" && typeof name === "string" && typeof token_sha256 === "string" &&
    (pools === undefined || Array.isArray(pools)) && (rpm === undefined || typeof rpm === "number") &&
    (priority === undefined || typeof priority === "number") &&
    (revision === undefined || typeof revision === "number") &&
    (expires_at === undefined || typeof expires_at === "string" && !Number.isNaN(Date.parse(expires_at)));
}

function isRevoked({ id, name }: Readonly<Record<string, unknown>>): boolean {
  return typeof id === "string" && typeof name === "string";
}
