/**
 * Opens providers: creates their instances, and sets their API keys or access tokens.
 * @module
 */
import { addSecretSettings, type Redactor } from "../observe/redact.ts";
import type { TokenSettings } from "../config/settings/settings.ts";
import type { AmbientIdentity, TokenGrant } from "../contracts/connector.ts";
import type { Provider } from "../contracts/provider.ts";
import type { Authorities, Runtime } from "../contracts/runtime.ts";
import { ConfigError, type ConfigProblem } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import { callNow } from "../util/once.ts";

/** Dependencies of opening. */
export interface OpeningParts {
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Learns the keys, so that records redact them. */
  readonly redactor: Redactor;
}

/**
 * Opens providers one after the other.
 *
 * @param instances Providers whose connectors are loaded.
 * @throws {ConfigError} When settings are invalid; lists the problems of all providers.
 */
export async function openProviders(instances: readonly ProviderInstance[], parts: OpeningParts): Promise<void> {
  const problems: ConfigProblem[] = [];
  for (const instance of instances) {
    try {
      await openProvider(instance, parts);
    } catch (error) {
      if (!ConfigError.isInstance(error)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/**
 * Opens a provider. Sends nothing yet.
 *
 * @param instance A provider whose connector is loaded.
 */
export async function openProvider(instance: ProviderInstance, parts: OpeningParts): Promise<void> {
  const { id, connector, config, baseUrl, apiKeys, tokens, authorities } = instance.entry;
  const { catalogue, redactor } = parts;
  const runtime = authorities === undefined ? parts.runtime : trusting(authorities, parts.runtime);
  const settings = { id, config, baseUrl, ...(tokens?.method === "ambient" ? { isAmbient: true } : {}) };
  const provider = instance.entry.instance ??
    callNow(() => catalogue.loaded("provider", connector)!.create(settings, runtime));
  instance.credential = apiKeys[0];
  for (const secret of apiKeys) redactor.add(secret);
  addSecretSettings(config, redactor);
  const createTokens = findGrant(instance, { ...parts, runtime });
  instance.provider = createTokens === undefined ? provider : await authorize(provider, createTokens);

  async function authorize(inner: Provider, createTokens: () => Promise<TokenGrant>): Promise<Provider> {
    const [{ authorized }, grant] = await Promise.all([import("../auth/authorized.ts"), createTokens()]);
    return authorized(inner, { ...parts, runtime, id, grant });
  }
}

/** How a provider's tokens are fetched, imported on demand; undefined for a provider without tokens. */
function findGrant(
  { entry: { tokens, apiKeys }, connector }: ProviderInstance,
  { runtime, redactor }: OpeningParts,
): (() => Promise<TokenGrant>) | undefined {
  const { tokenScope, ambient } = connector ?? {};
  if (tokens !== undefined && isConfigured(tokens)) {
    // a refresh token already has a scope
    const scope = tokens.scope ?? (tokens.refreshToken === undefined ? tokenScope : undefined);
    return async () => (await import("../auth/grants.ts")).createGrant({ ...tokens, scope }, { runtime, redactor });
  }
  const load = ambient?.load;
  if (load === undefined || apiKeys.length > 0 || tokens === undefined && !isAnnounced(ambient!, runtime)) {
    return undefined;
  }
  return async () => (await load())(runtime, tokens?.scope ?? tokenScope ?? "");
}

function isConfigured(tokens: TokenSettings): tokens is TokenSettings & { method: "oauth" | "service_account" } {
  return tokens.method !== "ambient";
}

function isAnnounced({ announcedBy }: AmbientIdentity, { env }: Runtime): boolean {
  return announcedBy.some((names) => names.every((name) => (env(name)?.trim() ?? "") !== ""));
}

/** Returns the runtime for a provider's calls outside of requests, such as for tokens. */
function trusting(authorities: Authorities, runtime: Runtime): Runtime {
  return { ...runtime, send: (request) => runtime.send({ ...request, authorities }) };
}
