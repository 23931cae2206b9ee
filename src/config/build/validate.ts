/**
 * From a document to settings: everything that is wrong with it is reported at once.
 * @module
 */
import { ConfigError } from "../../errors.ts";
import { type BuildOptions, buildSettings } from "./build_settings.ts";
import { Report } from "../schema/report.ts";
import { inspectTree } from "../schema/tree.ts";
import { schema } from "../schema/schema.ts";
import type { Settings } from "../settings/settings.ts";

/** What a document is validated against. */
export type ValidateOptions = BuildOptions;

/**
 * Validates a document.
 *
 * @param document As written, or given by a program.
 * @param options What it is validated against.
 * @throws {ConfigError} With everything that is wrong.
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
  const settings = buildSettings(schema.read(document, "", report) ?? {}, options, report);
  if (report.problems.length > 0) throw new ConfigError(report.problems, options.source);
  return settings;
}
