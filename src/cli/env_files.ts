/**
 * `--env-file`: reads environment variables from dotenv files.
 * @module
 */
import { isProvider } from "../config/settings/known.ts";
import type { PluggableConnector } from "../contracts/connector.ts";
import { ConfigError, MeshError, NoProvidersError, SecretNotFoundError } from "../errors.ts";
import { type Dotenv, type DotenvEntry, parseDotenv } from "../util/dotenv.ts";
import { describeDenial } from "../util/denial.ts";
import type { Command, CommandParts, Flags } from "./command.ts";

const defaultEnvFile = ".env";

/** Names of a configuration that is served only if it is named, too. */
const configFiles = ["modelmesh.yaml", "modelmesh.yml", "modelmesh.json"];

/**
 * Sets the variables of the files that `--env-file` names. Later files override earlier ones; the environment overrides
 * files.
 *
 * @throws {MeshError} When a file cannot be read, or a line is not an assignment. No variable is set then.
 */
export async function applyEnvFiles(flags: Flags, { runtime, shell }: CommandParts): Promise<void> {
  const found = new Map<string, string>();
  for (const path of flags.all("env-file")) {
    const { entries, problems } = await readDotenv(path, runtime);
    if (problems.length > 0) throw new MeshError(`Cannot read variables from "${path}":\n${formatProblems(problems)}`);
    for (const { name, value } of entries) found.set(name, value);
  }
  const denied = [...found.keys()].filter((name) => runtime.env.isDenied?.(name));
  if (denied.length > 0) {
    const names = denied.join(",");
    throw new MeshError(
      `This process is not permitted to set the variables of --env-file: add --allow-env=${names}, or --allow-env`,
    );
  }
  for (const [name, value] of found) if (isUnset(runtime.env(name))) shell.setVariable(name, value);
}

/**
 * Reads and parses a dotenv file.
 *
 * @throws {MeshError} When it cannot be read.
 */
export async function readDotenv(path: string, { files }: CommandParts["runtime"]): Promise<Dotenv> {
  let text: string;
  try {
    text = await files!.readText(path);
  } catch (error) {
    const reason = describeDenial(error, { path }) ?? "the file does not exist, or is not readable";
    throw new MeshError(`Cannot read "${path}": ${reason}`);
  }
  return parseDotenv(text);
}

/** Formats the problems of a dotenv file, a line each. */
export function formatProblems(problems: Dotenv["problems"]): string {
  return problems.map(({ line, message }) => `  line ${line} ${message}`).join("\n");
}

/**
 * Returns hints for an error that a file in the folder may solve: `.env` and configurations are read only when they are
 * named.
 */
export async function findFileHints(
  error: unknown,
  { command, flags, parts }: { readonly command: Command; readonly flags: Flags; readonly parts: CommandParts },
): Promise<readonly string[]> {
  const isMissing = SecretNotFoundError.isInstance(error) || ConfigError.isInstance(error); // of a start, of check
  if (isMissing && error.message.includes(`in the store "${environmentStore}"`)) {
    const names = [...error.message.matchAll(/"([A-Za-z_]\w{0,200})"/g)].map(([, name]) => name!);
    return [await envFileHint(names, { flags, parts })];
  }
  if (!NoProvidersError.isInstance(error)) return [];
  const hint = await envFileHint(keyVariables(parts.connectors), { flags, parts });
  return command.values.includes("config") ? [hint, await configFileHint(flags, parts)] : [hint];
}

/** The secret store that `--env-file` adds to. */
const environmentStore = "mesh.env.v1";

/** Names the variables that `.env` has. */
async function envFileHint(
  names: readonly string[],
  { flags, parts: { runtime } }: { readonly flags: Flags; readonly parts: CommandParts },
): Promise<string> {
  if (flags.all("env-file").length > 0) return "";
  const { entries } = await readDotenv(defaultEnvFile, runtime).catch(() => ({
    entries: [] as readonly DotenvEntry[],
  }));
  const present = entries.filter(({ name, value }) => names.includes(name) && !isUnset(value)).map(({ name }) => name);
  if (present.length === 0) return "";
  return `The file "${defaultEnvFile}" here has ${
    [...new Set(present)].join(", ")
  }: pass it with --env-file ${defaultEnvFile}`;
}

async function configFileHint(flags: Flags, { runtime: { files } }: CommandParts): Promise<string> {
  if (flags.value("config") !== undefined) return "";
  for (const name of configFiles) {
    const isThere = await files!.readText(name).then(() => true, () => false);
    if (isThere) return `The file "${name}" here is a configuration: pass it with --config ${name}`;
  }
  return "";
}

/** Returns the names of variables with providers' API keys. */
export function keyVariables(connectors: readonly PluggableConnector[]): string[] {
  return [...new Set(connectors.filter(isProvider).flatMap(({ detection }) => detection?.keys ?? []))];
}

function isUnset(value: string | undefined): boolean {
  return value === undefined || value.trim() === "";
}
