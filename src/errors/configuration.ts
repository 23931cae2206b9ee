/**
 * Errors of a configuration, thrown before any request.
 * @module
 */
import { MeshError } from "./base.ts";

/** One thing wrong with a configuration. */
export interface ConfigProblem {
  /** Where, such as `pools.chat.strategy`; empty for the document itself. */
  readonly path: string;
  /** What is wrong and what is allowed. */
  readonly message: string;
}

/** The configuration does not hold; `problems` lists all that is wrong, not just the first. */
export class ConfigError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "ConfigError";
  /** Everything wrong, each with its path. */
  declare readonly problems: readonly ConfigProblem[];

  /**
   * Makes the error.
   *
   * @param problems Everything wrong.
   * @param source The file's name, when there is one.
   * @param cause What caused it.
   */
  constructor(problems: readonly ConfigProblem[], source?: string, cause?: unknown) {
    const where = source === undefined ? "configuration" : `configuration "${source}"`;
    const lines = problems.map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
    super(
      lines.length === 1
        ? `Cannot use the ${where}: ${lines[0]}`
        : `Cannot use the ${where}: ${lines.length} problems\n${lines.map((line) => `  ${line}`).join("\n")}`,
      { code: "invalid_configuration", cause },
      { problems },
    );
  }
}

/** No provider has a key in the environment. */
export class NoProvidersError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "NoProvidersError";

  /**
   * Makes the error.
   *
   * @param message Which variables would help.
   */
  constructor(message: string) {
    super(message, { code: "no_providers" });
  }
}

/** A secret that the configuration refers to does not exist. Names the secret, never a value. */
export class SecretNotFoundError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "SecretNotFoundError";
  /** The missing secrets' names. */
  declare readonly names: readonly string[];

  /**
   * Makes the error.
   *
   * @param names The missing secrets.
   * @param store Where they were looked for.
   */
  constructor(names: readonly string[], store: string) {
    const list = names.map((name) => `"${name}"`).join(", ");
    super(`Cannot find ${names.length === 1 ? "the secret" : "the secrets"} ${list} in the store "${store}"`, {
      code: "secret_not_found",
    }, { names });
  }
}
