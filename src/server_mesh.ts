/**
 * The engine on servers: limits, budgets, calendars, several keys, and tokens in place of keys.
 * @module
 */
import { AuthorizedProvider } from "./auth/authorized_provider.ts";
import { type Grant, grantOf } from "./auth/grants.ts";
import { secretsOf } from "./auth/secrets_of.ts";
import type { TokenSettings } from "./config/settings/settings.ts";
import { UpstreamError } from "./errors.ts";
import { Mesh } from "./mesh.ts";
import { PassingRedactor } from "./observe/passing_redactor.ts";
import type { ProviderInstance } from "./registry/registry.ts";
import { TokenCache } from "./util/token_cache.ts";

/** A {@linkcode Mesh} with what pages have no room for. */
export class ServerMesh extends Mesh {
  /**
   * What it takes out of texts.
   *
   * @internal
   */
  override readonly redactor: PassingRedactor = new PassingRedactor();

  /**
   * Gives a provider its instance, and its key or what fetches its tokens.
   *
   * @param instance The provider.
   *
   * @internal
   */
  override open(instance: ProviderInstance): void {
    super.open(instance);
    const { tokens } = instance.entry;
    if (tokens === undefined) return;
    for (const secret of secretsOf(tokens)) this.redactor.add(secret);
    const source = new TokenCache(this.#told(instance, tokens), this.runtime.clock);
    instance.provider = new AuthorizedProvider(instance.provider!, source);
  }

  /** A grant whose tokens are known to the redactor, and whose failures are told. */
  #told({ entry }: ProviderInstance, tokens: TokenSettings): Grant {
    const grant = grantOf(tokens, this.runtime);
    return async () => {
      try {
        const token = await grant();
        this.redactor.addPassing(token.value);
        if (token.refreshToken !== undefined) this.redactor.addPassing(token.refreshToken);
        return token;
      } catch (error) {
        const reason = UpstreamError.isInstance(error) ? `: ${error.message}` : "";
        this.hub.trace({
          severity: "warning",
          component: "provider",
          message: `No token for the provider "${entry.id}"${reason}`,
          provider: entry.id,
        });
        throw error;
      }
    };
  }
}
