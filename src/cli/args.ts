/**
 * Reading the command line.
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { nearest } from "../util/nearest.ts";
import { type Command, type Flags, UsageError } from "./command.ts";

/** The parser names the types of options that are known beforehand; here they are the command's. */
type Parsed = Readonly<Record<string, unknown>> & { readonly _: readonly unknown[] };

/**
 * Reads a command's arguments.
 *
 * @param command Which flags there are.
 * @param args The arguments after the command's name.
 * @throws {UsageError} For a flag nobody knows, a value that is missing, an argument too many.
 */
export function readFlags(command: Command, args: readonly string[]): Flags {
  const switches = ["help", "json", ...command.switches ?? []];
  const options = [...command.values, "env-file"];
  const known = [...options, ...switches];
  const parsed: Parsed = parseArgs(args, {
    string: [...options, "_"], // else an argument such as 007 would become a number
    boolean: switches,
    collect: options,
    alias: { h: "help" },
    unknown: (arg, key) => {
      if (key === undefined) return true;
      if (command.isPrivate) throw new UsageError(unknownOfPrivate);
      const hint = nearest(key, known, 1)[0];
      throw new UsageError(
        `Unknown option "${arg.split("=")[0]}"${hint === undefined ? "" : `; did you mean "--${hint}"?`}`,
      );
    },
  });
  for (const [index, arg] of args.entries()) {
    const name = arg.replace(/^--/, "");
    // the parser takes an empty text for no text at all
    if (arg !== name && args[index + 1] === "" && options.includes(name)) throw needsValue(name);
  }
  const rest = parsed._.map(String);
  if (rest.length > (command.maxArguments ?? 0)) {
    if (command.isPrivate) throw new UsageError("Too many arguments: put a value with spaces in it in quotes");
    throw new UsageError(`Unexpected argument "${rest[command.maxArguments ?? 0]}"`);
  }
  const all = (name: string) => [parsed[name] ?? []].flat().map(String);
  for (const name of options) {
    const values = all(name);
    if (values.some((value) => value.trim() === "")) throw needsValue(name);
    if (values.length > 1 && ![...command.repeated ?? [], "env-file"].includes(name)) {
      throw new UsageError(`The option "--${name}" is given more than once`);
    }
  }
  return {
    rest,
    json: parsed.json === true,
    value: (name) => all(name)[0],
    all,
    has: (name) => parsed[name] === true,
  };
}

/** What was typed may be a secret that begins with a dash. */
const unknownOfPrivate =
  'Unknown option: give "-" for a value that begins with a dash, and the value by standard input';

/**
 * Reads a port.
 *
 * @param text What was typed.
 * @throws {UsageError} When it is none.
 */
export function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`The option "--port" takes a number from 0 to 65535, not "${text}"`);
}

function needsValue(name: string): UsageError {
  return new UsageError(`The option "--${name}" needs a value`);
}
