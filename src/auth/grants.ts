/**
 * OAuth grants: client credentials and refresh token (RFC 6749), and JWT assertions signed by a service account (RFC
 * 7523).
 * @module
 */
import type { TokenSettings } from "../config/settings/settings.ts";
import type { Clock, Runtime } from "../contracts/runtime.ts";
import { UpstreamError } from "../errors.ts";
import { assertionSigner, readServiceAccount } from "../util/service_account.ts";
import { type FetchedToken, fetchToken } from "./token_endpoint.ts";

/** Fetches an access token. Throws an `UpstreamError`. */
export type Grant = () => Promise<FetchedToken>;

/** The grant that the settings configure. */
export function createGrant(settings: TokenSettings, runtime: Runtime): Grant {
  return settings.method === "oauth" ? oauth(settings, runtime) : serviceAccount(settings, runtime);
}

function oauth({ tokenUrl, clientId, clientSecret, refreshToken, scope }: TokenSettings, runtime: Runtime): Grant {
  const client = { client_id: clientId, client_secret: clientSecret, scope };
  let refresh = refreshToken;
  return async () => {
    const form = refresh === undefined
      ? { grant_type: "client_credentials", ...client }
      : { grant_type: "refresh_token", refresh_token: refresh, ...client };
    const token = await fetchToken(tokenUrl!, form, runtime);
    if (refresh !== undefined) refresh = token.refreshToken ?? refresh; // some refresh tokens are valid only once
    return token;
  };
}

function serviceAccount({ credentials, tokenUrl, scope }: TokenSettings, runtime: Runtime): Grant {
  const account = readServiceAccount(credentials!);
  const url = tokenUrl ?? account.tokenUrl!;
  const sign = assertionSigner(account, { audience: account.tokenUrl ?? url, scope, subject: account.clientEmail });
  const { clock }: { clock: Clock } = runtime;
  return async () => {
    const assertion = await sign(clock.now()).catch(() => {
      throw new UpstreamError("The service account's private key cannot be used: it is not an RSA key", {
        kind: "auth",
      });
    });
    return await fetchToken(url, { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion }, runtime);
  };
}
