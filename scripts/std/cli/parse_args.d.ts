// The part of @std/cli/parse-args that this repository uses, with plainer types than the original's: every
// value is unknown until it is looked at.

export interface ParseOptions {
  "--"?: boolean;
  alias?: Readonly<Record<string, string | readonly string[]>>;
  boolean?: boolean | string | readonly string[];
  collect?: string | readonly string[];
  default?: Readonly<Record<string, unknown>>;
  negatable?: string | readonly string[];
  stopEarly?: boolean;
  string?: string | readonly string[];
  unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}

export interface Args {
  _: (string | number)[];
  "--"?: string[];
  [name: string]: unknown;
}

export function parseArgs(args: readonly string[], options?: ParseOptions): Args;
