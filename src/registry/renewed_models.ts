/**
 * The models of a catalogue document in place of the built-in ones.
 * @module
 */
import { isProvider } from "../config/settings/known.ts";
import type { ProviderDeclaration } from "../contracts/connector.ts";
import type { ModelInfo } from "../contracts/provider.ts";
import { type ConnectorCatalogue, findBuiltInModels } from "./catalogue.ts";
import { type CatalogueDocument, refuseDocument } from "./catalogue_document.ts";

/** A provider and its models. */
type ListedProvider = Pick<ProviderDeclaration, "id" | "models">;

/** Names of models that differ between two catalogues, as `openai.llm.v1 gpt-5`. */
export interface CatalogueChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Returns the providers with their built-in models. */
export function listBuiltIn({ all }: Pick<ConnectorCatalogue, "all">): readonly ListedProvider[] {
  return all.filter(isProvider).map((provider) => ({ id: provider.id, models: findBuiltInModels(provider) }));
}

/** Returns the ISO date of the newest facts of the built-in catalogue; empty without any. */
export function findBuiltInDate(catalogue: Pick<ConnectorCatalogue, "all">): string {
  return listBuiltIn(catalogue).flatMap(({ models }) => models).reduce((newest, { asOf = "" }) => {
    return asOf > newest ? asOf : newest;
  }, "");
}

/**
 * Checks that a document is not older than the catalogue that is built in, or than the one in use.
 *
 * @param document The document, and its name in messages.
 * @param usedDate ISO date of the document in use; undefined if it is the built-in catalogue.
 * @throws {MeshError} `invalid_catalogue` when it is older.
 */
export function checkAge(
  { date, name }: { readonly date: string; readonly name: string },
  catalogue: Pick<ConnectorCatalogue, "all">,
  usedDate: string | undefined,
): void {
  const builtIn = findBuiltInDate(catalogue);
  const [least, title] = usedDate !== undefined && usedDate > builtIn
    ? [usedDate, "the one in use"]
    : [builtIn, "the built-in one"];
  if (date >= least) return;
  throw refuseDocument(name, [{ path: "date", message: `${date} is before ${least}, the date of ${title}` }]);
}

/**
 * Gives the providers the models of a document. Those without a list have the built-in ones; unknown ones are left out.
 *
 * @returns The connectors whose models have been replaced, with those before.
 */
export function renewModels(
  catalogue: ConnectorCatalogue,
  { models }: Pick<CatalogueDocument, "models">,
): ReadonlyMap<string, readonly ModelInfo[]> {
  const replaced = new Map<string, readonly ModelInfo[]>();
  for (const provider of catalogue.all.filter(isProvider)) {
    const next = models.get(provider.id) ?? findBuiltInModels(provider);
    if (next === provider.models) continue;
    catalogue.renew(provider, next);
    replaced.set(provider.id, provider.models);
  }
  return replaced;
}

/** Compares the models of providers with those of a document. */
export function compareModels(
  providers: readonly ListedProvider[],
  { models }: Pick<CatalogueDocument, "models">,
): CatalogueChanges {
  const changes = { added: [] as string[], changed: [] as string[], removed: [] as string[] };
  for (const { id, models: before } of providers) {
    const next = models.get(id);
    if (next === undefined) continue;
    const byId = new Map(before.map((info) => [info.id, info]));
    for (const info of next) {
      const earlier = byId.get(info.id);
      if (earlier === undefined) changes.added.push(`${id} ${info.id}`);
      else if (!hasSameFacts(earlier, info)) changes.changed.push(`${id} ${info.id}`);
      byId.delete(info.id);
    }
    changes.removed.push(...[...byId.keys()].map((model) => `${id} ${model}`));
  }
  return changes;
}

/** Whether two entries have the same facts, whatever their order and their sources. */
function hasSameFacts(first: ModelInfo, second: ModelInfo): boolean {
  const toText = ({ source: _source, asOf: _asOf, ...facts }: ModelInfo) => JSON.stringify(sorted(facts));
  return toText(first) === toText(second);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, sorted(member)] as const);
  return Object.fromEntries(members.sort(([first], [other]) => first < other ? -1 : 1));
}
