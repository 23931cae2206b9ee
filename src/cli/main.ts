/**
 * Entry point of the command line: runs a command, and turns errors into messages and exit codes.
 * @module
 */
import { ConfigError, type ConfigProblem, MeshError } from "../errors.ts";
import { nearest } from "../util/nearest.ts";
import { version } from "../version.ts";
import { isConfigPath, readFlags } from "./args.ts";
import { type Command, type CommandParts, type ExitCode, type Flags, UsageError } from "./command.ts";
import { applyEnvFiles, findFileHints } from "./env_files.ts";

/** Each is imported when it runs. */
const commands: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Command> }>> = {
  proxy: {
    summary: "Serve the OpenAI API with the configured or detected providers",
    load: async () => (await import("./proxy.ts")).proxy,
  },
  init: {
    summary: "Write a commented configuration for the detected providers",
    load: async () => (await import("./init.ts")).init,
  },
  check: { summary: "Validate a configuration file", load: async () => (await import("./check.ts")).check },
  chat: {
    summary: "Send a prompt and stream the response",
    load: async () => (await import("./chat.ts")).chat,
  },
  status: {
    summary: "Show the state of a running proxy: models, budgets, clients, decisions",
    load: async () => (await import("./status.ts")).status,
  },
  pools: { summary: "List the pools of a running proxy", load: async () => (await import("./pools.ts")).pools },
  models: {
    summary: "List the models of a running proxy, or of the built-in catalogue",
    load: async () => (await import("./models.ts")).models,
  },
  catalogue: {
    summary: "Verify, fetch and show documents that renew the built-in catalogue of models",
    load: async () => (await import("./catalogue.ts")).catalogue,
  },
  clients: {
    summary: "Create, list, update, rotate and revoke clients of a running proxy, and show their usage",
    load: async () => (await import("./clients.ts")).clients,
  },
  cache: {
    summary: "Show and empty the cache of a running proxy",
    load: async () => (await import("./cache.ts")).cache,
  },
  usage: {
    summary: "Show requests, tokens and cost of a running proxy per day, client, team, pool, model or tag",
    load: async () => (await import("./usage.ts")).usage,
  },
  secrets: {
    summary: "Store, import, list and delete secrets in a secret store",
    load: async () => (await import("./secrets.ts")).secrets,
  },
};

/**
 * Runs a command line. Errors become messages on standard error.
 *
 * @returns The exit code: 0 success, 1 failure, 2 usage error.
 */
export async function runCli(args: readonly string[], parts: CommandParts): Promise<ExitCode> {
  const { stdout } = parts.shell;
  const isHelp = args[0] === "help" && args.length > 1;
  const [name, ...commandArgs] = isHelp ? [...args.slice(1), "--help"] : args;
  if (name === "--version" || name === "-v" || name === "version") {
    stdout.write(`${commandArgs.includes("--json") ? JSON.stringify({ version }) : version}\n`);
    return 0;
  }
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    stdout.write(overview());
    return name === undefined ? 2 : 0;
  }
  let command: Command | undefined;
  let flags: Flags | undefined;
  try {
    if (!Object.hasOwn(commands, name)) throw new UsageError(`Unknown command "${name}"${didYouMean(name)}`);
    command = await commands[name]!.load();
    flags = readFlags(command, commandArgs);
    if (flags.has("help")) {
      stdout.write(command.help);
      return 0;
    }
    await applyEnvFiles(flags, parts);
    return await command.run(flags, parts);
  } catch (error) {
    if (error instanceof UsageError) {
      await printFailure({ message: formatUsage(error, command && name) }, commandArgs, parts);
      return 2;
    }
    if (commandArgs.includes("--json")) {
      stdout.write(`${JSON.stringify({ ok: false, problems: listProblems(error) })}\n`);
    }
    const hints = command && flags ? await findFileHints(error, { command, flags, parts }) : [];
    const advice = [command?.advice?.(error), ...hints].filter(Boolean).join("\n");
    await printFailure({ message: formatThrown(error), advice, problems: listProblems(error) }, commandArgs, parts);
    return 1;
  }
}

/** Formats a usage error as one line, which names the command's help, or the overview without a command. */
function formatUsage({ message }: UsageError, name: string | undefined): string {
  const line = `${message}. Try: modelmesh ${name === undefined ? "" : `${name} `}--help`;
  return line.split(/[\r\n]/).map((part) => part.trim()).filter(Boolean).join(" ").replace(/([?.])\. Try:/, "$1 Try:");
}

/** Prints why a command failed: with `--log-format json` as a JSON line, like everything that a proxy prints. */
async function printFailure(
  { message, advice = "", problems }: {
    readonly message: string;
    readonly advice?: string;
    readonly problems?: readonly ConfigProblem[];
  },
  args: readonly string[],
  { shell: { stderr }, runtime: { clock } }: CommandParts,
): Promise<void> {
  if (!args.some((arg, index) => arg === "--log-format=json" || arg === "json" && args[index - 1] === "--log-format")) {
    return void stderr.write(`${message}\n${advice === "" ? "" : `${advice}\n`}`);
  }
  const { asJsonLines } = await import("./console_connector.ts");
  stderr.write(asJsonLines(clock)({ severity: "critical", message, ...(advice && { advice }), problems }));
}

/** What other programs call the command `proxy`. */
const proxyNames = ["serve", "server", "start", "run", "up", "gateway"];

function didYouMean(name: string): string {
  if (isConfigPath(name)) return `; did you mean "proxy --config ${name}"?`;
  const hint = proxyNames.includes(name) ? "proxy" : nearest(name, Object.keys(commands), 1)[0];
  return hint === undefined ? "" : `; did you mean "${hint}"?`;
}

/** Returns the problems of an error. An error without a path in the configuration is one problem with an empty path. */
function listProblems(error: unknown): readonly ConfigProblem[] {
  return ConfigError.isInstance(error) ? error.problems : [{ path: "", message: formatThrown(error) }];
}

/** Returns the message to print. */
function formatThrown(error: unknown): string {
  if (MeshError.isInstance(error)) return error.message;
  return error instanceof Error ? `Unexpected error: ${error.name}: ${error.message}` : "Unexpected error";
}

function overview(): string {
  const list = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(9)} ${summary}`);
  return `modelmesh ${version}: one OpenAI-compatible entry point over many AI providers

Usage: modelmesh <command> [options]

${list.join("\n")}

Options of every command: --help, --json, --env-file <file>
"modelmesh help <command>" shows the options and examples of a command, "modelmesh -v" the version.

Examples:
  modelmesh proxy --demo
  modelmesh init
  modelmesh chat "What is an entry point?"
`;
}
