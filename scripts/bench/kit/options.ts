/**
 * Command-line options of the benchmark.
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";

/** Command-line options. */
export interface Options {
  /** Names of figures; all by default. */
  readonly only: readonly string[];
  /** Names of contestants; all of a figure by default. */
  readonly contestants: readonly string[];
  /** Numbers of concurrent connections, each measured separately. */
  readonly connections: readonly number[];
  /** Duration of a measurement, s. */
  readonly seconds: number;
  /** Number of rounds. */
  readonly rounds: number;
  /** Whether to measure fewer contestants, connections and rounds. */
  readonly isQuick: boolean;
  /** Whether to print raw results as JSON to standard output, and everything else to standard error. */
  readonly isJson: boolean;
}

/** The help text. */
export const help = `Usage: deno task bench [options]

Options:
  --quick                 1 to 2 minutes: fewer figures, contestants, connections and rounds
  --only=<figure,...>     These figures; see the end of this text
  --contestants=<a,...>   These contestants; see there too
  --connections=<n,...>   Connections at once (1,16,64,256; quick 16,64)
  --seconds=<n>           Length of each measurement (1)
  --rounds=<n>            Repetitions, interleaved (5; quick 2)
  --json                  Raw numbers on standard output
  --help                  Show this help
`;

const strings = ["only", "contestants", "connections", "seconds", "rounds"];
const switches = ["quick", "json", "help"];

/**
 * Parses the command line.
 *
 * @returns Undefined for `--help`.
 * @throws {TypeError} For an unknown option or a malformed number.
 */
export function readOptions(args: readonly string[]): Options | undefined {
  const unknown = (arg: string): never => {
    throw new TypeError(`Unknown argument "${arg}"\n\n${help}`);
  };
  const read = parseArgs([...args], { string: strings, boolean: switches, unknown }) as Record<string, unknown>;
  if (read.help) return undefined;
  const isQuick = read.quick === true;
  const text = (name: string) => read[name] as string | undefined;
  return {
    only: listIn(text("only")),
    contestants: listIn(text("contestants")),
    connections: listIn(text("connections") ?? (isQuick ? "16,64" : "1,16,64,256")).map((value) => count(value)),
    seconds: count(text("seconds") ?? "1"),
    rounds: count(text("rounds") ?? (isQuick ? "2" : "5")),
    isQuick,
    isJson: read.json === true,
  };
}

function listIn(text = ""): string[] {
  return text.split(",").map((part) => part.trim()).filter((value) => value !== "");
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new TypeError(`Expected an integer from 1, not "${text}"`);
  return value;
}
