/**
 * `modelmesh catalogue`: the built-in catalogue of models, and the signed documents that renew it.
 * @module
 */
import { fetchCatalogue, type FetchedCatalogue, keepCatalogue, loadCatalogue } from "../background/catalogue_record.ts";
import { openStorage } from "../background/open_storage.ts";
import { loadDocument } from "../config/load/load.ts";
import { readSettings } from "../config/load/sources.ts";
import type { CatalogueSettings } from "../config/settings/settings.ts";
import { Engine } from "../engine/engine.ts";
import { MeshError } from "../errors.ts";
import { createConfigContext } from "../registry/catalogue.ts";
import { type CatalogueDocument, readCatalogueDocument } from "../registry/catalogue_document.ts";
import { loadPackages } from "../registry/packages.ts";
import {
  type CatalogueChanges,
  checkAge,
  compareModels,
  findBuiltInDate,
  listBuiltIn,
} from "../registry/renewed_models.ts";
import type { CodedStorage } from "../storage/coded_storage.ts";
import { describeDenial } from "../util/denial.ts";
import { readPublicKey } from "../util/ed25519.ts";
import { findAction } from "./actions.ts";
import { type Command, type CommandParts, type Flags, UsageError } from "./command.ts";
import { resolveSecrets } from "./requirements.ts";
import { printable } from "../util/printable.ts";
import { counted } from "./table.ts";

interface TaskContext {
  readonly target: string | undefined;
  readonly flags: Flags;
  readonly parts: CommandParts;
}

const tasks: {
  readonly [name: string]: {
    /** What its argument is. */
    readonly takes: string;
    readonly isOptional?: boolean;
    run(context: TaskContext): Promise<void>;
  };
} = {
  update: { takes: "a configuration file", run: updateCatalogue },
  show: { takes: "a configuration file", isOptional: true, run: showCatalogue },
  verify: { takes: "a file or an address", run: verify },
};

export const catalogue: Command = {
  help: `Usage: modelmesh catalogue update <config>                 Fetch the configured document, verify and keep it
       modelmesh catalogue show [<config>]                 Show the catalogue in use, and how it differs from the built-in one
       modelmesh catalogue verify <document> --key <key>   Verify a document: its signature, its date, and every entry

The built-in catalogue of models is renewed without a release by a signed document, if the section "discovery.catalogue" of the
configuration names its address and the public key of its signer. It is kept in the storage of the configuration; a proxy uses it
from its next start or reload. A proxy also fetches the document itself, at the interval "refresh". <document> is a file or an
https address.

Options:
  --key <key>          Ed25519 public key of the signer: 32 bytes in Base64
  --env-file <file>    Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json               Print the result as JSON
  --help               Show this help

Examples:
  modelmesh catalogue update modelmesh.yaml
  modelmesh catalogue show modelmesh.yaml --json
  modelmesh catalogue verify ./catalogue.json --key 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=

Exit code: 0 done, 1 failed or invalid, 2 usage error
`,
  values: ["key"],
  maxArguments: 2,
  async run(flags, parts) {
    const [action, target] = flags.positional;
    const task = findAction(tasks, action);
    if (target === undefined && !task.isOptional) throw new UsageError(`"catalogue ${action}" takes ${task.takes}`);
    if (flags.value("key") !== undefined && action !== "verify") {
      throw new UsageError('"--key" is an option of "catalogue verify"');
    }
    await task.run({ target, flags, parts });
    return 0;
  },
};

async function verify({ target = "", flags, parts: { connectors, runtime, shell } }: TaskContext): Promise<void> {
  const publicKey = flags.value("key");
  if (publicKey === undefined) throw new UsageError('"catalogue verify" takes the option "--key"');
  if (readPublicKey(publicKey) === undefined) {
    throw new UsageError('The option "--key" takes an Ed25519 public key: 32 bytes in Base64');
  }
  const document = /^https?:\/\//i.test(target)
    ? (await fetchCatalogue({ url: target, publicKey }, runtime)).document
    : await readCatalogueDocument(await readDocumentFile(target, runtime), { publicKey, name: target });
  const mesh = new Engine({ connectors, runtime });
  checkAge({ date: document.date, name: target }, mesh.catalogue, undefined);
  const facts = describeDocument(document, mesh);
  if (flags.json) return void shell.stdout.write(`${JSON.stringify({ ok: true, ...facts })}\n`);
  shell.stdout.write(`${printable(target)} is valid: ${formatDocument(document)}\n${formatChanges(facts)}`);
}

async function updateCatalogue(context: TaskContext): Promise<void> {
  const { flags, parts: { runtime, shell } } = context;
  const { mesh, section, storage } = await openConfigured(context);
  try {
    if (section === undefined) {
      throw new MeshError('The configuration has no section "discovery.catalogue", which names the document');
    }
    if (storage === undefined) {
      throw new MeshError('The configuration has no section "storage", in which the document could be kept');
    }
    const fetched = await fetchCatalogue(section, runtime);
    const kept = await loadKept(storage, section);
    checkAge({ date: fetched.document.date, name: section.url }, mesh.catalogue, kept?.document?.date);
    await keepCatalogue(storage, fetched);
    const facts = describeDocument(fetched.document, mesh);
    if (flags.json) return void shell.stdout.write(`${JSON.stringify(facts)}\n`);
    shell.stdout.write(`Kept in ${storage.title.replace("The", "the")}: ${formatDocument(fetched.document)}\n`);
    shell.stdout.write(formatChanges(facts));
  } finally {
    await storage?.close();
  }
}

async function showCatalogue(context: TaskContext): Promise<void> {
  const { flags, parts: { connectors, runtime, shell }, target } = context;
  const { mesh, section, storage } = target === undefined
    ? { mesh: new Engine({ connectors, runtime }) }
    : await openConfigured(context);
  try {
    const builtIn = listBuiltIn(mesh.catalogue);
    const count = builtIn.reduce((sum, { models }) => sum + models.length, 0);
    const date = findBuiltInDate(mesh.catalogue);
    const kept = section && storage && await loadKept(storage, section);
    const isUsed = kept?.document !== undefined && kept.document.date >= date;
    const facts = kept?.document && describeDocument(kept.document, mesh);
    if (flags.json) {
      const renewed = kept && {
        fetched_at: kept.fetchedAt === undefined ? null : new Date(kept.fetchedAt).toISOString(),
        in_use: isUsed,
        ...(kept.problem === undefined ? facts : { problem: kept.problem }),
      };
      const output = { built_in: { date, models: count }, url: section?.url ?? null, renewed: renewed ?? null };
      return void shell.stdout.write(`${JSON.stringify(output)}\n`);
    }
    shell.stdout.write(`Built in: ${counted(count, "model")}, as of ${date}${isUsed ? "" : " (in use)"}\n`);
    if (section === undefined) {
      return void (target !== undefined && shell.stdout.write("Not renewed: there is no discovery.catalogue\n"));
    }
    shell.stdout.write(`Renewed from: ${printable(section.url)}\n`);
    if (kept === undefined) return void shell.stdout.write("Kept: none\n");
    if (facts === undefined || kept.document === undefined) {
      return void shell.stdout.write(`Kept: ${printable(kept.problem ?? "none")}\n`);
    }
    const state = isUsed ? " (in use)" : ", which is older than the built-in one";
    shell.stdout.write(`Kept: ${formatDocument(kept.document)}${state}\n${formatChanges(facts)}`);
  } finally {
    await storage?.close();
  }
}

/** Reads a configuration, and opens its storage. */
async function openConfigured({ target = "", parts: { connectors, runtime } }: TaskContext): Promise<{
  readonly mesh: Engine;
  readonly section: CatalogueSettings | undefined;
  readonly storage: CodedStorage | undefined;
}> {
  const mesh = new Engine({ connectors, runtime });
  const document = await loadDocument(target, runtime.files!);
  await loadPackages(document, mesh);
  const written = readSettings(document, createConfigContext(mesh), { source: target, mayLackProviders: true });
  const { settings } = await resolveSecrets(document, { settings: written, mesh });
  const { catalogue: connectorsById, redactor } = mesh;
  const user = { catalogue: connectorsById, runtime, redactor, settings };
  return { mesh, section: settings.catalogue, storage: settings.storage && await openStorage(settings.storage, user) };
}

async function loadKept(
  storage: CodedStorage,
  section: CatalogueSettings,
): Promise<Partial<FetchedCatalogue> & { readonly problem?: string } | undefined> {
  try {
    return await loadCatalogue(storage, section);
  } catch (error) {
    if (!MeshError.isInstance(error) || error.code !== "invalid_catalogue") throw error;
    return { problem: error.message };
  }
}

async function readDocumentFile(path: string, { files }: CommandParts["runtime"]): Promise<string> {
  try {
    return await files!.readText(path);
  } catch (error) {
    throw new MeshError(`Cannot read ${printable(path)}: ${describeDenial(error, { path }) ?? "is the path right?"}`, {
      cause: error,
    });
  }
}

function describeDocument(
  document: CatalogueDocument,
  { catalogue }: Engine,
): CatalogueChanges & { readonly date: string; readonly models: number } {
  return {
    date: document.date,
    models: countModels(document),
    ...compareModels(listBuiltIn(catalogue), document),
  };
}

function countModels({ models }: CatalogueDocument): number {
  return [...models.values()].reduce((sum, list) => sum + list.length, 0);
}

function formatDocument(document: CatalogueDocument): string {
  const { date, models } = document;
  return `${counted(countModels(document), "model")} of ${counted(models.size, "provider")}, as of ${date}`;
}

function formatChanges({ added, changed, removed }: CatalogueChanges): string {
  const lines = [["new", added], ["changed", changed], ["withdrawn", removed]] as const;
  return lines.flatMap(([title, names]) => names.map((name) => `  ${title}: ${printable(name)}\n`)).join("");
}
