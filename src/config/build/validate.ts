/**
 * Validates a document and builds its settings; reports all errors at once.
 * @module
 */
import { ConfigError } from "../../errors.ts";
import { type BuildOptions, buildSettings } from "./build_settings.ts";
import { Report } from "../schema/report.ts";
import { copyTree, inspectTree } from "../schema/tree.ts";
import { schema } from "../schema/schema.ts";
import type { Settings } from "../settings/settings.ts";

type ValidateOptions = BuildOptions;

/**
 * Validates a document, and returns complete settings.
 *
 * @param document The parsed file, or an object.
 * @throws {ConfigError} If the document is invalid; lists every problem with its path.
 *
 * @example
 * ```ts ignore
 * validate({ pools: { "chat-completion": { strategy: "round-robin" } } }, { known });
 * ```
 */
export function validate(document: unknown, options: ValidateOptions): Settings {
  const report = new Report();
  if (!inspectTree(document, report)) throw new ConfigError(report.problems, options.source);
  if (document === null || document === undefined) report.problem("", "expected an object, found nothing");
  const settings = buildSettings(schema().read(document, "", report) ?? {}, options, report);
  if (report.problems.length > 0) throw new ConfigError(report.problems, options.source);
  if (settings.storage === undefined) return settings;
  return Object.freeze({ ...settings, document: copyTree(document, () => {}, "") }); // copied: the program may modify its own object
}
