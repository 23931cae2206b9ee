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

/** 0 ok · 1 failed · 2 usage. */
export type ExitCode = 0 | 1 | 2;

export interface Command {
  readonly help: string;
  /** Flags with a value, beside `--env-file`. */
  readonly values: readonly string[];
  /** Those of `values` that may be repeated. */
  readonly repeated?: readonly string[];
  /** Flags without one, beside `--help` and `--json`. */
  readonly switches?: readonly string[];
  /** Its arguments may be secrets: no message quotes them. */
  readonly isPrivate?: boolean;
  /**
   * Positional arguments at most.
   * @default 0
   */
  readonly maxArguments?: number;
  run(flags: Flags, parts: CommandParts): Promise<ExitCode>;
  /** Printed after the message of an error; undefined: nothing. */
  advice?(error: unknown): string | undefined;
}

/** Parsed arguments. */
export interface Flags {
  /** Without flags. */
  readonly positional: readonly string[];
  /** `--json`: print results as JSON. */
  readonly json: boolean;
  /** Undefined when the flag is not given. */
  value(name: string): string | undefined;
  /** In the order given; for a flag that may be repeated. */
  all(name: string): readonly string[];
  /** Whether a flag without a value is set. */
  has(name: string): boolean;
}

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}
