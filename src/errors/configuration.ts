/**
 * Errors of a configuration, thrown before any request is sent.
 * @module
 */
import { MeshError } from "./base.ts";

/** One problem of a configuration. */
export interface ConfigProblem {
  /** Path of the value, such as `pools.chat.strategy`; empty for the whole document. */
  readonly path: string;
  /** What is wrong and what is allowed. */
  readonly message: string;
}

/** The configuration is invalid. `problems` lists every problem, not just the first. */
export class ConfigError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "ConfigError";
  /** Every problem, each with its path. */
  declare readonly problems: readonly ConfigProblem[];

  /**
   * Creates the error.
   *
   * @param problems Every problem.
   * @param source Name of the configuration file, if there is one.
   * @param cause The underlying error.
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

/** No provider is configured, and none is detected in the environment. */
export class NoProvidersError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "NoProvidersError";

  /**
   * Creates the error.
   *
   * @param message Which environment variables configure a provider.
   */
  constructor(message: string) {
    super(message, { code: "no_providers" });
  }
}

/** A secret that the configuration refers to does not exist. The error names the secret, never a value. */
export class SecretNotFoundError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "SecretNotFoundError";
  /** Names of the missing secrets. */
  declare readonly names: readonly string[];

  /**
   * Creates the error.
   *
   * @param names Names of the missing secrets.
   * @param store Id of the secret store that was searched.
   */
  constructor(names: readonly string[], store: string) {
    const list = names.map((name) => `"${name}"`).join(", ");
    super(`Cannot find ${names.length === 1 ? "the secret" : "the secrets"} ${list} in the store "${store}"`, {
      code: "secret_not_found",
    }, { names });
  }
}
