/**
 * The schema of the configuration document: every key with type, default and range; the comment above a key describes
 * it. Documentation and JSON Schema are generated from it.
 * @module
 */
import { either, list, mapField, object } from "./_containers.ts";
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
    /** Secret store that resolves references. */
    store: text({ isLiteral: true, default: defaultSecretStore }),
    /** File of a file-based store. */
    path: text({ isLiteral: true }),
    /** Region of a cloud store. */
    region: text({ isLiteral: true }),
    /** How references are resolved. */
    resolution: object<NonNullable<SecretValues["resolution"]>>({
      /** Whether a missing secret prevents startup. */
      fail_on_missing: flag({ default: true }),
      /** Whether resolved secrets are cached in memory. */
      cache_enabled: flag({ default: true }),
      /** How long resolved secrets are cached. */
      cache_ttl: duration({ default: defaultSecretTtlMs }),
      /** Whether secrets are resolved again when a request rotates to another provider. */
      reload_on_rotation: flag({ default: true }),
    }),
  }, { isOpen: true, spellings: { "secret-store": "", "secret_store": "" } });

const providerNames = () => list(text({ isLiteral: true }), { min: 1 });

const discovery = () =>
  object<NonNullable<DocumentValues["discovery"]>>({
    /** Synchronization of the list of models. It runs if an interval is set. */
    sync: object<SyncValues>({
      /** Synchronization connector. */
      connector: text({ isLiteral: true, default: defaultSync.connector }),
      /** `false` disables it. */
      enabled: flag({ default: defaultSync.enabled }),
      /** Interval at which the providers' lists are requested. */
      interval: duration(),
      /** Whether new models are added. With `false` they are only reported. */
      auto_register: flag({ default: true }),
      /** Providers whose lists are requested. All by default. */
      providers: providerNames(),
      /** How a model that appears in a list is handled: it is added (`register`), logged (`notify`), or ignored. */
      on_new_model: oneOf(["register", "notify", "ignore"], "register"),
      /**
       * How a model that disappears from a list is handled: it is in standby until it reappears (`deactivate`), logged
       * (`notify`), or ignored.
       */
      on_deprecated_model: oneOf(["deactivate", "notify", "ignore"], "notify"),
    }),
    /** Health probes of providers. They run if an interval is set. */
    health: object<HealthValues>({
      /** Health monitor connector. */
      connector: text({ isLiteral: true, default: defaultHealth.connector }),
      /** `false` disables it. */
      enabled: flag({ default: defaultHealth.enabled }),
      /** Interval at which providers are probed. */
      interval: duration(),
      /** Time limit of a probe. */
      timeout: duration({ default: defaultHealth.timeoutMs }),
      /** Number of consecutive failed probes after which a provider's models go into standby. */
      failure_threshold: integer({ min: 1, default: defaultHealth.failureThreshold }),
      /** Providers that are probed. All by default. */
      providers: providerNames(),
    }),
  }, { spellings: { discovery: "" } });

const packages = () =>
  list(either(
    text({ isLiteral: true }),
    object<PackageValues>({
      /** Path of the archive. */
      path: text({ isLiteral: true }),
      /** HTTPS address of the archive. */
      url: text({ isLiteral: true }),
      /** Expected SHA-256 of the archive. */
      sha256: text({ isLiteral: true, check: hashProblem }),
    }),
  ));

/** The document. Created on first use. */
export const schema: () => Field<DocumentValues> = /* @__PURE__ */ once(makeSchema);

function makeSchema(): Field<DocumentValues> {
  return object<DocumentValues>({
    /** Resolution of secrets. */
    secrets: secrets(),
    /** Vendors and servers that serve models. */
    providers: providers(),
    /** Models in addition to the built-in catalogue, or overrides of its entries. */
    models: models(),
    /** Pools: groups of models among which requests are routed. */
    pools: pools(),
    /** Alternative names of pools and models. */
    aliases: mapField(text({ isLiteral: true })),
    /** Custom leaves of the capability tree, by full path. */
    capabilities: list(text({ isLiteral: true })),
    /** Maximum amount that may be spent in total. */
    budget: budget(),
    /** Persistence of state across restarts. */
    storage: storage(),
    /** Sinks for records. None by default. */
    observability: observability(),
    /** Background discovery of models and health. */
    discovery: discovery(),
    /** Third-party connectors. */
    connectors: object<NonNullable<DocumentValues["connectors"]>>({
      /** Archives with connectors: paths or HTTPS addresses, optionally with a hash. */
      packages: packages(),
    }),
    /** The HTTP proxy. */
    proxy: proxy(),
    /** Location of the JSON Schema (`docs/schema.json` of the package), for editors. ModelMesh ignores it. */
    $schema: text(),
  }, {
    spellings: {
      "secret-store": "secrets",
      secret_store: "secrets",
      provider: "providers.<name>",
      "rotation.selection": "pools.<name>",
      rotation: "pools.<name>",
    },
  });
}
