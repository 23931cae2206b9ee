/**
 * A service account's assertion: a JSON Web Token (RFC 7519) with the claims of RFC 7523, signed by RS256 with Web
 * Crypto.
 * @module
 */
import type { ServiceAccount } from "../config/service_account.ts";
import { UpstreamError } from "../errors.ts";
import { signedJwt, signingKey } from "../util/jwt.ts";

/** The longest that token endpoints let an assertion hold, seconds. */
const lifetimeSeconds = 3_600;

/** What an assertion is for. */
export interface AssertionFacts {
  /** The token endpoint's own name. */
  readonly audience: string;
  /** Scopes that are asked for, separated by spaces. */
  readonly scope?: string | undefined;
}

/**
 * What signs assertions.
 *
 * @param account Who signs.
 * @param facts What for.
 * @returns Takes the wall clock, ms. Throws an `UpstreamError` when the private key is none of RSA.
 */
export function signedAssertion(account: ServiceAccount, facts: AssertionFacts): (now: number) => Promise<string> {
  let key: Promise<CryptoKey> | undefined;
  return async (now) => {
    key ??= importKey(account.privateKey);
    const issuedAt = Math.floor(now / 1000);
    const claims = {
      iss: account.clientEmail,
      sub: account.clientEmail,
      aud: facts.audience,
      scope: facts.scope,
      iat: issuedAt,
      exp: issuedAt + lifetimeSeconds,
    };
    return await signedJwt(claims, await key, account.keyId);
  };
}

async function importKey(privateKey: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  try {
    return await signingKey(privateKey);
  } catch {
    throw new UpstreamError("The service account's private key cannot be used: it is no RSA key", { kind: "auth" });
  }
}
