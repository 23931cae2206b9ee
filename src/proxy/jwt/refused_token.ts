/**
 * Refusals of JWTs: what their senders see, and what operators see.
 * @module
 */
import { HttpError, waitHeaders } from "../error_body.ts";
import type { KeysUnavailableError } from "./signing_keys.ts";

/** Maximum length of a value of a token in logs, characters. */
const maxLogged = 64;

/** Why a token is refused. */
export class RefusedToken extends Error {
  override name = "RefusedToken";
  /** What its sender may know. */
  readonly shown: string;
  /** Whether it is genuine, but gives no access. */
  readonly isGenuine: boolean;

  /** @param reason For the operator. */
  constructor(reason: string, { shown = "The bearer token is not accepted", isGenuine = false }: {
    readonly shown?: string;
    readonly isGenuine?: boolean;
  } = {}) {
    super(reason);
    this.shown = shown;
    this.isGenuine = isGenuine;
  }
}

/** The refusal of a genuine token that gives no access. */
export const noAccess: { readonly shown: string; readonly isGenuine: boolean } = {
  shown: "The token is valid, but gives no access here",
  isGenuine: true,
};

/** What the sender of a refused token receives. */
export function toHttpError({ shown, isGenuine }: RefusedToken, challenge: string): HttpError {
  const facts = isGenuine
    ? { status: 403, code: "access_denied", fault: "insufficient_scope" } as const
    : { status: 401, code: "invalid_api_key", fault: "invalid_token" } as const;
  const headers = { "www-authenticate": `${challenge}, error="${facts.fault}"` };
  return new HttpError(shown, { status: facts.status, code: facts.code, headers });
}

/** What senders receive while keys are unavailable. */
export function toUnavailable({ retryAfterMs }: KeysUnavailableError): HttpError {
  const headers = waitHeaders(retryAfterMs, false);
  const facts = { status: 503, type: "server_error", code: "issuer_unavailable", headers } as const;
  return new HttpError("The token cannot be verified at the moment: its issuer's keys are unavailable", facts);
}

/** The refusal of a token by the package, whose errors have codes; anything else is a key that cannot be used. */
export function toRefusal(error: unknown, issuer: string): RefusedToken {
  const code = readCode(error);
  if (code === "ERR_JWT_EXPIRED") {
    return new RefusedToken(`it has expired (issuer ${quote(issuer)})`, { shown: "The bearer token has expired" });
  }
  const reason = code?.startsWith("ERR_J") ? (error as Error).message : "its key cannot be used";
  return new RefusedToken(`${reason} (issuer ${quote(issuer)})`);
}

/** The code of an error, if it has one. */
export function readCode(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

/** A value of a token in a message. */
export function quote(text: string): string {
  return JSON.stringify(text.slice(0, maxLogged));
}
