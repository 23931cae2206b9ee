/**
 * The section `providers`.
 * @module
 */
import type { Given } from "./field.ts";
import {
  defaultNonRetryableCodes,
  defaultRetryableCodes,
  defaultRetryBudget,
  defaultTimeouts,
} from "../settings/defaults.ts";
import { budget } from "./budget.ts";

/** HTTP statuses that are retried. */
export const retryableCodes = {
  type: "list",
  default: defaultRetryableCodes as typeof defaultRetryableCodes,
  item: { type: "integer", min: 100, max: 599 },
} as const;

/** HTTP statuses that are not retried. */
export const nonRetryableCodes = {
  type: "list",
  default: defaultNonRetryableCodes as typeof defaultNonRetryableCodes,
  item: { type: "integer", min: 100, max: 599 },
} as const;

/** An entry of `providers`. The id is the connector's id unless `connector` is set. */
export const provider = {
  type: "object",
  spellings: { provider: "" },
  foreign: {
    LiteLLM: { api_base: '"base_url"', litellm_params: '"api_key" and "base_url"' },
    Portkey: { custom_host: '"base_url"', virtual_key: '"api_key"' },
  },
  aliases: [
    ["base_url", "execution.base_url"],
    ["api_key", "auth.api_key"],
    ["discovery.enumerate_models", "catalogue.auto_discover"],
    ["batch.supported", "infrastructure.batch"],
    ["files.upload", "infrastructure.files"],
    ["fine_tuning.supported", "infrastructure.fine_tuning"],
  ],
  fields: {
    /** `false` disables the entry. */
    enabled: { type: "flag", default: true },
    /**
     * Connector: its id, or a short name such as `openai` that means a single connector. Defaults to the name of the
     * entry.
     */
    connector: { type: "text", isLiteral: true },
    /** Provider object instead of a connector, for configurations passed by a program. */
    instance: { type: "instance", instance: "provider" },
    /** API key or token. Use a secret reference. A list of keys is rotated. */
    api_key: {
      type: "list",
      isSingleAllowed: true,
      item: { type: "text", isSecret: true, format: "credential" },
      min: 1,
    },
    /**
     * Whose keys authorize requests: `configured`, those of this entry; `header`, those that callers send with each
     * request in `x-provider-key`. The calls are then the callers' own: they count against no budget, and a key that is
     * refused or limited affects no other request. A configured key only lists models.
     */
    credentials: { type: "choice", values: ["configured", "header"], default: "configured" },
    /** Base URL of the API, including the version prefix, for self-hosted servers and gateways. */
    base_url: { type: "text", format: "baseUrl" },
    /**
     * Headers that every call of the provider has in addition, by name, such as `OpenAI-Organization`. They replace those
     * of the connector. Values may be secrets, and are redacted. Headers that carry the API key, describe the body or
     * belong to the connection are rejected.
     */
    headers: { type: "record", item: { type: "text", isSecret: true, format: "header" } },
    /** Authentication of requests to the provider. */
    auth: {
      type: "object",
      fields: {
        /**
         * Authentication method: API keys, tokens fetched by `oauth` or `service_account`, or the identity of the machine
         * in its cloud (`ambient`), which is used without this setting if there is no key and the environment announces it.
         */
        method: { type: "choice", values: ["api_key", "oauth", "service_account", "ambient"], default: "api_key" },
        /** Alias of `api_key`. */
        api_key: {
          type: "list",
          isSingleAllowed: true,
          item: { type: "text", isSecret: true, format: "credential" },
          min: 1,
        },
        /** Whether requests rotate over several keys. A list of keys implies it. */
        key_rotation: { type: "flag" },
        /** Token endpoint (`oauth`; for `service_account` it overrides the address in the JSON key). */
        token_url: { type: "text", format: "baseUrl" },
        /** Client id (`oauth`). */
        client_id: { type: "text" },
        /** Client secret (`oauth`). */
        client_secret: { type: "text", isSecret: true },
        /** Refresh token (`oauth`). */
        refresh_token: { type: "text", isSecret: true },
        /** Requested scopes, separated by spaces (`oauth`, `service_account`, `ambient`). */
        scope: { type: "text" },
        /** JSON key of the service account (`service_account`). Use a secret reference. */
        credentials: {
          type: "either",
          options: [{ type: "text", isSecret: true, isMultiline: true }, { type: "any" }],
        },
      },
    },
    /** Use of the vendor's prompt cache. */
    prompt_cache: {
      type: "object",
      isOptional: true,
      fields: {
        /**
         * Whether requests get what the vendor needs to cache their prompts, where the client has set nothing: marks at
         * the end of tools, instructions and messages, or a `prompt_cache_key` for each session or conversation.
         */
        auto: { type: "flag", default: false },
        /** How long marked prompts are cached. The vendor charges more for writes that last an hour. */
        ttl: { type: "choice", values: ["5m", "1h"], default: "5m" },
      },
    },
    /** Execution of requests to the provider. */
    execution: {
      type: "object",
      fields: {
        /** Alias of `base_url`. */
        base_url: { type: "text", format: "baseUrl" },
        /**
         * Time limit for a non-streaming response, and for silence in a stream. By default, a stream may be silent for 60s
         * between two events; before its first content `first_token_timeout` applies alone.
         */
        timeout: { type: "duration", default: defaultTimeouts.response as number },
        /**
         * Time limit for the first content of a stream. Comments, pings and a head are not content. Then the request goes to
         * the next model. It does not apply to non-streaming responses, except to speech if it is set. The default is 60s,
         * and 300s for local servers.
         */
        first_token_timeout: { type: "duration" },
        /**
         * Minimum rate of a stream from its first content on, tokens per second, measured over 10 seconds in which its
         * reader waits. One that is slower goes to the next model if nothing has been sent to the client yet (`commit:
         * complete`); otherwise it only counts as a failure of its model. By default, there is no minimum.
         */
        min_rate: { type: "number", above: 0 },
        /** Time limit for establishing a connection. */
        connect_timeout: { type: "duration", default: defaultTimeouts.connect as number },
        /** Retries within one attempt, in addition to the pool's retries. */
        max_retries: { type: "integer", min: 0, max: 10, default: 0 },
        /**
         * PEM file with certificate authorities to trust in addition to the runtime's, for this provider and its token
         * endpoint. It is read at startup and at every reload. Not available in browsers or with a custom `fetch`.
         */
        ca: { type: "text" },
        /**
         * Value of `User-Agent` in requests to the provider: `modelmesh/<version>`, or, with `client`, that of the
         * request that is served, if it has one. Web pages cannot set it.
         */
        user_agent: { type: "choice", values: ["modelmesh", "client"], default: "modelmesh" },
      },
    },
    /** Which responses are retried. */
    error: {
      type: "object",
      fields: {
        /** HTTP statuses that are retried on the same model. */
        retryable_codes: retryableCodes as typeof retryableCodes,
        /** HTTP statuses that are not retried: the request goes to the next model immediately. */
        non_retryable_codes: nonRetryableCodes as typeof nonRetryableCodes,
      },
    },
    /** Retries across all traffic of the provider. */
    retry: {
      type: "object",
      fields: {
        /** Limit on the share of retries in the provider's traffic. */
        budget: {
          type: "object",
          fields: {
            /** Maximum ratio of retries to requests. */
            ratio: { type: "number", min: 0, max: 10, default: defaultRetryBudget.ratio as number },
            /** Number of retries per window that are always allowed. */
            min: { type: "integer", min: 0, default: defaultRetryBudget.min as number },
            /** Time window over which the ratio is measured. */
            window: { type: "duration", default: defaultRetryBudget.windowMs as number },
          },
        },
      },
    },
    /** Quota of the account. */
    quota: {
      type: "object",
      fields: {
        /** Schedule on which the quota resets. */
        reset_schedule: { type: "choice", values: ["monthly", "daily", "rolling"] },
        /**
         * Whether the vendor is asked at startup how much of the quota is used, if it reports that. An exhausted
         * account starts in standby.
         */
        query_current: { type: "flag", default: false },
        /** Alias of `query_current`: vendors report the used and the remaining quota together. */
        query_remaining: { type: "flag", default: false },
      },
    },
    /** Maximum amount that may be spent with this provider. */
    budget: budget as typeof budget,
    /** Information requested from the vendor at startup. */
    discovery: {
      type: "object",
      fields: {
        /**
         * Which models the provider offers in addition to those under `models`: those that it lists at startup
         * (`true`), or none (`false`). By default those of the built-in catalogue. A provider without a catalogue, such
         * as a self-hosted server, offers those that it lists, unless models are configured for it; an instance always
         * does. Pools include the defaults of a catalogue, and every model of a list whose capabilities are known.
         */
        enumerate_models: { type: "flag" },
        /**
         * Whether the vendor is asked for the context windows, output limits, features and prices of its models. They
         * override the catalogue.
         */
        model_details: { type: "flag", default: false },
        /** Whether the vendor is asked for the capabilities of its models. They override the catalogue. */
        capability_query: { type: "flag", default: false },
      },
    },
    /** The vendor's model list. */
    catalogue: {
      type: "object",
      fields: {
        /** Alias of `discovery.enumerate_models`. */
        auto_discover: { type: "flag" },
        /** Interval at which the list is refreshed. Overrides `discovery.sync.interval`. */
        refresh_interval: { type: "duration" },
      },
    },
    /** Prices of the provider's models. */
    pricing: {
      type: "object",
      fields: {
        /** Whether the vendor is asked for the prices of its models. They override the catalogue. */
        query: { type: "flag", default: false },
      },
    },
    /** Batches: many requests in one file, completed within hours. */
    batch: {
      type: "object",
      fields: {
        /** Whether the provider supports batches. Defaults to what is known about the vendor. */
        supported: { type: "flag" },
        /**
         * Maximum number of requests per batch. A larger batch is split, and its results are merged. Defaults to the
         * vendor's limit.
         */
        max_items: { type: "integer", min: 1 },
      },
    },
    /** File storage at the provider. */
    files: {
      type: "object",
      fields: {
        /** Whether the provider supports file uploads. Defaults to what is known about the vendor. */
        upload: { type: "flag" },
        /** Maximum file size. Defaults to the vendor's limit. */
        max_size: { type: "size" },
      },
    },
    /** Fine-tuning. */
    fine_tuning: {
      type: "object",
      fields: {
        /** Whether the provider supports fine-tuning. Defaults to what is known about the vendor. */
        supported: { type: "flag" },
      },
    },
    /** Aliases of `batch.supported`, `files.upload` and `fine_tuning.supported`. */
    infrastructure: {
      type: "object",
      fields: {
        /** Alias of `batch.supported`. */
        batch: { type: "flag" },
        /** Alias of `files.upload`. */
        files: { type: "flag" },
        /** Alias of `fine_tuning.supported`. */
        fine_tuning: { type: "flag" },
      },
    },
    /** Settings of the connector itself. */
    config: { type: "any" },
  },
} as const;

/** An entry of `providers` as given. */
export type ProviderValues = Given<typeof provider>;

/** Lists of HTTP statuses as given. */
export type CodeValues = Given<typeof provider.fields.error>;

/** Authentication settings as given. */
export type AuthValues = Given<typeof provider.fields.auth>;
