/**
 * A configuration as a program writes it: every key by its name, so that a misspelt one does not compile. Written by
 * `deno task schema` from `src/config/schema`.
 * @module
 */
import type { CapabilityName, ConnectorName, StrategyName } from "./names.ts";
import type { Provider } from "./provider.ts";
import type { SelectionStrategy } from "./rotation.ts";

/** A whole configuration. Durations are texts such as `1h30m`, sizes such as `32MiB`. */
export interface ConfigDocument {
  /** Resolution of secrets. */
  readonly secrets?: {
    /** Secret store that resolves references. */
    readonly store?: ConnectorName;
    /** File of a file-based store. */
    readonly path?: string;
    /** Region of a cloud store. */
    readonly region?: string;
    /** How references are resolved. */
    readonly resolution?: {
      /** Whether a missing secret prevents startup. */
      readonly fail_on_missing?: boolean;
      /** Whether resolved secrets are cached in memory. */
      readonly cache_enabled?: boolean;
      /** How long resolved secrets are cached. */
      readonly cache_ttl?: string;
      /** Whether secrets are resolved again when a request rotates to another provider. */
      readonly reload_on_rotation?: boolean;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Attributes of the connector. */
    readonly [attribute: string]: unknown;
  };
  /** Vendors and servers that serve models. */
  readonly providers?:
    & Readonly<Record<string, ProviderDocument>>
    & Readonly<
      Partial<
        Record<
          | "openai.llm.v1"
          | "anthropic.claude.v1"
          | "google.gemini.v1"
          | "groq.api.v1"
          | "mistral.api.v1"
          | "deepseek.api.v1"
          | "together.api.v1"
          | "openrouter.gateway.v1"
          | "xai.grok.v1"
          | "cohere.nlp.v1"
          | "perplexity.search.v1"
          | "cerebras.api.v1"
          | "fireworks.api.v1"
          | "sambanova.api.v1"
          | "nvidia.nim.v1"
          | "huggingface.inference.v1"
          | "cloudflare.workers-ai.v1"
          | "azure.openai.v1"
          | "aws.bedrock.v1"
          | "google.vertex.v1"
          | "elevenlabs.tts.v1"
          | "azure.tts.v1"
          | "deepgram.audio.v1"
          | "assemblyai.stt.v1"
          | "jina.ai.v1"
          | "voyage.embeddings.v1"
          | "tavily.search.v1"
          | "serper.search.v1"
          | "firecrawl.scrape.v1"
          | "ollama.local.v1"
          | "lmstudio.local.v1"
          | "vllm.local.v1"
          | "localai.local.v1"
          | "openai.compatible.v1",
          ProviderDocument
        >
      >
    >;
  /** Models in addition to the built-in catalogue, or overrides of its entries. */
  readonly models?: Readonly<Record<string, ModelDocument>>;
  /** Pools: groups of models among which requests are routed. */
  readonly pools?: Readonly<Record<string, PoolDocument>>;
  /** Alternative names of pools and models. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Custom leaves of the capability tree, by full path. */
  readonly capabilities?: readonly string[];
  /** Maximum amount that may be spent in total. */
  readonly budget?: {
    /** Maximum amount spent per UTC day, in USD. 0 allows nothing. */
    readonly daily_limit?: number;
    /** Maximum amount spent per UTC month, in USD. 0 allows nothing. */
    readonly monthly_limit?: number;
    /** Shares of a limit, from 0 to 1. A `budget` event is emitted when the amount spent reaches one, once per window. An empty list emits none. Processes that share a budget emit one event each. */
    readonly alert_at?: readonly number[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Persistence of state across restarts. */
  readonly storage?: {
    /** Storage connector. */
    readonly connector?: ConnectorName;
    /** When state is written. */
    readonly sync_policy?: "in-memory" | "sync-on-boundary" | "periodic" | "immediate";
    /** Interval between writes under `periodic`. */
    readonly sync_interval?: string;
    /** Behavior while the storage is unavailable: continue with the state of this process (`open`), or refuse requests under a budget (`closed`). */
    readonly on_unavailable?: "open" | "closed";
    /** Format of the records. */
    readonly persistence?: {
      /** Alias of `sync_policy`. */
      readonly sync_policy?: "in-memory" | "sync-on-boundary" | "periodic" | "immediate";
      /** Alias of `sync_interval`. */
      readonly sync_interval?: string;
      /** Encoding of the records. */
      readonly format?: "json" | "yaml" | "msgpack";
      /** Whether records are compressed with gzip. */
      readonly compression?: boolean;
      /** Whether records are encrypted with the secret `MESH_STORAGE_KEY`. */
      readonly encryption?: boolean;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Locking between processes that share the storage. */
    readonly locking?: {
      /** Whether the record is locked. By default it is under `periodic` and `immediate`. */
      readonly enabled?: boolean;
      /** Maximum time to wait for the lock. */
      readonly timeout?: string;
      /** Interval between attempts to acquire the lock. */
      readonly retry_interval?: string;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Attributes of the connector. */
    readonly [attribute: string]: unknown;
  };
  /** Sinks for records. None by default. */
  readonly observability?: {
    /** Sinks for events and routing records: one, or a list. */
    readonly routing?:
      | {
        /** Sink connector. */
        readonly connector?: ConnectorName;
        /** URL that the sink delivers to. */
        readonly url?: string;
        /** File that the sink writes. */
        readonly path?: string;
        /** Secret that signs webhook deliveries. */
        readonly secret?: string;
        /** Further settings of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }
      | readonly {
        /** Sink connector. */
        readonly connector?: ConnectorName;
        /** URL that the sink delivers to. */
        readonly url?: string;
        /** File that the sink writes. */
        readonly path?: string;
        /** Secret that signs webhook deliveries. */
        readonly secret?: string;
        /** Further settings of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }[];
    /** Sinks for request logs: one, or a list. */
    readonly logging?:
      | {
        /** Sink connector. */
        readonly connector?: ConnectorName;
        /** URL that the sink delivers to. */
        readonly url?: string;
        /** File that the sink writes. */
        readonly path?: string;
        /** How much of a request is logged: metadata only, the first 200 characters of its payloads (`summary`), or whole payloads (`full`). */
        readonly level?: "metadata" | "summary" | "full";
        /** Whether keys and tokens in payloads are redacted. */
        readonly redact_secrets?: boolean;
        /** Maximum number of bytes of a payload that are logged. */
        readonly max_payload_size?: number;
        /** Further settings of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }
      | readonly {
        /** Sink connector. */
        readonly connector?: ConnectorName;
        /** URL that the sink delivers to. */
        readonly url?: string;
        /** File that the sink writes. */
        readonly path?: string;
        /** How much of a request is logged: metadata only, the first 200 characters of its payloads (`summary`), or whole payloads (`full`). */
        readonly level?: "metadata" | "summary" | "full";
        /** Whether keys and tokens in payloads are redacted. */
        readonly redact_secrets?: boolean;
        /** Maximum number of bytes of a payload that are logged. */
        readonly max_payload_size?: number;
        /** Further settings of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }[];
    /** Sinks for statistics: one, or a list. */
    readonly statistics?:
      | {
        /** Sink connector. */
        readonly connector?: ConnectorName;
        /** URL that the sink delivers to. */
        readonly url?: string;
        /** File that the sink writes. */
        readonly path?: string;
        /** Interval at which statistics are written. */
        readonly flush_interval?: string;
        /** How long statistics are kept, by sinks that store them. */
        readonly retention?: string;
        /** Scopes of the statistics. All by default. */
        readonly scopes?: readonly ("model" | "provider" | "pool")[];
        /** Further settings of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }
      | readonly {
        /** Sink connector. */
        readonly connector?: ConnectorName;
        /** URL that the sink delivers to. */
        readonly url?: string;
        /** File that the sink writes. */
        readonly path?: string;
        /** Interval at which statistics are written. */
        readonly flush_interval?: string;
        /** How long statistics are kept, by sinks that store them. */
        readonly retention?: string;
        /** Scopes of the statistics. All by default. */
        readonly scopes?: readonly ("model" | "provider" | "pool")[];
        /** Further settings of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }[];
    /** Sinks for traces: one, or a list. */
    readonly tracing?:
      | {
        /** Sink connector. */
        readonly connector?: ConnectorName;
        /** URL that the sink delivers to. */
        readonly url?: string;
        /** File that the sink writes. */
        readonly path?: string;
        /** Minimum severity of traces. */
        readonly min_severity?: "debug" | "info" | "warning" | "error" | "critical";
        /** Further settings of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }
      | readonly {
        /** Sink connector. */
        readonly connector?: ConnectorName;
        /** URL that the sink delivers to. */
        readonly url?: string;
        /** File that the sink writes. */
        readonly path?: string;
        /** Minimum severity of traces. */
        readonly min_severity?: "debug" | "info" | "warning" | "error" | "critical";
        /** Further settings of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }[];
    /** Which events are emitted. */
    readonly events?: {
      /** Kinds of events that are emitted. All by default. */
      readonly filter?:
        readonly ("rotation" | "deactivation" | "recovery" | "health" | "budget" | "outage" | "batch")[];
      /** Whether events include `metadata`. */
      readonly include_metadata?: boolean;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Background discovery of models and health. */
  readonly discovery?: {
    /** Synchronization of the list of models. It runs if an interval is set. */
    readonly sync?: {
      /** Synchronization connector. */
      readonly connector?: ConnectorName;
      /** `false` disables it. */
      readonly enabled?: boolean;
      /** Interval at which the providers' lists are requested. */
      readonly interval?: string;
      /** Whether new models are added. With `false` they are only reported. */
      readonly auto_register?: boolean;
      /** Providers whose lists are requested. All by default. */
      readonly providers?: readonly string[];
      /** How a model that appears in a list is handled: it is added (`register`), logged (`notify`), or ignored. */
      readonly on_new_model?: "register" | "notify" | "ignore";
      /** How a model that disappears from a list is handled: it is in standby until it reappears (`deactivate`), logged (`notify`), or ignored. */
      readonly on_deprecated_model?: "deactivate" | "notify" | "ignore";
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Health probes of providers. They run if an interval is set. */
    readonly health?: {
      /** Health monitor connector. */
      readonly connector?: ConnectorName;
      /** `false` disables it. */
      readonly enabled?: boolean;
      /** Interval at which providers are probed. */
      readonly interval?: string;
      /** Time limit of a probe. */
      readonly timeout?: string;
      /** Number of consecutive failed probes after which a provider's models go into standby. */
      readonly failure_threshold?: number;
      /** Providers that are probed. All by default. */
      readonly providers?: readonly string[];
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Third-party connectors. */
  readonly connectors?: {
    /** Archives with connectors: paths or HTTPS addresses, optionally with a hash. */
    readonly packages?: readonly (string | {
      /** Path of the archive. */
      readonly path?: string;
      /** HTTPS address of the archive. */
      readonly url?: string;
      /** Expected SHA-256 of the archive. */
      readonly sha256?: string;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    })[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** The HTTP proxy. */
  readonly proxy?: {
    /** Address to listen on. */
    readonly host?: string;
    /** Port to listen on. 0 selects a free port. */
    readonly port?: number;
    /** Served endpoints, as paths without `/v1`. All by default. */
    readonly endpoints?: readonly (
      | "models"
      | "chat/completions"
      | "completions"
      | "embeddings"
      | "audio/speech"
      | "audio/transcriptions"
      | "audio/translations"
      | "responses"
      | "messages"
      | "messages/count_tokens"
      | "v1beta/models"
      | "images/generations"
      | "images/edits"
      | "moderations"
      | "files"
      | "batches"
      | "fine_tuning/jobs"
      | "rerank"
      | "search"
      | "documents/parse"
    )[];
    /** Authentication of clients. */
    readonly auth?: {
      /** Authentication method of clients. */
      readonly method?: "bearer";
      /** Accepted tokens: strings, or objects with the client's name and limits. */
      readonly tokens?: readonly (string | {
        /** The client's bearer token. */
        readonly token: string;
        /** Name of the client in records and metrics. */
        readonly name: string;
        /** Pools that the client may use. By default all pools, and models by name. */
        readonly pools?: readonly string[];
        /** Maximum amount that the client may spend. */
        readonly budget?: {
          /** Maximum amount spent per UTC day, in USD. 0 allows nothing. */
          readonly daily_limit?: number;
          /** Maximum amount spent per UTC month, in USD. 0 allows nothing. */
          readonly monthly_limit?: number;
          /** Shares of a limit, from 0 to 1. A `budget` event is emitted when the amount spent reaches one, once per window. An empty list emits none. Processes that share a budget emit one event each. */
          readonly alert_at?: readonly number[];
          /** A key in one with what it is in, such as `"retry.max_attempts"`. */
          readonly [dotted: `${string}.${string}`]: unknown;
        };
        /** Maximum number of requests per minute. */
        readonly rpm?: number;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      })[];
      /** Administrators' tokens: they see everything, activate and deactivate models, and manage clients. They need not be listed in `tokens`. By default all tokens without pools, budget and rpm. */
      readonly admin_tokens?: readonly string[];
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Cross-origin requests of browsers. */
    readonly cors?: {
      /** `false` disables CORS. */
      readonly enabled?: boolean;
      /** Allowed origins. By default any origin if a token is set, otherwise loopback origins only. */
      readonly origins?: readonly string[];
      /** Allowed request headers. By default those that the preflight request names. */
      readonly headers?: readonly string[];
      /** Allowed methods. By default those of the path. */
      readonly methods?: readonly ("GET" | "POST" | "DELETE" | "OPTIONS")[];
      /** How long browsers may cache the preflight response. */
      readonly max_age?: string;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Host names that are served without a token, in addition to loopback names. */
    readonly allowed_hosts?: readonly string[];
    /** Maximum number of concurrent requests. Further requests are answered with 503. */
    readonly max_concurrent?: number;
    /** Maximum size of a JSON body. */
    readonly body_limit?: string;
    /** Maximum memory for all request bodies while they are being read. Further requests are answered with 503. A single client (identified by its token, otherwise by its address unless that is a loopback address) may use a quarter. */
    readonly body_memory?: string;
    /** Maximum size of an audio or file upload, and of all uploads together while they are being read. */
    readonly upload_limit?: string;
    /** Deadline of a request. */
    readonly request_timeout?: string;
    /** Time between the stop signal and the refusal of connections. During this time only `/ready` reports the shutdown. */
    readonly drain_delay?: string;
    /** HTTP server: `node:http`, or `Deno.serve` on Deno. `Deno.serve` has no time limit for slow request headers, and may not detect a client that disconnects before its response begins. */
    readonly listener?: "node" | "deno";
    /** Secret that signs the ids of files, batches and fine-tuning jobs. Use a secret reference, and the same value on every proxy that serves them. Defaults to the provider's API key; ids then become invalid when that key changes. */
    readonly id_secret?: string;
    /** Serves HTTPS through `node:https`. The files are reloaded when they change. */
    readonly tls?: {
      /** PEM file with the certificate, followed by the intermediate certificates. */
      readonly cert: string;
      /** PEM file with the private key, without a passphrase. */
      readonly key: string;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Location of the JSON Schema (`schema.json` of the package), for editors. ModelMesh ignores it. */
  readonly "$schema"?: string;
  /** A key in one with what it is in, such as `"retry.max_attempts"`. */
  readonly [dotted: `${string}.${string}`]: unknown;
}

/** An entry of `providers`. */
export interface ProviderDocument {
  /** `false` disables the entry. */
  readonly enabled?: boolean;
  /** Connector id. Defaults to the name of the entry. */
  readonly connector?: ConnectorName;
  /** Provider object instead of a connector, for configurations passed by a program. */
  readonly instance?: Provider;
  /** API key or token. Use a secret reference. A list of keys is rotated. */
  readonly api_key?: string | readonly string[];
  /** Base URL of the API, including the version prefix, for self-hosted servers and gateways. */
  readonly base_url?: string;
  /** Authentication of requests to the provider. */
  readonly auth?: {
    /** Authentication method: API keys, or tokens fetched by `oauth` or `service_account`. */
    readonly method?: "api_key" | "oauth" | "service_account";
    /** Alias of `api_key`. */
    readonly api_key?: string | readonly string[];
    /** Whether requests rotate over several keys. A list of keys implies it. */
    readonly key_rotation?: boolean;
    /** Token endpoint (`oauth`; for `service_account` it overrides the address in the JSON key). */
    readonly token_url?: string;
    /** Client id (`oauth`). */
    readonly client_id?: string;
    /** Client secret (`oauth`). */
    readonly client_secret?: string;
    /** Refresh token (`oauth`). */
    readonly refresh_token?: string;
    /** Requested scopes, separated by spaces (`oauth`, `service_account`). */
    readonly scope?: string;
    /** JSON key of the service account (`service_account`). Use a secret reference. */
    readonly credentials?: string | Readonly<Record<string, unknown>>;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Execution of requests to the provider. */
  readonly execution?: {
    /** Alias of `base_url`. */
    readonly base_url?: string;
    /** Time limit for a whole response, and for silence in a stream. The default for silence is 60s. */
    readonly timeout?: string;
    /** Time limit for establishing a connection. */
    readonly connect_timeout?: string;
    /** Retries within one attempt, in addition to the pool's retries. */
    readonly max_retries?: number;
    /** PEM file with certificate authorities to trust in addition to the runtime's, for this provider and its token endpoint. It is read at startup and at every reload. Not available in browsers or with a custom `fetch`. */
    readonly ca?: string;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Which responses are retried. */
  readonly error?: {
    /** HTTP statuses that are retried on the same model. */
    readonly retryable_codes?: readonly number[];
    /** HTTP statuses that are not retried: the request goes to the next model immediately. */
    readonly non_retryable_codes?: readonly number[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Retries across all traffic of the provider. */
  readonly retry?: {
    /** Limit on the share of retries in the provider's traffic. */
    readonly budget?: {
      /** Maximum ratio of retries to requests. */
      readonly ratio?: number;
      /** Number of retries per window that are always allowed. */
      readonly min?: number;
      /** Time window over which the ratio is measured. */
      readonly window?: string;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Quota of the account. */
  readonly quota?: {
    /** Schedule on which the quota resets. */
    readonly reset_schedule?: "monthly" | "daily" | "rolling";
    /** Whether the vendor is asked at startup how much of the quota is used, if it reports that. An exhausted account starts in standby. */
    readonly query_current?: boolean;
    /** Alias of `query_current`: vendors report the used and the remaining quota together. */
    readonly query_remaining?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Maximum amount that may be spent with this provider. */
  readonly budget?: {
    /** Maximum amount spent per UTC day, in USD. 0 allows nothing. */
    readonly daily_limit?: number;
    /** Maximum amount spent per UTC month, in USD. 0 allows nothing. */
    readonly monthly_limit?: number;
    /** Shares of a limit, from 0 to 1. A `budget` event is emitted when the amount spent reaches one, once per window. An empty list emits none. Processes that share a budget emit one event each. */
    readonly alert_at?: readonly number[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Information requested from the vendor at startup. */
  readonly discovery?: {
    /** Which models the provider offers in addition to those under `models`: those that it lists at startup (`true`), or none (`false`). By default those of the built-in catalogue. A provider without a catalogue, such as a self-hosted server, offers those that it lists, unless models are configured for it. */
    readonly enumerate_models?: boolean;
    /** Whether the vendor is asked for the context windows, output limits and features of its models. They override the catalogue. */
    readonly model_details?: boolean;
    /** Whether the vendor is asked for the capabilities of its models. They override the catalogue. */
    readonly capability_query?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** The vendor's model list. */
  readonly catalogue?: {
    /** Alias of `discovery.enumerate_models`. */
    readonly auto_discover?: boolean;
    /** Interval at which the list is refreshed. Overrides `discovery.sync.interval`. */
    readonly refresh_interval?: string;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Prices of the provider's models. */
  readonly pricing?: {
    /** Whether the vendor is asked for the prices of its models. They override the catalogue. */
    readonly query?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Batches: many requests in one file, answered within hours. */
  readonly batch?: {
    /** Whether the provider supports batches. Defaults to what is known about the vendor. */
    readonly supported?: boolean;
    /** Maximum number of requests per batch. A larger batch is split, and its results are merged. Defaults to the vendor's limit. */
    readonly max_items?: number;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** File storage at the provider. */
  readonly files?: {
    /** Whether the provider supports file uploads. Defaults to what is known about the vendor. */
    readonly upload?: boolean;
    /** Maximum file size. Defaults to the vendor's limit. */
    readonly max_size?: string;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Fine-tuning. */
  readonly fine_tuning?: {
    /** Whether the provider supports fine-tuning. Defaults to what is known about the vendor. */
    readonly supported?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Aliases of `batch.supported`, `files.upload` and `fine_tuning.supported`. */
  readonly infrastructure?: {
    /** Alias of `batch.supported`. */
    readonly batch?: boolean;
    /** Alias of `files.upload`. */
    readonly files?: boolean;
    /** Alias of `fine_tuning.supported`. */
    readonly fine_tuning?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Settings of the connector itself. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A key in one with what it is in, such as `"retry.max_attempts"`. */
  readonly [dotted: `${string}.${string}`]: unknown;
}

/** An entry of `models`. */
export interface ModelDocument {
  /** The entry of `providers` that serves the model. */
  readonly provider: string;
  /** Model id sent to the provider. Defaults to the model's name without the vendor's prefix. */
  readonly model?: string;
  /** Capabilities, as leaves of the tree, by full path or short name. */
  readonly capabilities?: readonly CapabilityName[];
  /** Delivery modes. They can only restrict those of the capability. */
  readonly delivery?: {
    /** Whether the model serves whole responses. */
    readonly synchronous?: boolean;
    /** Whether the model serves streamed responses. */
    readonly streaming?: boolean;
    /** Whether the model serves batches. */
    readonly batch?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Features. A model with `false` is skipped for requests that need the feature. */
  readonly features?: {
    /** Whether the model supports tool calling. */
    readonly tool_calling?: boolean;
    /** Whether the model supports output that conforms to a JSON Schema. */
    readonly structured_output?: boolean;
    /** Whether the model supports JSON mode, without a schema. */
    readonly json_mode?: boolean;
    /** Whether the model accepts a system prompt. */
    readonly system_prompt?: boolean;
    /** Whether the model grounds its answers in sources. */
    readonly grounding?: boolean;
    /** Whether the model returns log probabilities. */
    readonly logprobs?: boolean;
    /** Whether the model can be fine-tuned. */
    readonly fine_tunable?: boolean;
    /** Whether the model accepts images. */
    readonly vision?: boolean;
    /** Whether the model accepts audio. */
    readonly audio_input?: boolean;
    /** Whether the model is a reasoning model. */
    readonly reasoning?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Size limits. */
  readonly constraints?: {
    /** Context window in tokens: input and output together. */
    readonly context_window?: number;
    /** Maximum number of output tokens per request. */
    readonly max_output_tokens?: number;
    /** Maximum number of images per request. */
    readonly max_images?: number;
    /** Maximum size of an input file. */
    readonly max_file_size?: string;
    /** Supported languages, as ISO language codes. */
    readonly supported_languages?: readonly string[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Prices. They override the built-in catalogue key by key. */
  readonly pricing?: {
    /** USD per million input tokens. */
    readonly input?: number;
    /** USD per million output tokens. */
    readonly output?: number;
    /** USD per million input tokens read from the vendor's prompt cache. */
    readonly cached_input?: number;
    /** USD per million input tokens written to the vendor's prompt cache. */
    readonly cache_write?: number;
    /** USD per million audio input tokens. */
    readonly audio_input?: number;
    /** USD per million audio output tokens. */
    readonly audio_output?: number;
    /** USD per request. */
    readonly per_request?: number;
    /** USD per image. */
    readonly per_image?: number;
    /** USD per search. */
    readonly per_search?: number;
    /** USD per minute of audio. */
    readonly per_minute?: number;
    /** USD per million characters of text. */
    readonly per_million_characters?: number;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** The vendor's rate limits. Limits reported in response headers take precedence. */
  readonly limits?: {
    /** Requests per minute. */
    readonly rpm?: number;
    /** Tokens per minute. */
    readonly tpm?: number;
    /** Requests per day. */
    readonly rpd?: number;
    /** Concurrent requests. */
    readonly concurrent?: number;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Weight of the model under `round-robin` and `load-balanced`. */
  readonly weight?: number;
  /** How request parameters are adapted to the model. */
  readonly parameters?: {
    /** Request members to rename, such as `max_tokens: max_completion_tokens`. */
    readonly rename?: Readonly<Record<string, string>>;
    /** Sampling parameters that the model rejects. They are removed and listed in `x-mesh-dropped-params`. */
    readonly drop?: readonly string[];
    /** Parameters that the model rejects and that must not be dropped. The model is skipped for requests that contain one. */
    readonly refuse?: readonly string[];
    /** Members that are added when the request does not contain them. */
    readonly fill?: Readonly<Record<string, unknown>>;
    /** Members that are added to requests with tools, when the request does not contain them. */
    readonly fill_with_tools?: Readonly<Record<string, unknown>>;
    /** Members that replace `reasoning_effort`, by its value, such as `none: {thinking: {type: disabled}}`. */
    readonly efforts?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    /** How the reasoning of earlier answers is sent back: as `reasoning`, or not at all (`none`). By default unchanged. */
    readonly thoughts?: "reasoning" | "none";
    /** Whether `cache_control` in messages and tools is forwarded. The connector decides by default. */
    readonly cache_control?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Settings for batches. */
  readonly batch?: {
    /** Maximum number of requests per batch. A larger batch is split, and its results are merged. */
    readonly max_items?: number;
    /** Maximum file size of a batch. A larger batch is split, and its results are merged. */
    readonly max_payload?: string;
    /** Completion window of a batch that does not set one, and the minimum that a batch may request. */
    readonly completion_window?: string;
    /** Price relative to single requests: 0.5 is half price. Defaults to the vendor's known discount. */
    readonly cost_discount?: number;
    /** Whether a `batch` event is emitted when a batch ends. Webhooks deliver it. */
    readonly callback?: boolean;
    /** Whether open batches are polled once a minute, so that their end is detected without a client. Defaults to the value of `callback`. */
    readonly polling?: boolean;
    /** Whether the results of a split batch are available while some of its parts are still running. */
    readonly partial_results?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Embedding space. Embedding requests fail over only among models of the same space. */
  readonly embedding_space?: string;
  /** The vendor's voice for each requested voice. `default` applies to all others. */
  readonly voices?: Readonly<Record<string, string>>;
  /** Supported formats of transcriptions or of synthesized speech. All by default. */
  readonly response_formats?: readonly string[];
  /** A key in one with what it is in, such as `"retry.max_attempts"`. */
  readonly [dotted: `${string}.${string}`]: unknown;
}

/** An entry of `pools`. */
export interface PoolDocument {
  /** Node of the capability tree that the pool serves. Defaults to the pool's name unless `models` is set. */
  readonly capability?: CapabilityName;
  /** Models that belong to the pool regardless of their capabilities, by name. */
  readonly models?: readonly string[];
  /** Only models of these providers belong to the pool. */
  readonly providers?: readonly string[];
  /** Models of these providers do not belong to the pool. */
  readonly excluded_providers?: readonly string[];
  /** Models in order of preference. */
  readonly model_priority?: readonly string[];
  /** Providers in order of preference. */
  readonly provider_priority?: readonly string[];
  /** Selection strategy: a connector id, its short name, or an object with methods. */
  readonly strategy?: StrategyName | SelectionStrategy;
  /** Strategy used when no model of `model_priority` or `provider_priority` is available, or when the strategy selects none. */
  readonly fallback_strategy?: StrategyName;
  /** For `load-balanced`: equal shares (`absolute`), or shares in proportion to each model's limits (`relative`). */
  readonly balance_mode?: "absolute" | "relative";
  /** Retries. */
  readonly retry?: {
    /** Number of retries on the same model before the request goes to the next one. */
    readonly max_attempts?: number;
    /** How the delay before a retry is computed. */
    readonly backoff?: "fixed" | "exponential_jitter" | "retry_after";
    /** Delay before the first retry. */
    readonly initial_delay?: string;
    /** Maximum delay between retries. */
    readonly max_delay?: string;
    /** HTTP statuses that are retried on the same model. */
    readonly retryable_codes?: readonly number[];
    /** HTTP statuses that are not retried: the request goes to the next model immediately. */
    readonly non_retryable_codes?: readonly number[];
    /** Which models a request may go to after a failure. */
    readonly scope?: "same_model" | "same_provider" | "any";
    /** Whether to wait as long as the provider's `Retry-After` requests. */
    readonly honor_retry_after?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Conditions that put a model into standby. */
  readonly deactivation?: {
    /** Number of consecutive failed requests after which a model goes into standby. */
    readonly retry_limit?: number;
    /** HTTP statuses that count as failures although the request caused them. */
    readonly error_codes?: readonly number[];
    /** Error rate, from 0 to 1, at which a model goes into standby. */
    readonly error_rate_threshold?: number;
    /** Time window over which the error rate is measured. */
    readonly error_rate_window?: string;
    /** Minimum number of requests in the window before the error rate applies. */
    readonly error_rate_min_requests?: number;
    /** Number of requests after which a model goes into standby. */
    readonly request_limit?: number;
    /** Number of tokens after which a model goes into standby. */
    readonly token_limit?: number;
    /** Cost in USD after which a model goes into standby. */
    readonly budget_limit?: number;
    /** Window over which `request_limit`, `token_limit` and `budget_limit` are counted. */
    readonly quota_window?: "monthly" | "daily";
    /** Start of maintenance: a cron expression with five fields, in UTC. */
    readonly maintenance_window?: string;
    /** Duration of maintenance. */
    readonly maintenance_duration?: string;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Conditions that end a standby. */
  readonly recovery?: {
    /** Time that a model stays in standby before it is tried again. */
    readonly cooldown?: string;
    /** Whether models in standby are probed at startup. */
    readonly probe_on_start?: boolean;
    /** Interval at which models in standby are probed. */
    readonly probe_interval?: string;
    /** Whether models recover when their quota resets. */
    readonly on_quota_reset?: boolean;
    /** Schedule on which quotas reset. */
    readonly quota_reset_schedule?: "monthly" | "daily_utc";
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Thresholds for staying below the vendors' rate limits. */
  readonly rate_limit?: {
    /** Used share of a rate limit, from 0 to 1, at which the pool switches to another model. */
    readonly threshold?: number;
    /** Minimum interval between two requests to the same model. */
    readonly min_delta?: string;
    /** Requests per minute to one model, above which the pool switches to another model. */
    readonly max_rpm?: number;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Maximum amount that may be spent through this pool. */
  readonly budget?: {
    /** Maximum amount spent per UTC day, in USD. 0 allows nothing. */
    readonly daily_limit?: number;
    /** Maximum amount spent per UTC month, in USD. 0 allows nothing. */
    readonly monthly_limit?: number;
    /** Shares of a limit, from 0 to 1. A `budget` event is emitted when the amount spent reaches one, once per window. An empty list emits none. Processes that share a budget emit one event each. */
    readonly alert_at?: readonly number[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Failures that put a provider into standby in all pools. */
  readonly provider_deactivation?:
    | "on_auth_failure"
    | "on_api_outage"
    | readonly ("on_auth_failure" | "on_api_outage")[];
  /** How a provider in standby recovers. */
  readonly provider_recovery?: "on_probe_success" | "on_manual";
  /** A key in one with what it is in, such as `"retry.max_attempts"`. */
  readonly [dotted: `${string}.${string}`]: unknown;
}
