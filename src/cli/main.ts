/**
 * The command line: picks the command, turns errors into messages and exit codes.
 * @module
 */
import { ConfigError, type ConfigProblem, MeshError, NoProvidersError } from "../errors.ts";
import { nearest } from "../util/nearest.ts";
import { version } from "../version.ts";
import { readFlags } from "./args.ts";
import { check } from "./check.ts";
import { type Command, type CommandParts, type ExitCode, type Flags, UsageError } from "./command.ts";
import { applyEnvFiles, envFileHint } from "./env_files.ts";
import { models } from "./models.ts";
import { proxy } from "./proxy.ts";
import { secrets } from "./secrets.ts";

const commands: Readonly<Record<string, Command>> = { proxy, check, models, secrets };

/**
 * Runs a command line; errors become messages on stderr.
 *
 * @returns 0 ok · 1 failed · 2 usage.
 */
export async function runCli(args: readonly string[], parts: CommandParts): Promise<ExitCode> {
  const { stdout, stderr } = parts.shell;
  const [name, ...commandArgs] = args;
  if (name === "--version" || name === "version") {
    stdout.write(`${version}\n`);
    return 0;
  }
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    stdout.write(overview());
    return name === undefined ? 2 : 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  let flags: Flags | undefined;
  try {
    if (command === undefined) throw new UsageError(`Unknown command "${name}"${didYouMean(name)}`);
    flags = readFlags(command, commandArgs);
    if (flags.has("help")) {
      stdout.write(command.help);
      return 0;
    }
    await applyEnvFiles(flags, parts);
    return await command.run(flags, parts);
  } catch (error) {
    if (error instanceof UsageError) {
      stderr.write(`${error.message}\nTry: modelmesh ${command === undefined ? "" : `${name} `}--help\n`);
      return 2;
    }
    if (commandArgs.includes("--json") && (command === check || ConfigError.isInstance(error))) {
      stdout.write(`${JSON.stringify({ ok: false, problems: problemsOf(error) })}\n`);
    }
    const hint = flags !== undefined && NoProvidersError.isInstance(error) ? await envFileHint(flags, parts) : "";
    stderr.write([messageOf(error), command?.advice?.(error), hint].filter(Boolean).join("\n") + "\n");
    return 1;
  }
}

function didYouMean(name: string): string {
  const hint = nearest(name, Object.keys(commands), 1)[0];
  return hint === undefined ? "" : `; did you mean "${hint}"?`;
}

/** An error that no path of the configuration causes is one problem with an empty path. */
function problemsOf(error: unknown): readonly ConfigProblem[] {
  return ConfigError.isInstance(error) ? error.problems : [{ path: "", message: messageOf(error) }];
}

/** The message to print. */
function messageOf(error: unknown): string {
  if (MeshError.isInstance(error)) return error.message;
  return error instanceof Error ? `Unexpected error: ${error.name}: ${error.message}` : "Unexpected error";
}

function overview(): string {
  const list = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(8)} ${summary}`);
  return `modelmesh ${version}: one OpenAI-compatible entry point over many AI providers

Usage: modelmesh <command> [options]

${list.join("\n")}

Options of every command: --help, --json, --env-file <file>
`;
}
