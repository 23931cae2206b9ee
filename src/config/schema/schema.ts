/**
 * The configuration document as data: every key with type, default and range; the comment above a key says what it is
 * for. The parser, defaults, types, JSON Schema and documentation follow from it.
 * @module
 */
import type { Given } from "./field.ts";
import { defaultHealth, defaultStorage, defaultSync } from "../settings/defaults.ts";
import { model } from "./models.ts";
import { observability } from "./observability.ts";
import { pool } from "./pools.ts";
import { budget } from "./budget.ts";
import { provider } from "./providers.ts";
import { limits, proxy, team } from "./proxy.ts";

const policy = {
  type: "choice",
  values: ["in-memory", "sync-on-boundary", "periodic", "immediate"],
  default: defaultStorage.policy as string,
} as const;

const interval = { type: "duration", default: defaultStorage.intervalMs as number } as const;

/** The section `storage`. Other keys are passed to the connector. */
export const storage = {
  type: "object",
  spellings: { storage: "" },
  isOptional: true,
  isOpen: true,
  aliases: [["sync_policy", "persistence.sync_policy"], ["sync_interval", "persistence.sync_interval"]],
  fields: {
    /** Storage connector. */
    connector: { type: "text", isLiteral: true, default: "mesh.local-file.v1" },
    /** When state is written. */
    sync_policy: policy as typeof policy,
    /** Interval between writes under `periodic`. */
    sync_interval: interval as typeof interval,
    /**
     * Behavior while the storage is unavailable: continue with the state of this process (`open`), or refuse requests
     * under a budget (`closed`).
     */
    on_unavailable: { type: "choice", values: ["open", "closed"], default: "open" },
    /** Format of the records. */
    persistence: {
      type: "object",
      fields: {
        /** Alias of `sync_policy`. */
        sync_policy: policy as typeof policy,
        /** Alias of `sync_interval`. */
        sync_interval: interval as typeof interval,
        /** Encoding of the records. */
        format: { type: "choice", values: ["json", "yaml", "msgpack"], default: defaultStorage.format as string },
        /** Whether records are compressed with gzip. */
        compression: { type: "flag", default: false },
        /** Whether records are encrypted with the secret `MESH_STORAGE_KEY`. */
        encryption: { type: "flag", default: false },
      },
    },
    /** Locking between processes that share the storage. */
    locking: {
      type: "object",
      fields: {
        /** Whether the record is locked. By default it is under `periodic` and `immediate`. */
        enabled: { type: "flag" },
        /** Maximum time to wait for the lock. */
        timeout: { type: "duration", default: 30_000 },
        /** Interval between attempts to acquire the lock. */
        retry_interval: { type: "duration", default: 1000 },
      },
    },
  },
} as const;

/** The section as given. */
export type StorageValues = Given<typeof storage>;

/** The section `secrets`. */
export const secrets = {
  type: "object",
  spellings: { "secret-store": "", secret_store: "" },
  isOpen: true,
  fields: {
    /** Secret store that resolves references. */
    store: { type: "text", isLiteral: true, default: "mesh.env.v1" },
    /** File of a file-based store. */
    path: { type: "text", isLiteral: true },
    /** Region of a cloud store. */
    region: { type: "text", isLiteral: true },
    /** How references are resolved. */
    resolution: {
      type: "object",
      fields: {
        /** Whether a missing secret prevents startup. */
        fail_on_missing: { type: "flag", default: true },
        /** Whether resolved secrets are cached in memory. */
        cache_enabled: { type: "flag", default: true },
        /** How long resolved secrets are cached. */
        cache_ttl: { type: "duration", default: 300_000 },
        /** Whether secrets are resolved again when a request rotates to another provider. */
        reload_on_rotation: { type: "flag", default: true },
      },
    },
  },
} as const;

/** The section `discovery`. */
export const discovery = {
  type: "object",
  spellings: { discovery: "" },
  fields: {
    /** Synchronization of the list of models. It runs if an interval is set. */
    sync: {
      type: "object",
      fields: {
        /** Synchronization connector. */
        connector: { type: "text", isLiteral: true, default: defaultSync.connector as string },
        /** `false` disables it. */
        enabled: { type: "flag", default: defaultSync.enabled as boolean },
        /** Interval at which the providers' lists are requested. */
        interval: { type: "duration" },
        /** Whether new models are added. With `false` they are only reported. */
        auto_register: { type: "flag", default: defaultSync.actions.auto_register as boolean },
        /** Providers whose lists are requested. All by default. */
        providers: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
        /** How a model that appears in a list is handled: it is added (`register`), logged (`notify`), or ignored. */
        on_new_model: {
          type: "choice",
          values: ["register", "notify", "ignore"],
          default: defaultSync.actions.on_new_model as string,
        },
        /**
         * How a model that disappears from a list is handled: it is in standby until it reappears (`deactivate`),
         * logged (`notify`), or ignored.
         */
        on_deprecated_model: {
          type: "choice",
          values: ["deactivate", "notify", "ignore"],
          default: defaultSync.actions.on_deprecated_model as string,
        },
      },
    },
    /** Health probes of providers. They run if an interval is set. */
    health: {
      type: "object",
      fields: {
        /** Health monitor connector. */
        connector: { type: "text", isLiteral: true, default: defaultHealth.connector as string },
        /** `false` disables it. */
        enabled: { type: "flag", default: defaultHealth.enabled as boolean },
        /** Interval at which providers are probed. */
        interval: { type: "duration" },
        /** Time limit of a probe. */
        timeout: { type: "duration", default: defaultHealth.timeoutMs as number },
        /** Number of consecutive failed probes after which a provider's models go into standby. */
        failure_threshold: { type: "integer", min: 1, default: defaultHealth.failureThreshold as number },
        /** Providers that are probed. All by default. */
        providers: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
      },
    },
    /** Renewal of the catalogue of models by a signed document. Nothing is fetched without this section. */
    catalogue: {
      type: "object",
      isOptional: true,
      required: ["url", "public_key"],
      fields: {
        /** HTTPS address of the document. */
        url: { type: "text", isLiteral: true, format: "download" },
        /** Ed25519 public key of the signer: Base64 of its 32 bytes, or of its PEM file. */
        public_key: { type: "text", isLiteral: true, format: "publicKey" },
        /** Interval at which the document is fetched. */
        refresh: { type: "duration", min: 60_000, default: 86_400_000 },
      },
    },
  },
} as const;

/** A guard. Other keys are passed to the connector. */
export const guard = {
  type: "object",
  isOpen: true,
  required: ["connector"],
  fields: {
    /** Guard connector. */
    connector: { type: "text", isLiteral: true },
    /** What happens to texts that the guard cannot check: they are refused (`block`), or pass (`allow`). */
    on_error: { type: "choice", values: ["block", "allow"], default: "block" },
    /** Time limit of a check. */
    timeout: { type: "duration", min: 1, default: 5000 },
  },
} as const;

/** The section `cache`. */
export const cache = {
  type: "object",
  isOptional: true,
  fields: {
    /**
     * Storage of the entries, with the attributes of its connector. By default that of the section `storage` if its entries can
     * expire, otherwise the memory of the process.
     */
    storage: {
      type: "object",
      isOptional: true,
      isOpen: true,
      required: ["connector"],
      fields: {
        /** Storage connector, whose entries can expire. */
        connector: { type: "text", isLiteral: true },
      },
    },
    /** How long a response may be repeated. A request can shorten it. */
    ttl: { type: "duration", min: 1, default: 3_600_000 },
    /** Maximum size of an entry. Longer responses are not kept. */
    max_entry: { type: "size", default: 1_000_000 },
    /** Who shares responses: the requests of one client, those of one team, or all. */
    scope: { type: "choice", values: ["client", "team", "all"], default: "client" },
    /** Pools whose responses are kept. By default all. */
    pools: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
    /** Whether equal requests at the same time are one call. */
    coalesce: { type: "flag", default: true },
  },
} as const;

/** The section as given. */
export type CacheValues = Given<typeof cache>;

const connectors = {
  type: "object",
  fields: {
    /** Archives with connectors: paths or HTTPS addresses, optionally with a hash. */
    packages: {
      type: "list",
      item: {
        type: "either",
        options: [{ type: "text", isLiteral: true }, {
          type: "object",
          fields: {
            /** Path of the archive. */
            path: { type: "text", isLiteral: true },
            /** HTTPS address of the archive. */
            url: { type: "text", isLiteral: true },
            /** Expected SHA-256 of the archive. */
            sha256: { type: "text", isLiteral: true, format: "hash" },
          },
        }],
      },
    },
  },
} as const;

/** The document. What is not a literal is repeated as a type, since declarations of types are written file by file. */
export const schema = {
  type: "object",
  spellings: {
    "secret-store": "secrets",
    secret_store: "secrets",
    provider: "providers.<name>",
    "rotation.selection": "pools.<name>",
    rotation: "pools.<name>",
  },
  foreign: {
    LiteLLM: {
      model_list: '"providers", "models" and "pools"',
      litellm_settings: '"pools.<name>.retry", "proxy.request_timeout" and "observability"',
      general_settings: '"proxy.auth" and "storage"',
      router_settings: '"pools.<name>", "aliases" and "providers.<name>.budget"',
      environment_variables: '"${secrets:NAME}" in place of a value',
    },
    Portkey: {
      targets: '"providers" and "pools.<name>.models"',
      virtual_key: '"providers.<name>.api_key"',
      request_timeout: '"providers.<name>.execution.timeout"',
      cb_config: '"pools.<name>.deactivation" and "recovery"',
    },
  },
  fields: {
    /** Resolution of secrets. */
    secrets: secrets as typeof secrets,
    /** Vendors and servers that serve models. */
    providers: { type: "map", item: provider as typeof provider },
    /** Models in addition to the built-in catalogue, or overrides of its entries. */
    models: { type: "map", item: model as typeof model },
    /** Pools: groups of models among which requests are routed. */
    pools: { type: "map", item: pool as typeof pool },
    /** Guards: what checks the texts of requests and responses. They act where `pools`, `proxy` or a client names them. */
    guards: { type: "map", item: guard as typeof guard },
    /** Alternative names of pools and models. */
    aliases: { type: "map", item: { type: "text", isLiteral: true } },
    /** Custom leaves of the capability tree, by full path. */
    capabilities: { type: "list", item: { type: "text", isLiteral: true } },
    /** Maximum amount that may be spent in total. */
    budget: budget as typeof budget,
    /** Teams of clients, with pools and limits that their clients share. */
    teams: { type: "map", item: team as typeof team },
    /** Limits of tags, by name. Other tags are only recorded. */
    tags: { type: "map", item: limits as typeof limits },
    /**
     * Limits of each end user, as named by `user`, `safety_identifier` or Anthropic's `metadata.user_id`. Those of two
     * clients are different users. Without it, end users are only recorded.
     */
    users: limits as typeof limits,
    /** Persistence of state across restarts. */
    storage: storage as typeof storage,
    /** Cache of responses to equal requests. Off without this section. */
    cache: cache as typeof cache,
    /** Sinks for records. None by default. */
    observability: observability as typeof observability,
    /** Background discovery of models and health. */
    discovery: discovery as typeof discovery,
    /** Third-party connectors. */
    connectors: connectors as typeof connectors,
    /** The HTTP proxy. */
    proxy: proxy as typeof proxy,
    /** Location of the JSON Schema (`docs/schema.json` of the package), for editors. ModelMesh ignores it. */
    $schema: { type: "text" },
  },
} as const;

/** The document as given. */
export type DocumentValues = Given<typeof schema>;

export type SecretValues = Given<typeof secrets>;

export type HealthValues = Given<typeof discovery.fields.health>;

export type SyncValues = Given<typeof discovery.fields.sync>;

export type PackageValues = Given<typeof connectors.fields.packages.item.options[1]>;
