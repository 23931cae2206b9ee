// The part of @std/cli/parse-args that this repository uses: the code is that of npm's deno-std, which has no types.

/** How options are parsed. */
export interface ParseOptions {
  /** Options with a value, which stays a string; `_` stands for positional arguments. */
  readonly string?: readonly string[];
  /** Options without a value. */
  readonly boolean?: readonly string[];
  /** Options that may be repeated; their values are a list. */
  readonly collect?: readonly string[];
  /** Short names, and the options that they stand for. */
  readonly alias?: Readonly<Record<string, string>>;
  /**
   * Called with an argument that no member above names.
   *
   * @param arg The argument as given.
   * @param key The name of the option; undefined for a positional argument.
   * @returns `false` to leave the argument out.
   */
  readonly unknown?: (arg: string, key?: string) => unknown;
}

/** Options by name, and positional arguments. */
export interface Args {
  readonly _: readonly (string | number)[];
  readonly [name: string]: unknown;
}

/**
 * Parses the arguments of a program.
 *
 * @param options Which options there are.
 */
export function parseArgs(args: readonly string[], options?: ParseOptions): Args;
