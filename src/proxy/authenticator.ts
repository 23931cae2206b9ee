/**
 * Authentication by bearer token.
 * @module
 */
import type { PlainRequest } from "../contracts/shell.ts";
import type { DialectWords } from "../dialects/dialect.ts";
import type { Client } from "./client.ts";
import { HttpError } from "./error_body.ts";

const encoder = new TextEncoder();

/** Sender of a request with an accepted token. */
export interface Caller {
  /** Undefined for a token without a client's name, and where no token is required. */
  readonly client?: Client | undefined;
  /** Whether it sees everything and may activate and deactivate. */
  readonly isAdministrator: boolean;
}

/** A token, and who sends it. */
export interface AcceptedToken extends Caller {
  readonly token: string;
}

const anonymous: Caller = { isAdministrator: true };

/** Checks bearer tokens, all of them on every request, in time that does not depend on the match. */
export class Authenticator {
  readonly #callers: readonly { readonly bytes: Uint8Array; readonly caller: Caller }[];

  constructor(tokens: readonly AcceptedToken[]) {
    this.#callers = tokens.map((caller) => ({ bytes: encoder.encode(caller.token), caller }));
  }

  /** Whether no token is required. */
  get isOpen(): boolean {
    return this.#callers.length === 0;
  }

  /** The sender of a request; undefined without an accepted token where one is required. */
  callerOf(request: PlainRequest, dialect?: DialectWords): Caller | undefined {
    if (this.isOpen) return anonymous;
    const match = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "");
    const own = dialect?.tokenOf?.(request);
    return this.#callerWith(match?.[1] ?? "") ?? (own === undefined ? undefined : this.#callerWith(own));
  }

  #callerWith(token: string): Caller | undefined {
    const given = encoder.encode(token);
    let found: Caller | undefined;
    for (const { bytes, caller } of this.#callers) if (isSame(bytes, given)) found ??= caller;
    return found;
  }

  /**
   * Requires an accepted token.
   *
   * @param dialect Where its clients may put their token too.
   * @throws {HttpError} 401 without one.
   */
  authenticate(request: PlainRequest, dialect?: DialectWords): Caller {
    const caller = this.callerOf(request, dialect);
    if (caller !== undefined) return caller;
    const given = request.headers.has("authorization") || dialect?.tokenOf?.(request) !== undefined;
    const hint = "`Authorization: Bearer <token>`" +
      (dialect?.tokenHint === undefined ? "" : ` or \`${dialect.tokenHint}\``);
    throw new HttpError(
      given ? "The bearer token is not accepted" : `A bearer token is needed: send the header ${hint}`,
      { status: 401, code: "invalid_api_key", headers: { "www-authenticate": "Bearer" } },
    );
  }
}

function isSame(token: Uint8Array, given: Uint8Array): boolean {
  let difference = token.length ^ given.length;
  for (let at = 0; at < token.length; at++) difference |= token[at]! ^ (given[at] ?? 0);
  return difference === 0;
}
