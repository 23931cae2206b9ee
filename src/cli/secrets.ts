/**
 * `modelmesh secrets`: stores, imports, lists and deletes secrets in a secret store. It never prints a value.
 * @module
 */
import { loadDocument } from "../config/load/load.ts";
import { readSettings } from "../config/load/sources.ts";
import { isSecretName } from "../config/schema/references.ts";
import { withTimeouts } from "../config/secrets/resolver.ts";
import type { PluggableConnector } from "../contracts/connector.ts";
import type { SecretStore } from "../contracts/secret_store.ts";
import { Engine } from "../engine/engine.ts";
import { ConnectorError, MeshError } from "../errors.ts";
import { createConfigContext, loadImplementation } from "../registry/catalogue.ts";
import { findConnectors } from "../config/check/connectors.ts";
import { nearest } from "../util/nearest.ts";
import { findAction } from "./actions.ts";
import { type Command, type CommandParts, type ExitCode, type Flags, UsageError } from "./command.ts";
import { formatProblems, keyVariables, readDotenv } from "./env_files.ts";
import { ProgressLine } from "./progress.ts";
import { counted } from "./table.ts";

/** Maximum size of a value that every store accepts, bytes. */
const maxSecretBytes = 64 * 1024;

interface SecretContext extends NamedStore {
  readonly parts: CommandParts;
  readonly flags: Flags;
}

const tasks: {
  readonly [name: string]: {
    /** Descriptions of its arguments, for messages. */
    readonly takes: readonly string[];
    run(args: readonly string[], context: SecretContext): Promise<ExitCode>;
  };
} = {
  set: { takes: ["a name", 'a value, or "-" to read it from standard input'], run: set },
  import: { takes: ["a dotenv file"], run: importFile },
  list: { takes: [], run: listSecrets },
  delete: { takes: ["a name"], run: remove },
};

export const secrets: Command = {
  help:
    `Usage: modelmesh secrets set <name> <value> --store <id>     Store a secret; "-" reads the value from standard input
       modelmesh secrets import <file> --store <id>          Store all entries of a dotenv file
       modelmesh secrets list --store <id>                   List names; in the environment only those of providers
       modelmesh secrets delete <name> --store <id>          Delete a secret

Values are never printed. A value on the command line stays in the shell's history: prefer "-".

Options:
  --store <id>       Secret store, such as mesh.dotenv.v1 or aws.secrets-manager.v1
  --config <file>    Use the store and settings of a configuration's "secrets" section
  --path <file>      File of a file-based store
  --region <name>    Region of a cloud store
  --env-file <file>  Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json             Print {"ok", "store", "names"} as JSON
  --help             Show this help

Examples:
  modelmesh secrets set OPENAI_API_KEY - --store mesh.encrypted-file.v1
  modelmesh secrets import .env --store mesh.dotenv.v1 --path secrets.env
  modelmesh secrets list --config modelmesh.yaml

Exit code: 0 done, 1 failed, 2 usage error
`,
  values: ["store", "config", "path", "region"],
  isPrivate: true,
  maxArguments: 3,
  async run(flags, parts) {
    const [name, ...args] = flags.positional;
    const task = findAction(tasks, name, true);
    if (args.length !== task.takes.length) {
      throw new UsageError(`"secrets ${name}" takes ${task.takes.join(" and ") || "no argument"}`);
    }
    if (task.takes[0] === "a name") checkSecretName(args[0]!);
    return await task.run(args, { ...await openSecretStore(flags, parts), parts, flags });
  },
};

async function set([name, typed]: readonly string[], context: SecretContext) {
  const { id, store, parts } = context;
  const value = typed === "-" ? (await parts.shell.readInput()).replace(/\r?\n$/, "") : typed!;
  checkValue(value);
  await writable(store.set, id).call(store, name!, value);
  return done(context, { names: [name!], message: `Stored "${name}" in ${id}` });
}

async function importFile([path]: readonly string[], context: SecretContext) {
  const { id, store, parts } = context;
  const { stderr } = parts.shell;
  const { found, blank, duplicates } = await readImport(path!, parts);
  for (const name of duplicates) stderr.write(`Warning: "${name}" is given more than once: the last one counts\n`);
  for (const name of blank) stderr.write(`Warning: "${name}" is blank and left out\n`);
  const names = await storeAll(found, { put: writable(store.set, id).bind(store), progress: new ProgressLine(stderr) });
  const message = `Stored ${counted(names.length, "secret")} in ${id}${
    names.length === 0 ? "" : `: ${names.join(", ")}`
  }`;
  return done(context, { names, message });
}

/** Stores them one after the other, and shows the progress. */
async function storeAll(
  found: ReadonlyMap<string, string>,
  { put, progress }: { readonly put: (name: string, value: string) => Promise<void>; readonly progress: ProgressLine },
): Promise<string[]> {
  const names: string[] = [];
  for (const [name, value] of found) {
    progress.show(`Stored ${names.length} of ${counted(found.size, "secret")}`);
    try {
      await put(name, value);
    } catch (error) {
      progress.end();
      if (!MeshError.isInstance(error) || names.length === 0) throw error;
      throw new MeshError(`${error.message}\nStored before that: ${names.join(", ")}`, { cause: error });
    }
    names.push(name);
  }
  progress.end();
  return names;
}

async function listSecrets(_args: readonly string[], context: SecretContext) {
  const { store, parts } = context;
  const names = await (store.list?.() ?? detectionVariablesIn(store, parts));
  return done(context, { names, message: names.join("\n") });
}

/** Lists the secrets of a store that cannot enumerate, such as the environment: the variables of providers. */
async function detectionVariablesIn(store: SecretStore, { connectors }: CommandParts): Promise<string[]> {
  const names = keyVariables(connectors);
  const values = await Promise.all(names.map((name) => store.get(name)));
  return names.filter((_, index) => values[index] !== undefined);
}

async function remove([name]: readonly string[], context: SecretContext) {
  const { id, store } = context;
  if (await writable(store.delete, id).call(store, name!)) {
    return done(context, { names: [name!], message: `Deleted "${name}" from ${id}` });
  }
  throw new ConnectorError(`${id} has no secret "${name}"`);
}

/** Imports a file. Reads and checks all of it before it stores anything. */
async function readImport(path: string, { runtime }: CommandParts) {
  const { entries, problems } = await readDotenv(path, runtime);
  if (problems.length > 0) {
    throw new MeshError(`Cannot import "${path}", and nothing was stored:\n${formatProblems(problems)}`);
  }
  const found = new Map(entries.map(({ name, value }) => [name, value]));
  for (const [name, value] of found) {
    if (countBytes(value) > maxSecretBytes) {
      throw new MeshError(`Cannot import "${path}": "${name}" is over ${maxSecretBytes} bytes`);
    }
  }
  const blank = [...found].flatMap(([name, value]) => value.trim() === "" ? [name] : []);
  for (const name of blank) found.delete(name);
  const names = entries.map(({ name }) => name);
  return { found, blank, duplicates: new Set(names.filter((name, index) => names.indexOf(name) < index)) };
}

function writable<Method>(method: Method | undefined, id: string): Method {
  if (method !== undefined) return method;
  throw new ConnectorError(`${id} can only be read: set its secrets where they come from, or name another --store`);
}

/** Checks a name without quoting it, since it may be a misplaced value. */
function checkSecretName(name: string): void {
  if (name.includes("=")) throw new UsageError("Name and value are separate arguments: secrets set NAME VALUE");
  if (isSecretName(name) && !name.split("/").some((part) => /^\.*$/.test(part))) return;
  throw new UsageError("The name of a secret consists of letters, digits, _, -, ., / and @, at most 256 characters");
}

function checkValue(value: string): void {
  if (value.trim() === "") throw new UsageError("The value is blank, and a blank secret counts as missing");
  if (countBytes(value) > maxSecretBytes) throw new UsageError(`The value is over ${maxSecretBytes} bytes`);
}

function countBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

function done(
  { id, parts: { shell }, flags }: SecretContext,
  { names, message }: { readonly names: readonly string[]; readonly message: string },
): ExitCode {
  const text = flags.json ? JSON.stringify({ ok: true, store: id, names }) : message;
  if (text !== "") shell.stdout.write(`${text}\n`);
  return 0;
}

/** A store whose secrets do not outlive the process. */
const volatileStore = "mesh.memory.v1";

interface NamedStore {
  readonly id: string;
  readonly store: SecretStore;
}

/**
 * Opens the store. Options override the configuration.
 *
 * @throws {UsageError} When no store is named, or an unknown one.
 * @throws {ConfigError} When a setting is missing, or the configuration is invalid.
 */
async function openSecretStore(flags: Flags, parts: CommandParts): Promise<NamedStore> {
  const configured = await configuredStore(flags.value("config"), parts);
  const name = flags.value("store") ?? configured?.store;
  if (name === undefined) throw new UsageError("Missing store: use --store <id> or --config <file>");
  const stores = parts.connectors.filter((candidate): candidate is PluggableConnector<"secretStore"> =>
    candidate.kind === "secretStore"
  );
  const meant = findConnectors(name, stores);
  const connector = stores.find((candidate) => candidate.id === meant[0]);
  if (connector === undefined || meant.length > 1) {
    const ids = meant.length > 1 ? meant : stores.map((candidate) => candidate.id);
    const hint = meant.length > 1 ? undefined : nearest(name, ids, 1)[0];
    throw new UsageError(
      `There is no secret store "${name}"${hint === undefined ? "" : `; did you mean "${hint}"?`} There are ${
        ids.join(", ")
      }`,
    );
  }
  const { id } = connector;
  if (id === volatileStore) {
    throw new UsageError(`${id} does not persist secrets: use another --store`);
  }
  const settings = configured?.store === id ? configured.config : {};
  const typed = ["path", "region"].flatMap((name) => {
    const value = flags.value(name);
    return value === undefined ? [] : [[name, value]];
  });
  const implementation = await loadImplementation(connector);
  const store = implementation.create({ ...settings, ...Object.fromEntries(typed) }, parts.runtime);
  return { id, store: withTimeouts(store, { id, clock: parts.runtime.clock }) };
}

/** Returns the store that a configuration names. */
async function configuredStore(path: string | undefined, { connectors, runtime }: CommandParts) {
  if (path === undefined) return undefined;
  const document = await loadDocument(path, runtime.files!);
  const context = createConfigContext(new Engine({ connectors, runtime }));
  return readSettings(document, context, { source: path, mayLackProviders: true }).secrets;
}
