/**
 * Resolves settings: replaces references to secrets by their values.
 * @module
 */
import type { SettingsSecrets } from "../config/secrets/settings_secrets.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { addSecretSettings, type Redactor } from "../observe/redact.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";

/** Dependencies of {@linkcode resolveSettings}. */
export interface ResolvingParts {
  readonly runtime: Runtime;
  readonly catalogue: ConnectorCatalogue;
  /** Learns the secrets, so that records redact them. */
  readonly redactor: Redactor;
}

/**
 * Replaces references to secrets and certificate authorities by their values.
 *
 * @param written Validated settings.
 * @returns The resolved settings, and the resolver of their secrets. The resolver is imported only when a secret store
 * is configured.
 */
export async function resolveSettings(
  written: Settings,
  parts: ResolvingParts,
): Promise<{ settings: Settings; secrets?: SettingsSecrets }> {
  let settings = written;
  let secrets: SettingsSecrets | undefined;
  if (written.secrets !== undefined) {
    const { SettingsSecrets } = await import("../config/secrets/settings_secrets.ts");
    secrets = await SettingsSecrets.open(written, parts);
    settings = await secrets.resolve();
  }
  if ([...settings.providers.values()].some(({ authoritiesFile }) => authoritiesFile !== undefined)) {
    const { withAuthorities } = await import("../config/load/authorities.ts");
    settings = await withAuthorities(settings, parts.runtime);
  }
  if (addLiteralSecrets(settings, parts.redactor) > maxListed) {
    const { SecretIndex } = await import("../observe/secret_index.ts");
    parts.redactor.createIndex = (forms) => new SecretIndex(forms);
  }
  return { settings, ...(secrets && { secrets }) };
}

/** Number of secrets up to which texts are searched for one after the other. */
const maxListed = 50;

/**
 * Redacts secrets that the document contains as they are, and returns the number of those of the proxy. Those of
 * providers and storages are added with them.
 */
function addLiteralSecrets({ proxy, observability, secrets, guards }: Settings, redactor: Redactor): number {
  const { clients = [], adminTokens = [], idSecret } = proxy ?? {};
  const literal = [
    ...clients.flatMap(({ token }) => token ?? []),
    ...adminTokens,
    ...(idSecret === undefined ? [] : [idSecret]),
  ];
  for (const secret of literal) redactor.add(secret);
  for (const { config } of [...observability, ...guards?.values() ?? []]) addSecretSettings(config, redactor);
  addSecretSettings(secrets?.config, redactor);
  return literal.length;
}
