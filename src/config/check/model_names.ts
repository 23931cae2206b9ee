/**
 * Which models there will be, as far as that can be known before any provider is asked.
 * @module
 */
import type { KnownProvider } from "../settings/known.ts";
import { offerOf } from "../settings/offers.ts";
import type { ConfiguredModel, ProviderEntry } from "../settings/settings.ts";

/** The names that requests and settings may use for models. */
export class ModelNames {
  readonly #names = new Set<string>();
  readonly #upstream = new Set<string>();
  readonly #open: string[] = [];
  #isPartial = false;

  /**
   * @param connectorOf An entry's connector; undefined when it is not known.
   */
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
      // What is asked for has names that are known only then; what a connector would have that is not registered is
      // not worth a second report.
      if (entry.instance !== undefined || connector?.local || offer === "list") {
        this.#open.push(`${vendor}.`, `${vendor}/`);
      } else if (connector === undefined) this.#isPartial = true;
      for (const { id } of offer === "none" ? [] : connector?.models ?? []) {
        const name = `${vendor}.${id}`;
        this.#add(this.#names.has(name) ? `${entry.id}.${id}` : name, [id, `${vendor}/${id}`]);
      }
    }
  }

  /** Whether a model has, or may come to have, this name. */
  has(name: string): boolean {
    return this.#names.has(name) || this.#open.some((prefix) => name.startsWith(prefix)) ||
      this.#isPartial && /[./]/.test(name);
  }

  /** Whether a request may ask for a model this way: by name, by `<vendor>/<id>` or by the provider's own id. */
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
