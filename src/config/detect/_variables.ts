/**
 * What variables of the environment, and names in options, stand for.
 * @module
 */
import { stripTrailing } from "../../util/strip_trailing.ts";
import type { ProviderDeclaration } from "../../contracts/connector.ts";
import { splitDate } from "../../util/model_ids.ts";
import { type Report, show, suggest } from "../schema/report.ts";

const placeholder =
  /^(?:(?:sk|key|api)[-_])?(?:[.…*x]+|(?:your|insert|enter|replace|paste|change)[-_ ]?(?:me|.*(?:key|token|here)))$|^<.*>$|^\$\{?\w+\}?$/i;

/** Whether a string is not an API key: blank, or a placeholder from an example. */
export function isPlaceholder(key: string): boolean {
  return key.trim() === "" || placeholder.test(key.trim());
}

/**
 * The base URL of a local server. A bare host gets a scheme and the server's default port, an unspecified listen
 * address becomes loopback, and a missing path becomes the version prefix.
 *
 * @param host The variable's value, such as `0.0.0.0:11434`, `:11434`, `gpu-box` or a complete URL.
 */
export function addressOfHost(host: string, port?: number): string {
  const address = host.replace(/^["']|["']$/g, "");
  const [scheme] = /^https?:\/\//i.exec(address) ?? [];
  const [authority = "", ...segments] = address.slice(scheme?.length ?? 0).split("/");
  const path = segments.map((segment) => `/${segment}`).join("");
  const [, name = "", ownPort] = /^(\[.*\]|[^:]*)(:\d+)?$/.exec(authority) ?? [undefined, authority];
  const usualPort = scheme === undefined && port !== undefined ? `:${port}` : "";
  const target = name === "" || name === "0.0.0.0" ? "127.0.0.1" : name === "[::]" ? "[::1]" : name;
  return `${scheme ?? "http://"}${target}${ownPort ?? usualPort}${stripTrailing(path, "/") || "/v1"}`;
}

/**
 * The models that a name refers to: known ones, otherwise the id after a provider's name.
 *
 * @param name `<vendor>.<id>`, `<vendor>/<id>` or the upstream model id, which may be dated.
 */
export function findModels(
  name: string,
  path: string,
  { owners, report }: {
    readonly owners: readonly {
      readonly connector: Pick<ProviderDeclaration, "vendor" | "models">;
      readonly entry: { readonly id: string };
    }[];
    /** Collects a problem for each unknown name. */
    readonly report: Report;
  },
): readonly {
  /** The name in pools and records. */
  readonly name: string;
  /** Entry id. */
  readonly provider: string;
  /** The upstream model id. */
  readonly id: string;
}[] {
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
