/**
 * Stored clients: settings and the hash of a token, never the token.
 * @module
 */
import { parse } from "../../config/schema/parse.ts";
import { Report } from "../../config/schema/report.ts";
import { budget as budgetField, type BudgetValues, mergeBudgets } from "../../config/schema/budget.ts";
import type { ClientSettings } from "../../config/settings/settings.ts";
import { ConnectorError } from "../../errors.ts";
import { pickDefined } from "../../util/entries.ts";
import { isObject } from "../../util/is_object.ts";

/** Settings of a client. Money is in USD, times are ISO 8601. */
export interface RuntimeClientFacts {
  readonly name: string;
  readonly pools?: readonly string[];
  readonly models?: readonly string[];
  readonly budget?: BudgetValues;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrent?: number;
  /** A team of the configuration. */
  readonly team?: string;
  readonly tags?: readonly string[];
  /** Names of guards of the configuration. */
  readonly guards?: readonly string[];
  readonly priority?: number;
  readonly byok?: boolean;
  readonly expires_at?: string;
  /** For operators; the client does not see it. */
  readonly notes?: string;
}

/** The token of a client. */
interface StoredToken {
  /** SHA-256 of the token, hexadecimal. */
  readonly token_sha256: string;
  /** Whether an operator has supplied the hash, so that the token may have any form. */
  readonly is_supplied?: boolean;
}

/** A stored client. */
export interface StoredClient extends RuntimeClientFacts, StoredToken {
  readonly id: string;
  readonly created_at: string;
  /** The token before the last rotation, while it is still accepted. */
  readonly previous_token?: StoredToken & { readonly ends_at: string };
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
  { pools, models, budget, rpm, tpm, concurrent, team, tags, guards, priority, byok }: RuntimeClientFacts,
): Omit<ClientSettings, "token" | "name"> {
  const limits = mergeBudgets([budget]);
  return {
    ...(pools && { pools }),
    ...pickDefined({ models, rpm, tpm, concurrent, team, tags, guards }),
    ...pickDefined({ priority, byok }),
    ...(limits && { budget: limits }),
  };
}

/** Members that are not shown. */
type HiddenMember = "token_sha256" | "is_supplied" | "previous_token" | "revision";

/**
 * A client as shown to administrators.
 *
 * @param wallTimeMs Wall clock.
 */
export function shownClient(
  { token_sha256: _, is_supplied: __, revision: ___, previous_token, ...shown }: StoredClient,
  wallTimeMs: number,
): Omit<StoredClient, HiddenMember> & { readonly previous_token_ends_at?: string } {
  const isAccepted = previous_token !== undefined && Date.parse(previous_token.ends_at) > wallTimeMs;
  return { ...shown, ...(isAccepted && { previous_token_ends_at: previous_token.ends_at }) };
}

/** Lists the tokens that are accepted at a time, with their ends, wall-clock ms. */
export function listTokens(client: StoredClient, wallTimeMs: number): readonly (StoredToken & { endsAt: number })[] {
  const { token_sha256, is_supplied = false, previous_token: previous, expires_at } = client;
  const endsAt = expires_at === undefined ? Infinity : Date.parse(expires_at);
  const previousEndsAt = previous === undefined ? 0 : Math.min(endsAt, Date.parse(previous.ends_at));
  return [
    { token_sha256, is_supplied, endsAt },
    ...(previous === undefined || previousEndsAt <= wallTimeMs ? [] : [{ ...previous, endsAt: previousEndsAt }]),
  ];
}

function areAll(value: unknown, isOne: (entry: Readonly<Record<string, unknown>>) => boolean): boolean {
  return Array.isArray(value) && value.every((entry) => isObject(entry) && isOne(entry));
}

function isStored(
  { id, name, token_sha256, previous_token, budget, pools, models, tags, guards, team, byok, expires_at, ...counts }:
    Readonly<
      Record<string, unknown>
    >,
): boolean {
  const { rpm, tpm, concurrent, priority, revision } = counts;
  return typeof id === "string" && typeof name === "string" && typeof token_sha256 === "string" &&
    [pools, models, tags, guards].every((list) => list === undefined || Array.isArray(list)) &&
    (team === undefined || typeof team === "string") && (byok === undefined || typeof byok === "boolean") &&
    [rpm, tpm, concurrent, priority, revision].every((count) => count === undefined || typeof count === "number") &&
    (expires_at === undefined || isTime(expires_at)) && (!Array.isArray(budget) || isBudget(budget)) &&
    (previous_token === undefined || isPreviousToken(previous_token));
}

/** Whether this release, and this runtime, know the windows and time zones of a list of limits. */
function isBudget(limits: readonly unknown[]): boolean {
  const report = new Report();
  parse(budgetField, limits, { path: "budget", report });
  return report.problems.length === 0;
}

function isPreviousToken(value: unknown): boolean {
  return isObject(value) && typeof value.token_sha256 === "string" && isTime(value.ends_at);
}

function isTime(value: unknown): boolean {
  return typeof value === "string" && !Number.isNaN(Date.parse(value));
}

function isRevoked({ id, name }: Readonly<Record<string, unknown>>): boolean {
  return typeof id === "string" && typeof name === "string";
}
