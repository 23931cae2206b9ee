/**
 * The interface of a command.
 * @module
 */
import type { PluggableConnector } from "../contracts/connector.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Shell } from "../contracts/shell.ts";

export interface CommandParts {
  readonly connectors: readonly PluggableConnector[];
  readonly runtime: Runtime;
  readonly shell: Shell;
}

/** Exit codes: 0 success, 1 failure, 2 usage error. */
export type ExitCode = 0 | 1 | 2;

export interface Command {
  readonly help: string;
  /** Options with a value, in addition to `--env-file`. */
  readonly values: readonly string[];
  /** Those of `values` that may be repeated. */
  readonly repeated?: readonly string[];
  /** Options without a value, in addition to `--help` and `--json`. */
  readonly switches?: readonly string[];
  /** Whether its arguments may be secrets, which no message quotes. */
  readonly isPrivate?: boolean;
  /**
   * Maximum number of positional arguments.
   * @default 0
   */
  readonly maxArguments?: number;
  run(flags: Flags, parts: CommandParts): Promise<ExitCode>;
  /** Returns a line to print after the message of an error; undefined for none. */
  advice?(error: unknown): string | undefined;
}

/** Parsed command-line arguments. */
export interface Flags {
  /** Positional arguments. */
  readonly positional: readonly string[];
  /** Whether `--json` is set: print results as JSON. */
  readonly json: boolean;
  /** Returns the value of an option; undefined when it is absent. */
  value(name: string): string | undefined;
  /** Returns the values of a repeatable option, in order. */
  all(name: string): readonly string[];
  /** Whether an option without a value is set. */
  has(name: string): boolean;
}

/** The command line is invalid; the exit code is 2. */
export class UsageError extends Error {
  override name = "UsageError";
}
