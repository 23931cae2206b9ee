/**
 * Loads the certificate authority files of providers.
 * @module
 */
import type { Runtime } from "../../contracts/runtime.ts";
import { ConfigError, type ConfigProblem } from "../../errors.ts";
import { under } from "../schema/report.ts";
import type { ProviderEntry, Settings } from "../settings/settings.ts";

/**
 * Adds the content of the files to the settings.
 *
 * @param settings Settings with resolved secrets.
 * @throws {ConfigError} If a file is invalid; lists a problem for each.
 */
export async function withAuthorities(settings: Settings, runtime: Runtime): Promise<Settings> {
  const problems: ConfigProblem[] = [];
  const entries = [...settings.providers.values()].map(async (entry): Promise<ProviderEntry> => {
    const { id, enabled, authoritiesFile } = entry;
    if (authoritiesFile === undefined || !enabled) return entry;
    const path = `${under("providers", id)}.execution.ca`;
    if (runtime.readAuthorities === undefined) {
      problems.push({
        path,
        message: "is not supported here: a page, or a custom fetch, has its own trust store",
      });
      return entry;
    }
    try {
      return { ...entry, authorities: await runtime.readAuthorities(authoritiesFile) };
    } catch (error) {
      problems.push({ path, message: `${JSON.stringify(authoritiesFile)}: ${(error as Error).message}` });
      return entry;
    }
  });
  const providers = new Map((await Promise.all(entries)).map((entry) => [entry.id, entry]));
  if (problems.length > 0) throw new ConfigError(problems, settings.source);
  return { ...settings, providers };
}
