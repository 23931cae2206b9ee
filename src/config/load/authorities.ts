/**
 * Certificate authorities that providers' settings name by a file.
 * @module
 */
import type { Runtime } from "../../contracts/runtime.ts";
import { ConfigError, type ConfigProblem } from "../../errors.ts";
import { under } from "../schema/report.ts";
import type { ProviderEntry, Settings } from "../settings/settings.ts";

/**
 * The settings with what the files hold.
 *
 * @param settings With resolved secrets.
 * @throws {ConfigError} With a problem for each file that is of no use.
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
        message: "cannot be honoured here: a page, or a fetch of the program's own, trusts what it trusts",
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
