/**
 * Who may use the proxy.
 * @module
 */
import type { PlainRequest } from "../contracts/shell.ts";
import type { Client } from "./client.ts";
import { Refusal } from "./error_body.ts";

const encoder = new TextEncoder();

/** Whoever holds an accepted token. */
export interface Holder {
  /** What its token says of it; undefined for a token that is just a token, and where none is asked for. */
  readonly client?: Client | undefined;
}

/** A token that is accepted. */
export interface AcceptedToken extends Holder {
  readonly token: string;
}

const anybody: Holder = {};

/** Checks bearer tokens, all of them on every request, in time that does not depend on the match. */
export class Gate {
  readonly #holders: readonly { readonly bytes: Uint8Array; readonly holder: Holder }[];

  /** @param tokens Accepted tokens; none: everybody is let in. */
  constructor(tokens: readonly AcceptedToken[]) {
    this.#holders = tokens.map((holder) => ({ bytes: encoder.encode(holder.token), holder }));
  }

  /** Whether no token is asked for at all. */
  get isOpen(): boolean {
    return this.#holders.length === 0;
  }

  /** Who sent a request; undefined when it may not pass. */
  holderOf(request: PlainRequest): Holder | undefined {
    if (this.isOpen) return anybody;
    const match = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "");
    const given = encoder.encode(match?.[1] ?? "");
    let found: Holder | undefined;
    for (const { bytes, holder } of this.#holders) if (isSame(bytes, given)) found ??= holder;
    return found;
  }

  /**
   * Lets a request pass.
   *
   * @returns Who sent it.
   * @throws {Refusal} 401 when it has no accepted token.
   */
  check(request: PlainRequest): Holder {
    const holder = this.holderOf(request);
    if (holder !== undefined) return holder;
    const given = request.headers.has("authorization");
    throw new Refusal(
      given
        ? "The bearer token is not accepted"
        : "A bearer token is needed: send the header `Authorization: Bearer <token>`",
      { status: 401, code: "invalid_api_key", headers: { "www-authenticate": "Bearer" } },
    );
  }
}

function isSame(token: Uint8Array, given: Uint8Array): boolean {
  let difference = token.length ^ given.length;
  for (let at = 0; at < token.length; at++) difference |= token[at]! ^ (given[at] ?? 0);
  return difference === 0;
}
