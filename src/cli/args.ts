/**
 * Parses command-line arguments.
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { nearest } from "../util/nearest.ts";
import { type Command, type Flags, UsageError } from "./command.ts";

/** The result of the parser. Its own types cover literal options only; here the options come from the command. */
type Parsed = Readonly<Record<string, unknown>> & { readonly _: readonly unknown[] };

/**
 * Parses the arguments that follow a command's name.
 *
 * @throws {UsageError} For an unknown option, a missing value, or too many arguments.
 */
export function readFlags(command: Command, args: readonly string[]): Flags {
  const options = [...command.values, "env-file"];
  const parsed = parseFlags(command, { args, options });
  const positional = parsed._.map(String);
  checkPositional(command, positional);
  const all = (name: string) => [parsed[name] ?? []].flat().map(String);
  for (const name of options) {
    const values = all(name);
    if (values.some((value) => value.trim() === "")) throw needsValue(name);
    if (values.length > 1 && ![...command.repeated ?? [], "env-file"].includes(name)) {
      throw new UsageError(`The option "--${name}" is given more than once`);
    }
  }
  return {
    positional,
    json: parsed.json === true,
    value: (name) => all(name)[0],
    all,
    has: (name) => parsed[name] === true,
  };
}

function parseFlags(
  command: Command,
  { args, options }: { readonly args: readonly string[]; readonly options: readonly string[] },
): Parsed {
  const switches = ["help", "json", ...command.switches ?? []];
  checkValues(args, { options, switches });
  return parseArgs(args, {
    string: [...options, "_"], // else an argument such as 007 would become a number
    boolean: switches,
    collect: options,
    alias: { h: "help" },
    unknown: (arg, key) => {
      if (key === undefined) return true;
      if (command.isPrivate) throw new UsageError(unknownPrivateOption);
      const names = [...options, ...switches];
      const hint = key.length === 1 ? names.find((name) => name.startsWith(key)) : nearest(key, names, 1)[0];
      throw new UsageError(
        `Unknown option "${arg.split("=")[0]}"${hint === undefined ? "" : `; did you mean "--${hint}"?`}`,
      );
    },
  });
}

/** Checks what the parser accepts: an empty string as a value, and a value of an option that has none. */
function checkValues(
  args: readonly string[],
  { options, switches }: { readonly options: readonly string[]; readonly switches: readonly string[] },
): void {
  for (const [index, arg] of args.entries()) {
    if (arg === "--") return;
    const [, name = "", value] = /^--([^=]*)(=.*)?$/s.exec(arg) ?? [];
    if (value === undefined && args[index + 1] === "" && options.includes(name)) throw needsValue(name);
    if (value !== undefined && switches.includes(name)) throw new UsageError(`The option "--${name}" takes no value`);
  }
}

/** Whether an argument is a file of a configuration by its extension. */
export function isConfigPath(argument: string): boolean {
  return /\.(?:ya?ml|json)$/i.test(argument);
}

function checkPositional({ maxArguments = 0, isPrivate, values }: Command, positional: readonly string[]): void {
  if (positional.length <= maxArguments) return;
  if (isPrivate) throw new UsageError("Too many arguments: put a value with spaces in it in quotes");
  const argument = positional[maxArguments]!;
  const hint = values.includes("config") && isConfigPath(argument) ? `; did you mean "--config ${argument}"?` : "";
  throw new UsageError(`Unexpected argument "${argument}"${hint}`);
}

/**
 * The message for arguments that may be secrets. It does not quote the argument, which may be a secret that begins with
 * a dash.
 */
const unknownPrivateOption =
  'Unknown option. For a value that begins with a dash, pass "-" and send the value to standard input';

/**
 * Parses a port; undefined when the option is absent.
 *
 * @throws {UsageError} Unless it is 0 to 65535.
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
