/**
 * What every command is made of.
 * @module
 */
import type { PluggableConnector } from "../contracts/connector.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Shell } from "../contracts/shell.ts";

/** What commands work with. */
export interface CommandParts {
  readonly connectors: readonly PluggableConnector[];
  readonly runtime: Runtime;
  readonly shell: Shell;
}

/** 0 ok · 1 failed · 2 usage. */
export type ExitCode = 0 | 1 | 2;

/** One command. */
export interface Command {
  /** One line, for the list of commands. */
  readonly summary: string;
  /** The whole help text. */
  readonly help: string;
  /** Flags with a value, beside `--env-file`. */
  readonly values: readonly string[];
  /** Those of them that may be repeated. */
  readonly repeated?: readonly string[];
  /** Flags without one, beside `--help` and `--json`. */
  readonly switches?: readonly string[];
  /** Its arguments may be secrets: no message quotes them. */
  readonly isPrivate?: boolean;
  /** How many arguments it takes at the most. */
  readonly maxArguments?: number;
  /** Runs it. */
  run(flags: Flags, parts: CommandParts): Promise<ExitCode>;
}

/** Arguments as typed. */
export interface Flags {
  /** Arguments that are no flags. */
  readonly rest: readonly string[];
  /** Whether results are to be printed as JSON. */
  readonly json: boolean;
  /** A flag's value. */
  value(name: string): string | undefined;
  /** All values of a flag that may be repeated. */
  all(name: string): readonly string[];
  /** Whether a flag without value is given. */
  has(name: string): boolean;
}

/** What was typed makes no sense: exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}
