/**
 * What the benchmark is asked for on its command line.
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";

/** What is measured, with whom, and for how long. */
export interface Options {
  /** Names of figures; all unless given. */
  readonly only: readonly string[];
  /** Names of contestants; all that a figure is about unless given. */
  readonly contestants: readonly string[];
  /** How many connections at once, one measurement each. */
  readonly connections: readonly number[];
  /** How long each measurement takes. */
  readonly seconds: number;
  /** How often each is repeated, in turn with the others. */
  readonly rounds: number;
  /** Fewer contestants, connections and rounds. */
  readonly isQuick: boolean;
  /** Raw numbers as JSON on standard output, all else on standard error. */
  readonly isJson: boolean;
}

/** What `--help` prints. */
export const help = `Usage: deno task bench [options]

Options:
  --quick                 1 to 2 minutes: fewer figures, contestants, connections and rounds
  --only=<figure,...>     These figures; see the end of this text
  --contestants=<a,...>   These contestants; see there too
  --connections=<n,...>   Connections at once (1,16,64,256; quick 16,64)
  --seconds=<n>           Length of each measurement (1)
  --rounds=<n>            Repetitions, interleaved (3; quick 2)
  --json                  Raw numbers on standard output
  --help                  Show this help
`;

const strings = ["only", "contestants", "connections", "seconds", "rounds"];
const switches = ["quick", "json", "help"];

/**
 * Reads the command line.
 *
 * @param args Its arguments.
 * @returns Undefined when help is asked for.
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
    connections: listIn(text("connections") ?? (isQuick ? "16,64" : "1,16,64,256")).map((one) => count(one)),
    seconds: count(text("seconds") ?? "1"),
    rounds: count(text("rounds") ?? (isQuick ? "2" : "3")),
    isQuick,
    isJson: read.json === true,
  };
}

function listIn(text = ""): string[] {
  return text.split(",").map((one) => one.trim()).filter((one) => one !== "");
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new TypeError(`Expected a whole number from 1, not "${text}"`);
  return value;
}
