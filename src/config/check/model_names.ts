/**
 * Determines which models will exist, as far as possible before any provider is queried.
 * @module
 */
import type { KnownProvider } from "../settings/known.ts";
import { offerOf } from "../settings/offers.ts";
import type { ConfiguredModel, ProviderEntry } from "../settings/settings.ts";

/** The names by which requests and settings may refer to models. */
export class ModelNames {
  readonly #names = new Set<string>();
  readonly #upstream = new Set<string>();
  readonly #open: string[] = [];
  #isPartial = false;

  /** @param connectorOf The connector of an entry; undefined if unknown. */
  constructor(
    entries: ReadonlyMap<string, ProviderEntry>,
    connectorOf: (entry: ProviderEntry) => KnownProvider | undefined,
    configured: ReadonlyMap<string, ConfiguredModel>,
  ) {
    for (const { name, id = name } of configured.values()) this.#add(name, [id]);
    const configuredFor = new Set([...configured.values()].map(({ provider }) => provider));
    for (const entry of entries.values()) {
      const connector = connectorOf(entry);
      const vendor = connector?.vendor ?? entry.id;
      const offer = offerOf(entry, connector, configuredFor.has(entry.id));
      // Listed models are known only after the query. A connector that is not registered is already reported.
      if (entry.instance !== undefined || connector?.local || offer === "list") {
        this.#open.push(`${vendor}.`, `${vendor}/`);
      } else if (connector === undefined) this.#isPartial = true;
      for (const { id } of offer === "none" ? [] : connector?.models ?? []) {
        const name = `${vendor}.${id}`;
        this.#add(this.#names.has(name) ? `${entry.id}.${id}` : name, [id, `${vendor}/${id}`]);
      }
    }
  }

  /** Whether a model with this name exists, or may exist. */
  has(name: string): boolean {
    return this.#names.has(name) || this.#open.some((prefix) => name.startsWith(prefix)) ||
      this.#isPartial && /[./]/.test(name);
  }

  /** Whether a request may refer to a model in this way: by name, by `<vendor>/<id>` or by upstream id. */
  answersTo(name: string): boolean {
    return this.has(name) || this.#upstream.has(name);
  }

  /** All names, those of the document first. */
  all(): readonly string[] {
    return [...this.#names];
  }

  #add(name: string, upstream: readonly string[]): void {
    this.#names.add(name);
    for (const id of upstream) this.#upstream.add(id);
  }
}
