/**
 * Names of capabilities, providers and models.
 * @module
 */
import { type CapabilityTree, nearestCapabilities } from "../../capability/tree.ts";
import { quoted, type Report, show, suggest } from "../schema/report.ts";
import type { CodeValues } from "../schema/providers.ts";
import { findConnectors } from "./connectors.ts";
import type { KnownProvider } from "../settings/known.ts";
import type { ConfiguredModel, ProviderEntry } from "../settings/settings.ts";
import { createOffer } from "../settings/offers.ts";
import { equivalentIds } from "../../util/model_ids.ts";
import { nearest } from "../../util/nearest.ts";

/** Why a name is unknown or ambiguous; undefined if it identifies one node. */
function capabilityProblem(name: string, tree: CapabilityTree): string | undefined {
  const matches = tree.matches(name);
  if (matches.length === 1) return undefined;
  return `${show(name)} ${
    matches.length > 1 ? `is ambiguous, use one of ${quoted(matches)}` : unknownCapability(name, tree)
  }`;
}

/** The problem of an unknown capability, with similar names. */
export function unknownCapability(name: string, tree: CapabilityTree): string {
  const near = nearestCapabilities(tree, name);
  return `is not a capability${near.length === 0 ? "" : `, did you mean ${quoted(near)}?`}`;
}

/** Reports a name that is unknown or ambiguous. */
export function checkCapability(
  name: string,
  path: string,
  { tree, report }: { readonly tree: CapabilityTree; readonly report: Report },
): void {
  const problem = capabilityProblem(name, tree);
  if (problem !== undefined) report.problem(path, problem);
}

/** Undefined for an instance, and for a connector that is not registered. */
export type ConnectorOf = (entry: ProviderEntry) => KnownProvider | undefined;

export interface ProviderParts {
  /** By entry id, in document order. */
  readonly entries: ReadonlyMap<string, ProviderEntry>;
  readonly connectorOf: ConnectorOf;
}

/** Resolves names to entry ids. A connector, by any of its names, stands for all of its entries, an unknown name for none. */
export function expandProviders(
  names: readonly string[] | undefined,
  { entries, connectorOf }: ProviderParts,
): string[] {
  const ids = (names ?? []).flatMap((name) => {
    if (entries.has(name)) return [name];
    const connectors = [...entries.values()].flatMap((entry) => connectorOf(entry) ?? { id: entry.connector });
    const meant = findConnectors(name, connectors);
    return [...entries.values()].filter(({ connector }) => meant.includes(connector)).map(({ id }) => id);
  });
  return [...new Set(ids)];
}

/** Reports unknown provider names, with similar ones. */
export function checkProviders(
  names: readonly string[] | undefined,
  path: string,
  { entries, connectorOf, report }: ProviderParts & { readonly report: Report },
): void {
  names?.forEach((name, index) => {
    if (expandProviders([name], { entries, connectorOf }).length > 0) return;
    report.problem(`${path}[${index}]`, `no provider ${show(name)}${suggest(name, [...entries.keys()])}`);
  });
}

/** Reports statuses that one entry lists as both; across entries, those of a higher layer take precedence. */
export function checkCodes(codes: CodeValues | undefined, path: string, report: Report): void {
  const both = new Set(codes?.retryable_codes?.filter((code) => codes.non_retryable_codes?.includes(code)));
  if (both.size > 0) {
    report.problem(
      `${path}.non_retryable_codes`,
      `${[...both].join(", ")} ${both.size === 1 ? "is" : "are"} in "retryable_codes" as well: list each once`,
    );
  }
}

/** A model that will exist. */
export interface NamedModel {
  readonly name: string;
  /** Id of its provider in the configuration. */
  readonly provider: string;
  /** Upstream id. */
  readonly id: string;
}

/** The names by which requests and settings may refer to models. */
export class ModelNames {
  readonly #aliases: ReadonlyMap<string, string>;
  readonly #configured: readonly string[];
  readonly #byName = new Map<string, NamedModel>();
  readonly #byCatalogueName = new Map<string, NamedModel>();
  readonly #byUpstreamId = new Map<string, NamedModel[]>();
  /** Prefixes of the names of each provider, by its id in the configuration. */
  readonly #prefixes = new Map<string, readonly string[]>();
  /** Providers that list their models at startup, and local servers, whose models may be named although they do not. */
  readonly #open = new Set<string>();
  /** Providers whose models are not known yet: those that list them, and those of a catalogue that is renewed. */
  readonly #listing = new Set<string>();
  readonly #entries: ReadonlyMap<string, ProviderEntry>;
  readonly #connectors: readonly KnownProvider[];
  /** Upstream ids of models whose catalogue is renewed. */
  readonly #renewed: string[] = [];
  #isPartial = false;

  /** @param parts What the document defines. */
  constructor({ entries, findConnector: connectorOf, connectors, configured, aliases, isRenewed }: {
    /** Connectors of providers that are registered. */
    readonly connectors: readonly KnownProvider[];
    readonly entries: ReadonlyMap<string, ProviderEntry>;
    /** The connector of an entry; undefined if unknown. */
    readonly findConnector: (entry: ProviderEntry) => KnownProvider | undefined;
    readonly configured: ReadonlyMap<string, ConfiguredModel>;
    readonly aliases: ReadonlyMap<string, string>;
    /** Whether the catalogue is renewed, so that it may get further models. */
    readonly isRenewed: boolean;
  }) {
    this.#aliases = aliases;
    this.#entries = entries;
    this.#connectors = connectors;
    this.#configured = [...configured.keys()];
    const getVendor = (provider: string) => {
      const entry = entries.get(provider);
      return entry && connectorOf(entry)?.vendor || provider;
    };
    for (const { name, id = name, provider } of configured.values()) {
      this.#add({ name, provider, id }, getVendor(provider));
    }
    const configuredFor = new Set([...configured.values()].map(({ provider }) => provider));
    for (const entry of entries.values()) {
      const connector = connectorOf(entry);
      const vendor = connector?.vendor ?? entry.id;
      this.#prefixes.set(entry.id, [`${vendor}.`, `${vendor}/`, `${entry.id}.`]);
      const offer = createOffer(entry, connector, configuredFor.has(entry.id));
      const mayGetMore = offer === "list" || isRenewed && offer === "catalogue" && connector !== undefined;
      // a connector that is not registered is already reported
      if (mayGetMore && entry.enabled) this.#listing.add(entry.id);
      if (mayGetMore && offer === "catalogue") this.#renewed.push(...connector?.models.map(({ id }) => id) ?? []);
      if (entry.instance !== undefined || connector?.local || mayGetMore) this.#open.add(entry.id);
      else if (connector === undefined) this.#isPartial = true;
      for (const { id } of offer === "none" ? [] : connector?.models ?? []) this.#offer(entry.id, vendor, id);
    }
  }

  /** Finds the models that a name means: by name, by `<vendor>/<id>`, or by upstream id, which may be dated. */
  find(name: string): readonly NamedModel[] | undefined {
    const model = this.#byName.get(name) ?? this.#byCatalogueName.get(name);
    if (model !== undefined) return [model];
    for (const id of [name, ...equivalentIds(name)]) {
      const models = this.#byUpstreamId.get(id);
      if (models !== undefined) return models;
    }
    return undefined;
  }

  /** Whether models of this name exist, or may exist. No model has a pattern as its name. */
  has(name: string): boolean {
    if (name.includes("*")) return this.find(name) !== undefined;
    return this.find(name) !== undefined || this.#isPartial && /[./]/.test(name) || this.mayBeListedBy(name).length > 0;
  }

  /**
   * The providers that may get a model of an unknown name: those of its prefix; without one, all that list models or
   * whose catalogue is renewed, unless the name is that of a known model, misspelt.
   */
  mayBeListedBy(name: string): readonly string[] {
    const named = [...this.#prefixes].filter(([, prefixes]) => prefixes.some((prefix) => name.startsWith(prefix)));
    if (named.length > 0) return named.flatMap(([id]) => this.#open.has(id) ? id : []);
    return this.#isMisspelt(name) ? [] : [...this.#listing];
  }

  /** Returns the target of an alias in place of a name that means no model itself. */
  toTarget(name: string): string {
    return this.find(name) === undefined ? this.#aliases.get(name) ?? name : name;
  }

  /**
   * Describes a name that no model has: with the provider that would have it, the nearest one, or what to set in place of
   * a pattern.
   */
  describeUnknown(name: string): string {
    if (!name.includes("*")) {
      const used = new Set([...this.#entries.values()].map(({ connector }) => connector));
      const missing = this.#connectors.find(({ id, vendor, models }) =>
        !used.has(id) &&
        (name.startsWith(`${vendor}/`) || name.startsWith(`${vendor}.`) || models.some((model) => model.id === name))
      );
      const hint = missing === undefined ? suggest(name, this.all()) : `: add "${missing.id}" to "providers"`;
      return `no model ${show(name)}${hint}`;
    }
    return `${show(name)} is a pattern: list names, or let "capability" and "providers" of a pool select models`;
  }

  /** All names, those of the document first. */
  all(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** Ids that differ in digits are versions, and no misspellings. */
  #isMisspelt(name: string): boolean {
    if (this.#listing.size === 0) return false;
    const digits = name.replace(/\D/g, "");
    return nearest(name, [...this.#configured, ...this.#renewed])
      .some((near) => near.replace(/\D/g, "") === digits);
  }

  #offer(provider: string, vendor: string, id: string): void {
    const isConfigured = this.#byUpstreamId.get(id)?.some((model) => model.provider === provider);
    if (isConfigured) return;
    const name = `${vendor}.${id}`;
    this.#add({ name: this.#byName.has(name) ? `${provider}.${id}` : name, provider, id }, vendor);
  }

  #add(model: NamedModel, vendor: string): void {
    const { name, id } = model;
    this.#byName.set(name, model);
    const catalogueName = `${vendor}.${id}`;
    if (!this.#byCatalogueName.has(catalogueName)) this.#byCatalogueName.set(catalogueName, model);
    for (const form of [id, `${vendor}/${id}`]) {
      const existing = this.#byUpstreamId.get(form);
      if (existing === undefined) this.#byUpstreamId.set(form, [model]);
      else existing.push(model);
    }
  }
}
