/**
 * From settings as written to settings to run by.
 * @module
 */
import type { SettingsSecrets } from "../config/secrets/settings_secrets.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Redactor } from "../observe/redact.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";

/** What settings are resolved with. */
export interface ResolvingParts {
  readonly runtime: Runtime;
  readonly catalogue: ConnectorCatalogue;
  /** Is given the secrets, so that no record shows them. */
  readonly redactor: Redactor;
}

/**
 * Puts secrets and certificate authorities in where settings refer to them.
 *
 * @param written As validated.
 * @param parts What they are looked up with.
 * @returns The settings to run by, and where their secrets are looked up; that is imported where a store is named.
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
  return { settings, ...(secrets && { secrets }) };
}
