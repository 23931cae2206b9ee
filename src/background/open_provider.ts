/**
 * Gives providers their instances, and their keys or what fetches their tokens.
 * @module
 */
import { addSecretSettings } from "../observe/secret_names.ts";
import type { Authorities, Runtime } from "../contracts/runtime.ts";
import { ConfigError, type ConfigProblem } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { Redactor } from "../observe/redact.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import type { ProviderInstance } from "../registry/registry.ts";

/** What opening needs. */
export interface OpeningParts {
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Is given the keys, so that no record shows them. */
  readonly redactor: Redactor;
}

/**
 * Opens providers, one after the other.
 *
 * @param instances The providers, their connectors loaded.
 * @param parts What opening needs.
 * @throws {ConfigError} With the problems of all whose settings do not fit.
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
 * Opens a provider; it sends nothing yet.
 *
 * @param instance The provider, its connector loaded.
 * @param parts What opening needs.
 */
export async function openProvider(instance: ProviderInstance, parts: OpeningParts): Promise<void> {
  const { id, connector, config, baseUrl, apiKeys, tokens, authorities } = instance.entry;
  const { catalogue, redactor } = parts;
  const runtime = authorities === undefined ? parts.runtime : trusting(authorities, parts.runtime);
  const provider = instance.entry.instance ??
    catalogue.loaded("provider", connector)!.create({ id, config, baseUrl }, runtime);
  instance.credential = apiKeys[0];
  for (const secret of apiKeys) redactor.add(secret);
  addSecretSettings(config, redactor);
  if (tokens === undefined) {
    instance.provider = provider;
    return;
  }
  const { authorized } = await import("../auth/authorized.ts"); // most pages have keys
  // a refresh token was given for a scope of its own
  const scope = tokens.scope ?? (tokens.refreshToken === undefined ? instance.connector?.tokenScope : undefined);
  instance.provider = authorized(provider, { ...parts, runtime, id, tokens: { ...tokens, scope } });
}

/** The runtime for what a provider sends beside the calls of requests, such as for its tokens. */
function trusting(authorities: Authorities, runtime: Runtime): Runtime {
  return { ...runtime, send: (request) => runtime.send({ ...request, authorities }) };
}
