/**
 * Opens providers: creates their instances, and sets their API keys or access tokens.
 * @module
 */
import { addSecretSettings, type Redactor } from "../observe/redact.ts";
import type { Authorities, Runtime } from "../contracts/runtime.ts";
import { ConfigError, type ConfigProblem } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import { requireResult } from "../util/once.ts";

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
  const { id, connector, config, baseUrl, apiKeys, credentials, tokens, authorities, headers } = instance.entry;
  const { catalogue, redactor } = parts;
  const runtime = authorities === undefined ? parts.runtime : trusting(authorities, parts.runtime);
  instance.credential = apiKeys[0];
  instance.headers = headers;
  for (const secret of [...apiKeys, ...Object.values(headers ?? {})]) redactor.add(secret);
  addSecretSettings(config, redactor);
  const create = (more?: object) =>
    instance.entry.instance ??
      requireResult(catalogue.loaded("provider", connector)!.create({ id, config, baseUrl, ...more }, runtime));
  const mayHaveTokens = tokens || instance.connector?.ambient && credentials !== "header";
  instance.provider = mayHaveTokens
    ? await (await import("../auth/with_tokens.ts")).withTokens(create, instance, { ...parts, runtime }) // on demand
    : create();
}

/** Returns the runtime for a provider's calls outside of requests, such as for tokens. */
function trusting(authorities: Authorities, runtime: Runtime): Runtime {
  return { ...runtime, send: (request) => runtime.send({ ...request, authorities }) };
}
