/**
 * OAuth access tokens instead of API keys. Tokens are fetched on demand.
 * @module
 */
import type { TokenSettings } from "../config/settings/settings.ts";
import type { Provider } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { UpstreamError } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { Redactor } from "../observe/redact.ts";
import { TokenCache } from "../util/token_cache.ts";
import { AuthorizedProvider } from "./authorized_provider.ts";
import { createGrant, type Grant } from "./grants.ts";
import { collectSecrets } from "./collect_secrets.ts";

export interface TokenParts {
  /** The provider's entry id. */
  readonly id: string;
  readonly tokens: TokenSettings;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Receives secrets and tokens, so that records do not contain them. */
  readonly redactor: Redactor;
}

/** Wraps a provider so that its calls are authorized with access tokens. */
export function authorized(provider: Provider, parts: TokenParts): Provider {
  for (const secret of collectSecrets(parts.tokens)) parts.redactor.add(secret);
  return new AuthorizedProvider(provider, new TokenCache(loggedGrant(parts), parts.runtime.clock));
}

/** A grant that registers its tokens with the redactor and logs failures. */
function loggedGrant({ id, tokens, runtime, hub, redactor }: TokenParts): Grant {
  const grant = createGrant(tokens, runtime);
  return async () => {
    try {
      const token = await grant();
      redactor.addToken(token.value);
      if (token.refreshToken !== undefined) redactor.addToken(token.refreshToken);
      return token;
    } catch (error) {
      const reason = UpstreamError.isInstance(error) ? `: ${error.message}` : "";
      const message = `No token for the provider "${id}"${reason}`;
      hub.trace({ severity: "warning", component: "provider", message, provider: id });
      throw error;
    }
  };
}
