/**
 * The whole configuration document: every key with its type, default and range; what it is for stands above it.
 * Documentation and the JSON Schema are generated from here.
 * @module
 */
import { either, list, mapOf, object } from "./_containers.ts";
import type { Field } from "./field.ts";
import { duration, flag, integer, oneOf, text } from "./_fields.ts";
import { hashProblem } from "./formats.ts";
import { defaultSecretStore, defaultSecretTtlMs } from "../settings/defaults.ts";
import { defaultHealth, defaultSync } from "../settings/discovery_defaults.ts";
import { models, type ModelValues } from "./models.ts";
import { observability, type ObservabilityValues } from "./observability.ts";
import { pools, type PoolValues } from "./pools.ts";
import { budget, type BudgetValues, providers, type ProviderValues } from "./providers.ts";
import { proxy, type ProxyValues } from "./proxy.ts";
import { storage, type StorageValues } from "./storage.ts";
import { once } from "../../util/once.ts";

export interface SecretValues {
  readonly store?: string;
  readonly path?: string;
  readonly region?: string;
  readonly resolution?: {
    readonly fail_on_missing?: boolean;
    readonly cache_enabled?: boolean;
    readonly cache_ttl?: number;
    readonly reload_on_rotation?: boolean;
  };
}

export interface HealthValues {
  readonly connector?: string;
  readonly enabled?: boolean;
  readonly interval?: number;
  readonly timeout?: number;
  readonly failure_threshold?: number;
  readonly providers?: readonly string[];
}

export interface SyncValues {
  readonly connector?: string;
  readonly enabled?: boolean;
  readonly interval?: number;
  readonly auto_register?: boolean;
  readonly providers?: readonly string[];
  readonly on_new_model?: "register" | "notify" | "ignore";
  readonly on_deprecated_model?: "deactivate" | "notify" | "ignore";
}

export interface PackageValues {
  readonly path?: string;
  readonly url?: string;
  readonly sha256?: string;
}

export interface DocumentValues {
  readonly secrets?: SecretValues;
  readonly providers?: ReadonlyMap<string, ProviderValues>;
  readonly models?: ReadonlyMap<string, ModelValues>;
  readonly pools?: ReadonlyMap<string, PoolValues>;
  readonly aliases?: ReadonlyMap<string, string>;
  readonly capabilities?: readonly string[];
  readonly budget?: BudgetValues;
  readonly storage?: StorageValues;
  readonly discovery?: { readonly sync?: SyncValues; readonly health?: HealthValues };
  readonly observability?: ObservabilityValues;
  readonly connectors?: { readonly packages?: readonly (string | PackageValues)[] };
  readonly proxy?: ProxyValues;
}

const secrets = () =>
  object<SecretValues>({
    /** The secret store that references are looked up in. */
    store: text({ isLiteral: true, default: defaultSecretStore }),
    /** The file of a store that is one. */
    path: text({ isLiteral: true }),
    /** The region of a store in a cloud. */
    region: text({ isLiteral: true }),
    /** How references are resolved. */
    resolution: object<NonNullable<SecretValues["resolution"]>>({
      /** Refuse to start when a referenced secret is missing. */
      fail_on_missing: flag({ default: true }),
      /** Keep resolved secrets in memory. */
      cache_enabled: flag({ default: true }),
      /** How long they are kept. */
      cache_ttl: duration({ default: defaultSecretTtlMs }),
      /** Look secrets up again when another provider takes over. */
      reload_on_rotation: flag({ default: true }),
    }),
  }, { isOpen: true });

const providerNames = () => list(text({ isLiteral: true }), { min: 1 });

const discovery = () =>
  object<NonNullable<DocumentValues["discovery"]>>({
    /** Keeping the list of models up to date; runs once an interval is given. */
    sync: object<SyncValues>({
      /** What keeps it. */
      connector: text({ isLiteral: true, default: defaultSync.connector }),
      /** False switches it off. */
      enabled: flag({ default: defaultSync.enabled }),
      /** How often providers are asked. */
      interval: duration(),
      /** False: new models are only noticed, never added. */
      auto_register: flag({ default: true }),
      /** Providers that are asked; all unless given. */
      providers: providerNames(),
      /** What happens with a model that a list has for the first time: it is added, or a line of the log says so. */
      on_new_model: oneOf(["register", "notify", "ignore"], "register"),
      /**
       * What happens with a model that is missing from a list that had it: it is in standby until it is back, or a line
       * of the log says so.
       */
      on_deprecated_model: oneOf(["deactivate", "notify", "ignore"], "notify"),
    }),
    /** Probing providers; runs once an interval is given. */
    health: object<HealthValues>({
      /** What watches over them. */
      connector: text({ isLiteral: true, default: defaultHealth.connector }),
      /** False switches it off. */
      enabled: flag({ default: defaultHealth.enabled }),
      /** How often providers are probed. */
      interval: duration(),
      /** Limit of a probe. */
      timeout: duration({ default: defaultHealth.timeoutMs }),
      /** Failed probes in a row that deactivate a provider's models. */
      failure_threshold: integer({ min: 1, default: defaultHealth.failureThreshold }),
      /** Providers that are probed; all unless given. */
      providers: providerNames(),
    }),
  });

const packages = () =>
  list(either(
    text({ isLiteral: true }),
    object<PackageValues>({
      /** The archive's file. */
      path: text({ isLiteral: true }),
      /** The archive's https address. */
      url: text({ isLiteral: true }),
      /** What the archive has to hash to. */
      sha256: text({ isLiteral: true, check: hashProblem }),
    }),
  ));

/** The document. Made when the first one is read. */
export const schema: () => Field<DocumentValues> = /* @__PURE__ */ once(makeSchema);

function makeSchema(): Field<DocumentValues> {
  return object<DocumentValues>({
    /** Where secrets come from. */
    secrets: secrets(),
    /** Vendors and servers that models are asked at. */
    providers: providers(),
    /** Models beside those of the built-in catalogue, or facts about them. */
    models: models(),
    /** Groups of models that requests are routed over. */
    pools: pools(),
    /** Other names for pools and models. */
    aliases: mapOf(text({ isLiteral: true })),
    /** Leaves added to the capability tree, by full path. */
    capabilities: list(text({ isLiteral: true })),
    /** The most that may be spent in all. */
    budget: budget(),
    /** Where state is kept between starts. */
    storage: storage(),
    /** Where records go; nowhere unless given. */
    observability: observability(),
    /** What is looked up in the background. */
    discovery: discovery(),
    /** Connectors from elsewhere. */
    connectors: object<NonNullable<DocumentValues["connectors"]>>({
      /** Archives of connectors: paths, https addresses, or either with a hash. */
      packages: packages(),
    }),
    /** The HTTP proxy. */
    proxy: proxy(),
    /** Where an editor finds the JSON Schema of this document (`schema.json` of the package); not looked at. */
    $schema: text(),
  });
}
