/**
 * Resolves the names of providers and models in a program's options.
 * @module
 */
import type { ProviderDeclaration } from "../../contracts/connector.ts";
import { splitDate } from "../../util/model_ids.ts";
import { type Report, show, suggest } from "../schema/report.ts";

/**
 * Whether a name refers to a provider: its id, its vendor, or the prefix of its variable before `_API_KEY`, such as
 * `gemini`.
 */
export function isNamed({ id, vendor, detection }: ProviderDeclaration, name: string): boolean {
  return id === name || vendor === name || (detection?.keys.includes(`${name.toUpperCase()}_API_KEY`) ?? false);
}

/** A provider, as far as its models are concerned. */
interface ModelOwner {
  readonly connector: Pick<ProviderDeclaration, "vendor" | "models">;
  readonly entry: { readonly id: string };
}

interface ChosenModel {
  /** The name in pools and records. */
  readonly name: string;
  /** Entry id. */
  readonly provider: string;
  /** The upstream model id. */
  readonly id: string;
}

/**
 * The models that a name refers to: known ones, otherwise the id after a provider's name.
 *
 * @param name `<vendor>.<id>`, `<vendor>/<id>` or the upstream model id, which may be dated.
 * @param report Collects a problem for each unknown name.
 */
export function findModels(
  name: string,
  path: string,
  owners: readonly ModelOwner[],
  report: Report,
): readonly ChosenModel[] {
  const catalogue = owners.flatMap(({ connector: { vendor, models }, entry }) => {
    return models.map(({ id }) => ({ name: `${vendor}.${id}`, provider: entry.id, id, path: `${vendor}/${id}` }));
  });
  const isListed = (form: string) => (model: typeof catalogue[number]) => {
    return model.name === form || model.path === form || model.id === form;
  };
  const listed = catalogue.filter(isListed(name));
  if (listed.length > 0) return listed;
  const { undated, date } = splitDate(name);
  const releases = date === "" ? [] : catalogue.filter(isListed(undated));
  if (releases.length > 0) {
    return releases.map((model) => ({ ...model, name: `${model.name}${date}`, id: `${model.id}${date}` }));
  }
  const unlisted = owners.flatMap(({ connector: { vendor }, entry }) => {
    const id = name.slice(vendor.length + 1);
    const isVendors = id !== "" && (name.startsWith(`${vendor}.`) || name.startsWith(`${vendor}/`));
    return isVendors ? [{ name: `${vendor}.${id}`, provider: entry.id, id }] : [];
  });
  if (unlisted.length === 0) {
    report.problem(path, `no model ${show(name)}${suggest(name, catalogue.map((model) => model.name))}`);
  }
  return unlisted.slice(0, 1);
}
