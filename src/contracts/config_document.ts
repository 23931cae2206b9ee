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
  /** Where secrets come from. */
  readonly secrets?: {
    /** The secret store that references are looked up in. */
    readonly store?: ConnectorName;
    /** The file of a store that is one. */
    readonly path?: string;
    /** The region of a store in a cloud. */
    readonly region?: string;
    /** How references are resolved. */
    readonly resolution?: {
      /** Refuse to start when a referenced secret is missing. */
      readonly fail_on_missing?: boolean;
      /** Keep resolved secrets in memory. */
      readonly cache_enabled?: boolean;
      /** How long they are kept. */
      readonly cache_ttl?: string;
      /** Look secrets up again when another provider takes over. */
      readonly reload_on_rotation?: boolean;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Attributes of the connector. */
    readonly [attribute: string]: unknown;
  };
  /** Vendors and servers that models are asked at. */
  readonly providers?: Readonly<Record<string, ProviderDocument>>;
  /** Models beside those of the built-in catalogue, or facts about them. */
  readonly models?: Readonly<Record<string, ModelDocument>>;
  /** Groups of models that requests are routed over. */
  readonly pools?: Readonly<Record<string, PoolDocument>>;
  /** Other names for pools and models. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Leaves added to the capability tree, by full path. */
  readonly capabilities?: readonly string[];
  /** The most that may be spent in all. */
  readonly budget?: {
    /** The most that is spent in a UTC day, in USD; 0 allows nothing. */
    readonly daily_limit?: number;
    /** The most that is spent in a UTC month, in USD; 0 allows nothing. */
    readonly monthly_limit?: number;
    /** Shares of a limit: a `budget` event is emitted when what is spent reaches one, once in each window. An empty list emits none. Of several processes on one budget each emits its own. */
    readonly alert_at?: readonly number[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Where state is kept between starts. */
  readonly storage?: {
    /** The connector that keeps it. */
    readonly connector?: ConnectorName;
    /** When it is written. */
    readonly sync_policy?: "in-memory" | "sync-on-boundary" | "periodic" | "immediate";
    /** How often, when it is written periodically. */
    readonly sync_interval?: string;
    /** What happens while the storage is away: go on with what this process knows, or refuse. */
    readonly on_unavailable?: "open" | "closed";
    /** How it is written. */
    readonly persistence?: {
      /** The same as `sync_policy`. */
      readonly sync_policy?: "in-memory" | "sync-on-boundary" | "periodic" | "immediate";
      /** The same as `sync_interval`. */
      readonly sync_interval?: string;
      /** The encoding. */
      readonly format?: "json" | "yaml" | "msgpack";
      /** Compress it. */
      readonly compression?: boolean;
      /** Encrypt it with the secret `MESH_STORAGE_KEY`. */
      readonly encryption?: boolean;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Keeping several instances apart. */
    readonly locking?: {
      /** On for the policies of several instances unless given. */
      readonly enabled?: boolean;
      /** Longest wait for the lock. */
      readonly timeout?: string;
      /** How often it is tried. */
      readonly retry_interval?: string;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Attributes of the connector. */
    readonly [attribute: string]: unknown;
  };
  /** Where records go; nowhere unless given. */
  readonly observability?: {
    /** Events and routing decisions: one connector, or several. */
    readonly routing?:
      | {
        /** The connector that takes the records. */
        readonly connector?: ConnectorName;
        /** Where a connector delivers to. */
        readonly url?: string;
        /** The file a connector writes. */
        readonly path?: string;
        /** What webhook deliveries are signed with. */
        readonly secret?: string;
        /** Further attributes of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }
      | readonly {
        /** The connector that takes the records. */
        readonly connector?: ConnectorName;
        /** Where a connector delivers to. */
        readonly url?: string;
        /** The file a connector writes. */
        readonly path?: string;
        /** What webhook deliveries are signed with. */
        readonly secret?: string;
        /** Further attributes of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }[];
    /** Requests: one connector, or several. */
    readonly logging?:
      | {
        /** The connector that takes the records. */
        readonly connector?: ConnectorName;
        /** Where a connector delivers to. */
        readonly url?: string;
        /** The file a connector writes. */
        readonly path?: string;
        /** How much of a request is kept: its facts, 200 characters of its payloads, or all of them. */
        readonly level?: "metadata" | "summary" | "full";
        /** Replace keys and tokens in payloads. */
        readonly redact_secrets?: boolean;
        /** Bytes of a payload that are kept. */
        readonly max_payload_size?: number;
        /** Further attributes of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }
      | readonly {
        /** The connector that takes the records. */
        readonly connector?: ConnectorName;
        /** Where a connector delivers to. */
        readonly url?: string;
        /** The file a connector writes. */
        readonly path?: string;
        /** How much of a request is kept: its facts, 200 characters of its payloads, or all of them. */
        readonly level?: "metadata" | "summary" | "full";
        /** Replace keys and tokens in payloads. */
        readonly redact_secrets?: boolean;
        /** Bytes of a payload that are kept. */
        readonly max_payload_size?: number;
        /** Further attributes of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }[];
    /** Numbers: one connector, or several. */
    readonly statistics?:
      | {
        /** The connector that takes the records. */
        readonly connector?: ConnectorName;
        /** Where a connector delivers to. */
        readonly url?: string;
        /** The file a connector writes. */
        readonly path?: string;
        /** How often numbers are written. */
        readonly flush_interval?: string;
        /** How long numbers are kept, by connectors that keep them. */
        readonly retention?: string;
        /** What numbers are kept for. */
        readonly scopes?: readonly ("model" | "provider" | "pool")[];
        /** Further attributes of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }
      | readonly {
        /** The connector that takes the records. */
        readonly connector?: ConnectorName;
        /** Where a connector delivers to. */
        readonly url?: string;
        /** The file a connector writes. */
        readonly path?: string;
        /** How often numbers are written. */
        readonly flush_interval?: string;
        /** How long numbers are kept, by connectors that keep them. */
        readonly retention?: string;
        /** What numbers are kept for. */
        readonly scopes?: readonly ("model" | "provider" | "pool")[];
        /** Further attributes of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }[];
    /** What happens inside: one connector, or several. */
    readonly tracing?:
      | {
        /** The connector that takes the records. */
        readonly connector?: ConnectorName;
        /** Where a connector delivers to. */
        readonly url?: string;
        /** The file a connector writes. */
        readonly path?: string;
        /** The least severe entries that are kept. */
        readonly min_severity?: "debug" | "info" | "warning" | "error" | "critical";
        /** Further attributes of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }
      | readonly {
        /** The connector that takes the records. */
        readonly connector?: ConnectorName;
        /** Where a connector delivers to. */
        readonly url?: string;
        /** The file a connector writes. */
        readonly path?: string;
        /** The least severe entries that are kept. */
        readonly min_severity?: "debug" | "info" | "warning" | "error" | "critical";
        /** Further attributes of the connector. */
        readonly config?: Readonly<Record<string, unknown>>;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      }[];
    /** Which events are emitted. */
    readonly events?: {
      /** Kinds of events; all unless given. */
      readonly filter?:
        readonly ("rotation" | "deactivation" | "recovery" | "health" | "budget" | "outage" | "batch")[];
      /** Whether events carry details. */
      readonly include_metadata?: boolean;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** What is looked up in the background. */
  readonly discovery?: {
    /** Keeping the list of models up to date; runs once an interval is given. */
    readonly sync?: {
      /** What keeps it. */
      readonly connector?: ConnectorName;
      /** False switches it off. */
      readonly enabled?: boolean;
      /** How often providers are asked. */
      readonly interval?: string;
      /** False: new models are only noticed, never added. */
      readonly auto_register?: boolean;
      /** Providers that are asked; all unless given. */
      readonly providers?: readonly string[];
      /** What happens with a model that a list has for the first time: it is added, or a line of the log says so. */
      readonly on_new_model?: "register" | "notify" | "ignore";
      /** What happens with a model that is missing from a list that had it: it is in standby until it is back, or a line of the log says so. */
      readonly on_deprecated_model?: "deactivate" | "notify" | "ignore";
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Probing providers; runs once an interval is given. */
    readonly health?: {
      /** What watches over them. */
      readonly connector?: ConnectorName;
      /** False switches it off. */
      readonly enabled?: boolean;
      /** How often providers are probed. */
      readonly interval?: string;
      /** Limit of a probe. */
      readonly timeout?: string;
      /** Failed probes in a row that deactivate a provider's models. */
      readonly failure_threshold?: number;
      /** Providers that are probed; all unless given. */
      readonly providers?: readonly string[];
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Connectors from elsewhere. */
  readonly connectors?: {
    /** Archives of connectors: paths, https addresses, or either with a hash. */
    readonly packages?: readonly (string | {
      /** The archive's file. */
      readonly path?: string;
      /** The archive's https address. */
      readonly url?: string;
      /** What the archive has to hash to. */
      readonly sha256?: string;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    })[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** The HTTP proxy. */
  readonly proxy?: {
    /** Address it listens on. */
    readonly host?: string;
    /** Port it listens on; 0 takes a free one. */
    readonly port?: number;
    /** Paths it serves, without `/v1`; all unless given. */
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
    /** Who may use it. */
    readonly auth?: {
      /** How clients authenticate. */
      readonly method?: "bearer";
      /** Tokens that are accepted. */
      readonly tokens?: readonly (string | {
        /** What the client sends. */
        readonly token: string;
        /** The client's name in records and metrics. */
        readonly name: string;
        /** The only pools it may use; all, and models by name, unless given. */
        readonly pools?: readonly string[];
        /** The most that it may spend. */
        readonly budget?: {
          /** The most that is spent in a UTC day, in USD; 0 allows nothing. */
          readonly daily_limit?: number;
          /** The most that is spent in a UTC month, in USD; 0 allows nothing. */
          readonly monthly_limit?: number;
          /** Shares of a limit: a `budget` event is emitted when what is spent reaches one, once in each window. An empty list emits none. Of several processes on one budget each emits its own. */
          readonly alert_at?: readonly number[];
          /** A key in one with what it is in, such as `"retry.max_attempts"`. */
          readonly [dotted: `${string}.${string}`]: unknown;
        };
        /** Requests it may send a minute. */
        readonly rpm?: number;
        /** A key in one with what it is in, such as `"retry.max_attempts"`. */
        readonly [dotted: `${string}.${string}`]: unknown;
      })[];
      /** Tokens that administrate the proxy: they see everything, and activate and deactivate models. They need not be among `tokens`. Those without pools, budget and rpm unless given. */
      readonly admin_tokens?: readonly string[];
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Browser clients. */
    readonly cors?: {
      /** False switches CORS off. */
      readonly enabled?: boolean;
      /** Origins browsers may come from; any with a token, loopback ones without, unless given. */
      readonly origins?: readonly string[];
      /** Request headers that are allowed; those asked for unless given. */
      readonly headers?: readonly string[];
      /** Methods that are allowed; those of the path unless given. */
      readonly methods?: readonly ("GET" | "POST" | "DELETE" | "OPTIONS")[];
      /** How long browsers may keep the answer. */
      readonly max_age?: string;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** Host names served without a token, beside loopback ones. */
    readonly allowed_hosts?: readonly string[];
    /** Requests at once; more are answered 503. */
    readonly max_concurrent?: number;
    /** Largest JSON body. */
    readonly body_limit?: string;
    /** What the bodies of all requests may take together while they are being read; more are answered 503. One client (its token, else its address, unless that is the own machine's) gets a quarter. */
    readonly body_memory?: string;
    /** Largest upload of sound or files, and what all of them may take together while they are being read. */
    readonly upload_limit?: string;
    /** Deadline of a request. */
    readonly request_timeout?: string;
    /** Time between the signal to stop and refusing connections, in which only `/ready` says so. */
    readonly drain_delay?: string;
    /** `node:http`, or on Deno `Deno.serve`, which knows no limit for slow headers and may miss a client that leaves before its answer begins. */
    readonly listener?: "node" | "deno";
    /** Signs the ids of files, batches and fine-tuning jobs, best as a secret reference: the same on every proxy that serves them. The provider's API key does it unless given; then ids end with that key. */
    readonly id_secret?: string;
    /** Serves HTTPS, through Node's own server. The files are read again when they change. */
    readonly tls?: {
      /** File with the certificate and those between it and an authority, PEM. */
      readonly cert: string;
      /** File with its private key, PEM without a passphrase. */
      readonly key: string;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Where an editor finds the JSON Schema of this document (`schema.json` of the package); not looked at. */
  readonly "$schema"?: string;
  /** A key in one with what it is in, such as `"retry.max_attempts"`. */
  readonly [dotted: `${string}.${string}`]: unknown;
}

/** An entry of `providers`. */
export interface ProviderDocument {
  /** False keeps the entry in the file without using it. */
  readonly enabled?: boolean;
  /** The connector that makes it; the entry's own name unless given. */
  readonly connector?: ConnectorName;
  /** A ready-made provider in place of a connector, in configurations given by a program. */
  readonly instance?: Provider;
  /** Key or token, best as a secret reference; a list rotates over several. */
  readonly api_key?: string | readonly string[];
  /** Address of the API, with its version prefix, for servers of one's own and gateways. */
  readonly base_url?: string;
  /** How calls are authenticated. */
  readonly auth?: {
    /** The kind of credential: keys, or tokens that are fetched. */
    readonly method?: "api_key" | "oauth" | "service_account";
    /** The same as `api_key`. */
    readonly api_key?: string | readonly string[];
    /** Rotate over several keys, which a list of them implies. */
    readonly key_rotation?: boolean;
    /** Where tokens are fetched (`oauth`; `service_account`, in place of the address in its JSON key). */
    readonly token_url?: string;
    /** The client's id (`oauth`). */
    readonly client_id?: string;
    /** The client's secret (`oauth`). */
    readonly client_secret?: string;
    /** A refresh token (`oauth`). */
    readonly refresh_token?: string;
    /** Scopes that are asked for, separated by spaces (`oauth`, `service_account`). */
    readonly scope?: string;
    /** The account's JSON key (`service_account`), best as a secret reference. */
    readonly credentials?: string | Readonly<Record<string, unknown>>;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** How calls are made. */
  readonly execution?: {
    /** The same as `base_url`. */
    readonly base_url?: string;
    /** Limit of a whole answer, and of silence in a stream; 60s of silence unless given. */
    readonly timeout?: string;
    /** Limit of connecting. */
    readonly connect_timeout?: string;
    /** Tries within one attempt, on top of the pool's retries. */
    readonly max_retries?: number;
    /** A file in PEM with certificate authorities to trust beside the runtime's own, for this provider and where its tokens are fetched; read at the start and at every reload. Not in pages, nor with a `fetch` of the program's own. */
    readonly ca?: string;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Which answers are tried again. */
  readonly error?: {
    /** Statuses that are tried again on the same model. */
    readonly retryable_codes?: readonly number[];
    /** Statuses that are not, so that the next model is asked at once. */
    readonly non_retryable_codes?: readonly number[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Retrying over all of the provider's traffic. */
  readonly retry?: {
    /** How many calls may be same-model retries. */
    readonly budget?: {
      /** Retries per request. */
      readonly ratio?: number;
      /** Retries that are always allowed per window. */
      readonly min?: number;
      /** The window that is looked at. */
      readonly window?: string;
      /** A key in one with what it is in, such as `"retry.max_attempts"`. */
      readonly [dotted: `${string}.${string}`]: unknown;
    };
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** The account's allowance. */
  readonly quota?: {
    /** When the quota starts anew. */
    readonly reset_schedule?: "monthly" | "daily" | "rolling";
    /** Ask the vendor at the start how much was used, where it reports that; a spent account is in standby from the start. */
    readonly query_current?: boolean;
    /** The same as `query_current`, of what is left: vendors report both at once. */
    readonly query_remaining?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** The most that may be spent with this provider. */
  readonly budget?: {
    /** The most that is spent in a UTC day, in USD; 0 allows nothing. */
    readonly daily_limit?: number;
    /** The most that is spent in a UTC month, in USD; 0 allows nothing. */
    readonly monthly_limit?: number;
    /** Shares of a limit: a `budget` event is emitted when what is spent reaches one, once in each window. An empty list emits none. Of several processes on one budget each emits its own. */
    readonly alert_at?: readonly number[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** What is asked of the vendor at start. */
  readonly discovery?: {
    /** Which models it offers beside those under `models`: those that it lists when it is asked at the start (`true`), none (`false`); unless given those of the built-in catalogue, and where that has none, as for servers of one's own, those it lists, unless its models are configured. */
    readonly enumerate_models?: boolean;
    /** Ask the vendor for its models' context windows, largest outputs and features, which then win over the catalogue's. */
    readonly model_details?: boolean;
    /** Ask the vendor which capabilities its models have, which then win over the catalogue's. */
    readonly capability_query?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** The vendor's list of models. */
  readonly catalogue?: {
    /** The same as `discovery.enumerate_models`. */
    readonly auto_discover?: boolean;
    /** How often it is asked for again, in place of `discovery.sync.interval`. */
    readonly refresh_interval?: string;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** What calls cost. */
  readonly pricing?: {
    /** Ask the vendor for its models' prices, which then win over the catalogue's. */
    readonly query?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Batches: many requests in one file, whose responses come within hours. */
  readonly batch?: {
    /** Whether batches are taken; what is known of the vendor decides unless given. */
    readonly supported?: boolean;
    /** Most requests of one batch: a larger one is split, and joined again; the vendor's own limit unless given. */
    readonly max_items?: number;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Files at the vendor's. */
  readonly files?: {
    /** Whether uploads are taken; what is known of the vendor decides unless given. */
    readonly upload?: boolean;
    /** Largest file; the vendor's own limit unless given. */
    readonly max_size?: string;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Models of one's own making. */
  readonly fine_tuning?: {
    /** Whether models are tuned; what is known of the vendor decides unless given. */
    readonly supported?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Other names of `batch.supported`, `files.upload` and `fine_tuning.supported`. */
  readonly infrastructure?: {
    /** The same as `batch.supported`. */
    readonly batch?: boolean;
    /** The same as `files.upload`. */
    readonly files?: boolean;
    /** The same as `fine_tuning.supported`. */
    readonly fine_tuning?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Attributes of the connector itself. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A key in one with what it is in, such as `"retry.max_attempts"`. */
  readonly [dotted: `${string}.${string}`]: unknown;
}

/** An entry of `models`. */
export interface ModelDocument {
  /** The entry of `providers` that serves it. */
  readonly provider: string;
  /** The id sent upstream; the model's name, less the vendor's prefix, unless given. */
  readonly model?: string;
  /** Capability leaves, by full path or short name. */
  readonly capabilities?: readonly CapabilityName[];
  /** Delivery modes; they narrow what the capability has. */
  readonly delivery?: {
    /** Whole answers. */
    readonly synchronous?: boolean;
    /** Streamed answers. */
    readonly streaming?: boolean;
    /** Batches. */
    readonly batch?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** What it can do; false rules it out for requests that need it. */
  readonly features?: {
    /** Calls functions. */
    readonly tool_calling?: boolean;
    /** Answers by a JSON Schema. */
    readonly structured_output?: boolean;
    /** Answers in some JSON. */
    readonly json_mode?: boolean;
    /** Takes a system prompt. */
    readonly system_prompt?: boolean;
    /** Grounds its answers in sources. */
    readonly grounding?: boolean;
    /** Reports log probabilities. */
    readonly logprobs?: boolean;
    /** Can be fine-tuned. */
    readonly fine_tunable?: boolean;
    /** Reads images. */
    readonly vision?: boolean;
    /** Reads sound. */
    readonly audio_input?: boolean;
    /** Thinks before it answers. */
    readonly reasoning?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Sizes it works within. */
  readonly constraints?: {
    /** Tokens read and written together. */
    readonly context_window?: number;
    /** Tokens written per request. */
    readonly max_output_tokens?: number;
    /** Images per request. */
    readonly max_images?: number;
    /** Largest input file. */
    readonly max_file_size?: string;
    /** ISO language codes. */
    readonly supported_languages?: readonly string[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** What it costs; goes over the built-in catalogue field by field. */
  readonly pricing?: {
    /** USD per million tokens read. */
    readonly input?: number;
    /** USD per million tokens written. */
    readonly output?: number;
    /** USD per million tokens read from a cache. */
    readonly cached_input?: number;
    /** USD per million tokens written into a cache. */
    readonly cache_write?: number;
    /** USD per million tokens of sound read. */
    readonly audio_input?: number;
    /** USD per million tokens of sound written. */
    readonly audio_output?: number;
    /** USD per request. */
    readonly per_request?: number;
    /** USD per image. */
    readonly per_image?: number;
    /** USD per search. */
    readonly per_search?: number;
    /** USD per minute of sound. */
    readonly per_minute?: number;
    /** USD per million characters. */
    readonly per_million_characters?: number;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** What the vendor allows; its answers' headers override. */
  readonly limits?: {
    /** Requests a minute. */
    readonly rpm?: number;
    /** Tokens a minute. */
    readonly tpm?: number;
    /** Requests a day. */
    readonly rpd?: number;
    /** Requests at once. */
    readonly concurrent?: number;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Its share under round-robin and load-balanced. */
  readonly weight?: number;
  /** How requests are reworded for it. */
  readonly parameters?: {
    /** Other names for fields, such as `max_tokens: max_completion_tokens`. */
    readonly rename?: Readonly<Record<string, string>>;
    /** Sampling parameters the model refuses: left out and named in the answer. */
    readonly drop?: readonly string[];
    /** Parameters that matter and that the model refuses: it is skipped for a request that has one. */
    readonly refuse?: readonly string[];
    /** Filled in when the request has none. */
    readonly fill?: Readonly<Record<string, unknown>>;
    /** The same, for requests that carry tools. */
    readonly fill_with_tools?: Readonly<Record<string, unknown>>;
    /** What takes the place of a `reasoning_effort`, by that effort, such as `none: {thinking: {type: disabled}}`. */
    readonly efforts?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    /** How thoughts of earlier answers go back: as `reasoning`, or `none`; as they came unless given. */
    readonly thoughts?: "reasoning" | "none";
    /** Whether `cache_control` in messages and tools goes on; the connector knows unless given. */
    readonly cache_control?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Batches of this model. */
  readonly batch?: {
    /** Most requests of one batch: a larger one is split, and joined again. */
    readonly max_items?: number;
    /** Largest file of one batch: a larger one is split, and joined again. */
    readonly max_payload?: string;
    /** Expected turnaround: what a batch has that names none, and the least that one may ask for. */
    readonly completion_window?: string;
    /** Price relative to a single request; 0.5 is half of it. The vendor's, where that is known, unless given. */
    readonly cost_discount?: number;
    /** The end of a batch is an event `batch`, which webhooks deliver. */
    readonly callback?: boolean;
    /** Batches that are open are asked for once a minute, so that their end is noticed without a client; as `callback`, unless given. */
    readonly polling?: boolean;
    /** Responses of a batch that was split can be had while parts of it are under way. */
    readonly partial_results?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Embeddings rotate only among models of one space. */
  readonly embedding_space?: string;
  /** The vendor's voice for each voice asked for; `default` for any other. */
  readonly voices?: Readonly<Record<string, string>>;
  /** Formats of a transcription or of the sound of a speech that it has; all unless given. */
  readonly response_formats?: readonly string[];
  /** A key in one with what it is in, such as `"retry.max_attempts"`. */
  readonly [dotted: `${string}.${string}`]: unknown;
}

/** An entry of `pools`. */
export interface PoolDocument {
  /** The node of the capability tree it serves; its own name unless `models` is given. */
  readonly capability?: CapabilityName;
  /** Models that are in it in any case, by name. */
  readonly models?: readonly string[];
  /** Only these providers. */
  readonly providers?: readonly string[];
  /** Not these providers. */
  readonly excluded_providers?: readonly string[];
  /** Models in the order they are preferred. */
  readonly model_priority?: readonly string[];
  /** Providers in the order they are preferred. */
  readonly provider_priority?: readonly string[];
  /** How a model is chosen: an id, its short name, or an object with methods. */
  readonly strategy?: StrategyName | SelectionStrategy;
  /** Asked once no model of `model_priority` or `provider_priority` is left, or when the strategy chooses none. */
  readonly fallback_strategy?: StrategyName;
  /** For load-balanced: evenly, or in proportion to each model's limit. */
  readonly balance_mode?: "absolute" | "relative";
  /** Trying again. */
  readonly retry?: {
    /** Retries on the same model before the next one is asked. */
    readonly max_attempts?: number;
    /** How the wait before a retry is found. */
    readonly backoff?: "fixed" | "exponential_jitter" | "retry_after";
    /** First wait. */
    readonly initial_delay?: string;
    /** Longest wait. */
    readonly max_delay?: string;
    /** Statuses that are tried again on the same model. */
    readonly retryable_codes?: readonly number[];
    /** Statuses that are not, so that the next model is asked at once. */
    readonly non_retryable_codes?: readonly number[];
    /** Where a request may go after a failure. */
    readonly scope?: "same_model" | "same_provider" | "any";
    /** Follow a provider's hint how long to wait. */
    readonly honor_retry_after?: boolean;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** When a model is deactivated. */
  readonly deactivation?: {
    /** Failed requests in a row after which a model goes into standby. */
    readonly retry_limit?: number;
    /** Statuses that count toward the limit although they are the request's fault. */
    readonly error_codes?: readonly number[];
    /** Share of failures at which a model goes into standby. */
    readonly error_rate_threshold?: number;
    /** The window the share is taken over. */
    readonly error_rate_window?: string;
    /** Requests the window has to have. */
    readonly error_rate_min_requests?: number;
    /** Requests a model serves before it goes into standby. */
    readonly request_limit?: number;
    /** Tokens a model may use before it goes into standby. */
    readonly token_limit?: number;
    /** USD a model may cost before it goes into standby. */
    readonly budget_limit?: number;
    /** The window over which the three limits count. */
    readonly quota_window?: "monthly" | "daily";
    /** When maintenance starts: a cron expression of five fields, UTC. */
    readonly maintenance_window?: string;
    /** How long it takes. */
    readonly maintenance_duration?: string;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** When it recovers. */
  readonly recovery?: {
    /** Time in standby before a model is tried again. */
    readonly cooldown?: string;
    /** Probe models in standby at start. */
    readonly probe_on_start?: boolean;
    /** How often models in standby are probed. */
    readonly probe_interval?: string;
    /** Take models back when their quota starts anew. */
    readonly on_quota_reset?: boolean;
    /** When quotas start anew. */
    readonly quota_reset_schedule?: "monthly" | "daily_utc";
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** Keeping clear of the vendors' limits. */
  readonly rate_limit?: {
    /** Share of a limit at which another model is taken. */
    readonly threshold?: number;
    /** Least time between two requests to one model. */
    readonly min_delta?: string;
    /** Requests a minute before another model is taken. */
    readonly max_rpm?: number;
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** The most that may be spent through this pool. */
  readonly budget?: {
    /** The most that is spent in a UTC day, in USD; 0 allows nothing. */
    readonly daily_limit?: number;
    /** The most that is spent in a UTC month, in USD; 0 allows nothing. */
    readonly monthly_limit?: number;
    /** Shares of a limit: a `budget` event is emitted when what is spent reaches one, once in each window. An empty list emits none. Of several processes on one budget each emits its own. */
    readonly alert_at?: readonly number[];
    /** A key in one with what it is in, such as `"retry.max_attempts"`. */
    readonly [dotted: `${string}.${string}`]: unknown;
  };
  /** What deactivates a provider in all pools. */
  readonly provider_deactivation?:
    | "on_auth_failure"
    | "on_api_outage"
    | readonly ("on_auth_failure" | "on_api_outage")[];
  /** What takes it back. */
  readonly provider_recovery?: "on_probe_success" | "on_manual";
  /** A key in one with what it is in, such as `"retry.max_attempts"`. */
  readonly [dotted: `${string}.${string}`]: unknown;
}
