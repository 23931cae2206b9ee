/**
 * `modelmesh models`: the models of the built-in catalogue.
 * @module
 */
import { type CapabilityTree, capabilityTree } from "../capability/tree.ts";
import { isProvider } from "../config/settings/known.ts";
import type { ProviderDeclaration } from "../contracts/connector.ts";
import { leavesOf } from "../registry/offered.ts";
import { nearest } from "../util/nearest.ts";
import { type CatalogueModel, catalogueTable } from "./catalogue_table.ts";
import { type Command, type CommandParts, type Flags, UsageError } from "./command.ts";

/** `modelmesh models`. */
export const models: Command = {
  summary: "List the models of the built-in catalogue",
  help: `Usage: modelmesh models --catalogue [options]

Lists the models that are built in: what they serve, their sizes in tokens, what they cost today in USD (tokens: per
million), and the day on which that was looked up. A model with * is its provider's default for what it serves. --json
adds sources, voices, formats and parameter rules. Nothing is sent to a provider.

Options:
  --catalogue          The built-in catalogue
  --provider <name>    Those of one provider: its connector's id, or its vendor
  --capability <name>  Those that serve a capability: a short name, a full path or an inner node
  --json               Print a list of models as JSON; an unknown price is null
  --help               Show this help

Exit code: 0 done, 2 usage
`,
  values: ["provider", "capability"],
  switches: ["catalogue"],
  run(flags, { connectors, runtime, shell }) {
    if (!flags.has("catalogue")) throw new UsageError('Give "--catalogue"');
    const found = modelsIn(flags, connectors);
    if (flags.json) shell.stdout.write(`${JSON.stringify(found)}\n`);
    else if (found.length === 0) shell.stderr.write("The catalogue has no such model\n");
    else shell.stdout.write(catalogueTable(found, runtime.clock.now()));
    return Promise.resolve(0);
  },
};

function modelsIn(flags: Flags, connectors: CommandParts["connectors"]): readonly CatalogueModel[] {
  const tree = capabilityTree();
  const node = nodeOf(flags.value("capability"), tree);
  return providersIn(flags.value("provider"), connectors.filter(isProvider))
    .flatMap((provider) => provider.models.map((model) => catalogueModel(model, provider, tree)))
    .filter(({ capabilities }) => node === undefined || capabilities.some((leaf) => tree.contains(node, leaf)));
}

function providersIn(name: string | undefined, providers: readonly ProviderDeclaration[]) {
  const found = providers.filter(({ id, vendor }) => name === undefined || id === name || vendor === name);
  if (found.length > 0) return found;
  const hint = nearest(name!, providers.flatMap(({ id, vendor }) => [vendor, id]), 1)[0];
  throw new UsageError(`Unknown provider "${name}"${hint === undefined ? "" : `; did you mean "${hint}"?`}`);
}

function nodeOf(name: string | undefined, tree: CapabilityTree): string | undefined {
  if (name === undefined) return undefined;
  const paths = tree.matches(name);
  if (paths.length === 1) return paths[0];
  if (paths.length > 1) {
    throw new UsageError(`The capability "${name}" is one of ${paths.join(", ")}: give a full path`);
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
    capabilities: leavesOf(model, tree),
    default_for: defaultFor,
    pricing,
    source,
    as_of: asOf,
  };
}
