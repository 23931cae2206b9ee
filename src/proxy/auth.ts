/**
 * Who may use the proxy.
 * @module
 */
import type { PlainRequest } from "../contracts/shell.ts";
import { Refusal } from "./error_body.ts";

const encoder = new TextEncoder();

/** Checks bearer tokens, all of them on every request, in time that does not depend on the match. */
export class Gate {
  readonly #tokens: readonly Uint8Array[];

  /** @param tokens Accepted tokens; none: everybody is let in. */
  constructor(tokens: readonly string[]) {
    this.#tokens = tokens.map((token) => encoder.encode(token));
  }

  /** Whether a token is asked for at all. */
  get isOpen(): boolean {
    return this.#tokens.length === 0;
  }

  /** Whether a request may pass. */
  admits(request: PlainRequest): boolean {
    if (this.isOpen) return true;
    const match = /^bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "");
    const given = encoder.encode(match?.[1] ?? "");
    let admitted = false;
    for (const token of this.#tokens) admitted = isSame(token, given) || admitted;
    return admitted;
  }

  /**
   * Lets a request pass.
   *
   * @throws {Refusal} 401 when it has no accepted token.
   */
  check(request: PlainRequest): void {
    if (this.admits(request)) return;
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
