/**
 * `modelmesh models`: the models of a running proxy, or of the built-in catalogue.
 * @module
 */
import { type CapabilityTree, capabilityTree } from "../capability/tree.ts";
import { isProvider } from "../config/settings/known.ts";
import { findConnectors } from "../config/check/connectors.ts";
import type { ProviderDeclaration } from "../contracts/connector.ts";
import { findLeaves } from "../registry/offered.ts";
import { nearest } from "../util/nearest.ts";
import { type CatalogueModel, catalogueTable } from "./catalogue_table.ts";
import { type Command, type CommandParts, type ExitCode, type Flags, UsageError } from "./command.ts";
import { fetchPools } from "./pools.ts";
import { remoteHelp, RemoteProxy, remoteValues } from "./remote.ts";
import { table } from "./table.ts";

/** `modelmesh models`. */
export const models: Command = {
  help: `Usage: modelmesh models [options]              List the models of a running proxy with their state
       modelmesh models --catalogue [options]  List the built-in models

The catalogue lists the models' capabilities, token limits, current prices in USD (tokens: per million), and the date of these
prices. An asterisk marks the provider's default model for a capability. --json adds sources, voices, formats and parameter
rules. Nothing is sent to a provider.

Options:
  --catalogue          List the built-in catalogue
  --provider <name>    Only this provider: its id; with --catalogue a connector id or a vendor
  --capability <name>  Only this capability: a short name, a full path or an inner node
${remoteHelp}
  --env-file <file>    Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json               Print a list of models as JSON; an unknown price is null
  --help               Show this help

Examples:
  modelmesh models
  modelmesh models --catalogue --provider openai
  modelmesh models --catalogue --capability embeddings --json

Exit code: 0 done, 1 failed, 2 usage error
`,
  values: ["provider", "capability", ...remoteValues],
  switches: ["catalogue"],
  async run(flags, parts) {
    const { connectors, runtime, shell } = parts;
    if (!flags.has("catalogue")) return await listRunning(flags, parts);
    const remote = remoteValues.find((name) => flags.value(name) !== undefined);
    if (remote !== undefined) {
      throw new UsageError(`"--${remote}" cannot be combined with "--catalogue": it is for a running proxy`);
    }
    const found = listPoolModels(flags, connectors);
    if (flags.json) shell.stdout.write(`${JSON.stringify(found)}\n`);
    else if (found.length === 0) shell.stderr.write("No such model in the catalogue\n");
    else shell.stdout.write(catalogueTable(found, runtime.clock.now()));
    return 0;
  },
};

async function listRunning(flags: Flags, { runtime, shell }: CommandParts): Promise<ExitCode> {
  const tree = capabilityTree();
  const node = findCapability(flags.value("capability"), tree);
  const provider = flags.value("provider");
  const { models } = await fetchPools(new RemoteProxy(flags, runtime));
  const found = models.filter((model) =>
    (provider === undefined || model.provider === provider) &&
    (node === undefined || model.capabilities.some((leaf) => tree.contains(node, leaf)))
  );
  if (flags.json) shell.stdout.write(`${JSON.stringify(found)}\n`);
  else if (found.length === 0) shell.stderr.write("No such model at the proxy\n");
  else {
    const rows = found.map(({ name, provider, status, capabilities }) => [
      name,
      status,
      provider,
      capabilities.map((path) => path.slice(path.lastIndexOf(".") + 1)).join(", "),
    ]);
    shell.stdout.write(table([["MODEL", "STATUS", "PROVIDER", "SERVES"], ...rows]));
  }
  return 0;
}

function listPoolModels(flags: Flags, connectors: CommandParts["connectors"]): readonly CatalogueModel[] {
  const tree = capabilityTree();
  const node = findCapability(flags.value("capability"), tree);
  return providersIn(flags.value("provider"), connectors.filter(isProvider))
    .flatMap((provider) => provider.models.map((model) => catalogueModel(model, provider, tree)))
    .filter(({ capabilities }) => node === undefined || capabilities.some((leaf) => tree.contains(node, leaf)));
}

function providersIn(name: string | undefined, providers: readonly ProviderDeclaration[]) {
  if (name === undefined) return providers;
  const ids = findConnectors(name, providers);
  const found = providers.filter(({ id }) => ids.includes(id));
  if (found.length > 0) return found;
  const hint = nearest(name, providers.flatMap(({ id, vendor }) => [vendor, id]), 1)[0];
  throw new UsageError(`Unknown provider "${name}"${hint === undefined ? "" : `; did you mean "${hint}"?`}`);
}

function findCapability(name: string | undefined, tree: CapabilityTree): string | undefined {
  if (name === undefined) return undefined;
  const paths = tree.matches(name);
  if (paths.length === 1) return paths[0];
  if (paths.length > 1) {
    throw new UsageError(`The capability "${name}" is ambiguous: use one of the full paths ${paths.join(", ")}`);
  }
  const hint = nearest(name, tree.nodes().map((path) => tree.shortName(path)), 1)[0];
  throw new UsageError(`Unknown capability "${name}"${hint === undefined ? "" : `; did you mean "${hint}"?`}`);
}

function catalogueModel(
  model: ProviderDeclaration["models"][number],
  { id: provider, vendor }: ProviderDeclaration,
  tree: CapabilityTree,
): CatalogueModel {
  const { id, defaultFor = [], pricing = null, source, asOf, ...facts } = model;
  return {
    name: `${vendor}.${id}`,
    provider,
    id,
    ...facts,
    capabilities: findLeaves(model, tree),
    default_for: defaultFor,
    pricing,
    source,
    as_of: asOf,
  };
}
