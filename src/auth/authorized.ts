/**
 * Tokens in place of keys: they are fetched when calls need them.
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
import { type Grant, grantOf } from "./grants.ts";
import { secretsOf } from "./secrets_of.ts";

export interface TokenParts {
  /** Entry id. */
  readonly id: string;
  readonly tokens: TokenSettings;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Gets secrets and tokens, so that no record shows them. */
  readonly redactor: Redactor;
}

/** A provider whose calls carry a token. */
export function authorized(provider: Provider, parts: TokenParts): Provider {
  for (const secret of secretsOf(parts.tokens)) parts.redactor.add(secret);
  return new AuthorizedProvider(provider, new TokenCache(reported(parts), parts.runtime.clock));
}

/** A grant whose tokens are known to the redactor, and whose failures are logged. */
function reported({ id, tokens, runtime, hub, redactor }: TokenParts): Grant {
  const grant = grantOf(tokens, runtime);
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
