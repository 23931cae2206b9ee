/**
 * Validates a document and builds its settings; reports all errors at once.
 * @module
 */
import { ConfigError } from "../../errors.ts";
import { type BuildOptions, buildSettings } from "./build_settings.ts";
import { Report, type ScalarSecrets } from "../schema/report.ts";
import { copyTree, inspectTree } from "../schema/tree.ts";
import { parse } from "../schema/parse.ts";
import { schema } from "../schema/schema.ts";
import type { DeferredSettings, Settings } from "../settings/settings.ts";

type ValidateOptions = BuildOptions;

/**
 * Validates a document, and returns complete settings. If secrets stand for numbers or booleans, the settings have
 * sample values for these until their `deferred` is resolved.
 *
 * @param document The parsed file, or an object.
 * @throws {ConfigError} If the document is invalid; lists every problem with its path.
 *
 * @example
 * ```ts
 * import { knownConnectors } from "../settings/known.ts";
 *
 * validate({ pools: { "chat-completion": { strategy: "round-robin" } } }, { known: knownConnectors([]) });
 * ```
 */
export function validate(document: unknown, options: ValidateOptions): Settings {
  return validateWith(document, options, undefined);
}

function validateWith(document: unknown, options: ValidateOptions, secrets: ScalarSecrets | undefined): Settings {
  const report = new Report(secrets);
  if (!inspectTree(document, report)) throw new ConfigError(report.problems, options.source);
  if (document === null || document === undefined) report.problem("", "expected an object, found nothing");
  const values = parse(schema, document, { path: "", report }) ?? {};
  const unread = report.problems.length;
  const settings = buildSettings(values, options, report);
  const { names } = report.deferred;
  const problems = [...report.problems.slice(0, unread), ...report.independent(report.problems.slice(unread))];
  if (problems.length > 0) throw new ConfigError(problems, options.source);
  if (settings.storage === undefined && names.size === 0) return settings;
  const copy = copyTree(document, () => {}, ""); // the program may modify its own object
  return Object.freeze({
    ...settings,
    warnings: report.independent(report.warnings),
    ...(settings.storage === undefined ? {} : { document: copy }),
    ...(names.size === 0 ? {} : { deferred: new Deferred(copy, options, names) }),
  });
}

/** An instance, so that freezing settings leaves it as it is. */
class Deferred implements DeferredSettings {
  readonly names: readonly string[];
  readonly #document: unknown;
  readonly #options: ValidateOptions;

  constructor(document: unknown, options: ValidateOptions, names: Iterable<string>) {
    this.names = [...names];
    this.#document = document;
    this.#options = options;
  }

  resolve(secrets: ScalarSecrets): Settings {
    return validateWith(this.#document, this.#options, secrets);
  }
}
