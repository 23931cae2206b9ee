/**
 * The section `providers`.
 * @module
 */
import type { Provider } from "../../contracts/provider.ts";
import { baseUrlProblem, credentialProblem } from "./formats.ts";
import { either, list, mapField, object, oneOrMany, passThrough } from "./_containers.ts";
import type { Field } from "./field.ts";
import { duration, flag, instance, integer, number, oneOf, size, text } from "./_fields.ts";
import {
  defaultAlertAt,
  defaultMaxRetries,
  defaultNonRetryableCodes,
  defaultRetryableCodes,
  defaultRetryBudget,
  defaultTimeouts,
} from "../settings/defaults.ts";
import type { ProviderEntry, TokenSettings } from "../settings/settings.ts";

/** Retryable and non-retryable HTTP statuses, as parsed. */
export interface CodeValues {
  readonly retryable_codes?: readonly number[];
  readonly non_retryable_codes?: readonly number[];
}

/** Authentication settings, as parsed. */
export interface AuthValues {
  readonly method?: "api_key" | TokenSettings["method"];
  readonly api_key?: readonly string[];
  readonly key_rotation?: boolean;
  readonly token_url?: string;
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly refresh_token?: string;
  readonly scope?: string;
  readonly credentials?: TokenSettings["credentials"];
}

export interface ProviderValues {
  readonly enabled?: boolean;
  readonly connector?: string;
  readonly instance?: Provider;
  readonly api_key?: readonly string[];
  readonly base_url?: string;
  readonly auth?: AuthValues;
  readonly execution?: {
    readonly base_url?: string;
    readonly timeout?: number;
    readonly connect_timeout?: number;
    readonly max_retries?: number;
    readonly ca?: string;
    readonly user_agent?: "modelmesh" | "client";
  };
  readonly error?: CodeValues;
  readonly retry?: { readonly budget?: { readonly ratio?: number; readonly min?: number; readonly window?: number } };
  readonly quota?: {
    readonly reset_schedule?: ProviderEntry["quotaReset"];
    readonly query_current?: boolean;
    readonly query_remaining?: boolean;
  };
  readonly budget?: BudgetValues;
  readonly discovery?: {
    readonly enumerate_models?: boolean;
    readonly model_details?: boolean;
    readonly capability_query?: boolean;
  };
  readonly pricing?: { readonly query?: boolean };
  readonly batch?: { readonly supported?: boolean; readonly max_items?: number };
  readonly files?: { readonly upload?: boolean; readonly max_size?: number };
  readonly fine_tuning?: { readonly supported?: boolean };
  readonly infrastructure?: { readonly batch?: boolean; readonly files?: boolean; readonly fine_tuning?: boolean };
  readonly catalogue?: { readonly auto_discover?: boolean; readonly refresh_interval?: number };
  readonly config?: Readonly<Record<string, unknown>>;
}

/** A list of HTTP statuses. */
export function codes(standard?: readonly number[]): Field<readonly number[]> {
  return list(integer({ min: 100, max: 599 }), { default: standard });
}

export interface BudgetValues {
  readonly daily_limit?: number;
  readonly monthly_limit?: number;
  readonly alert_at?: readonly number[];
}

export function budget(): Field<BudgetValues> {
  return object<BudgetValues>({
    /** Maximum amount spent per UTC day, in USD. 0 allows nothing. */
    daily_limit: number({ min: 0 }),
    /** Maximum amount spent per UTC month, in USD. 0 allows nothing. */
    monthly_limit: number({ min: 0 }),
    /**
     * Shares of a limit, from 0 to 1. A `budget` event is emitted when the amount spent reaches one, once per window. An
     * empty list emits none. Processes that share a budget emit one event each.
     */
    alert_at: list(number({ above: 0, max: 1 }), { default: defaultAlertAt }),
  });
}

const key = () => oneOrMany(text({ isSecret: true, check: credentialProblem }));
const address = () => text({ check: baseUrlProblem });
const secret = () => text({ isSecret: true });

const auth = () =>
  object<AuthValues>({
    /** Authentication method: API keys, or tokens fetched by `oauth` or `service_account`. */
    method: oneOf(["api_key", "oauth", "service_account"], "api_key"),
    /** Alias of `api_key`. */
    api_key: key(),
    /** Whether requests rotate over several keys. A list of keys implies it. */
    key_rotation: flag(),
    /** Token endpoint (`oauth`; for `service_account` it overrides the address in the JSON key). */
    token_url: address(),
    /** Client id (`oauth`). */
    client_id: text(),
    /** Client secret (`oauth`). */
    client_secret: secret(),
    /** Refresh token (`oauth`). */
    refresh_token: secret(),
    /** Requested scopes, separated by spaces (`oauth`, `service_account`). */
    scope: text(),
    /** JSON key of the service account (`service_account`). Use a secret reference. */
    credentials: either<string, Readonly<Record<string, unknown>>>(
      text({ isSecret: true, isMultiline: true }),
      passThrough(),
    ),
  });

const execution = () =>
  object<NonNullable<ProviderValues["execution"]>>({
    /** Alias of `base_url`. */
    base_url: address(),
    /** Time limit for a whole response, and for silence in a stream. The default for silence is 60s. */
    timeout: duration({ default: defaultTimeouts.answer }),
    /** Time limit for establishing a connection. */
    connect_timeout: duration({ default: defaultTimeouts.connect }),
    /** Retries within one attempt, in addition to the pool's retries. */
    max_retries: integer({ min: 0, max: 10, default: defaultMaxRetries }),
    /**
     * PEM file with certificate authorities to trust in addition to the runtime's, for this provider and its token
     * endpoint. It is read at startup and at every reload. Not available in browsers or with a custom `fetch`.
     */
    ca: text(),
    /**
     * Value of `User-Agent` in requests to the provider: `modelmesh/<version>`, or, with `client`, that of the request
     * that is served, if it has one. Web pages cannot set it.
     */
    user_agent: oneOf(["modelmesh", "client"], "modelmesh"),
  });

const retry = () =>
  object<NonNullable<ProviderValues["retry"]>>({
    /** Limit on the share of retries in the provider's traffic. */
    budget: object<NonNullable<NonNullable<ProviderValues["retry"]>["budget"]>>({
      /** Maximum ratio of retries to requests. */
      ratio: number({ min: 0, max: 10, default: defaultRetryBudget.ratio }),
      /** Number of retries per window that are always allowed. */
      min: integer({ min: 0, default: defaultRetryBudget.min }),
      /** Time window over which the ratio is measured. */
      window: duration({ default: defaultRetryBudget.windowMs }),
    }),
  });

const quota = () =>
  object<NonNullable<ProviderValues["quota"]>>({
    /** Schedule on which the quota resets. */
    reset_schedule: oneOf(["monthly", "daily", "rolling"]),
    /**
     * Whether the vendor is asked at startup how much of the quota is used, if it reports that. An exhausted account
     * starts in standby.
     */
    query_current: flag({ default: false }),
    /** Alias of `query_current`: vendors report the used and the remaining quota together. */
    query_remaining: flag({ default: false }),
  });

const discovery = () =>
  object<NonNullable<ProviderValues["discovery"]>>({
    /**
     * Which models the provider offers in addition to those under `models`: those that it lists at startup (`true`), or
     * none (`false`). By default those of the built-in catalogue. A provider without a catalogue, such as a self-hosted
     * server, offers those that it lists, unless models are configured for it; an instance always does. Pools include
     * the defaults of a catalogue, and every model of a list whose capabilities are known.
     */
    enumerate_models: flag(),
    /**
     * Whether the vendor is asked for the context windows, output limits, features and prices of its models. They
     * override the catalogue.
     */
    model_details: flag({ default: false }),
    /** Whether the vendor is asked for the capabilities of its models. They override the catalogue. */
    capability_query: flag({ default: false }),
  });

const infrastructure = () =>
  object<NonNullable<ProviderValues["infrastructure"]>>({
    /** Alias of `batch.supported`. */
    batch: flag(),
    /** Alias of `files.upload`. */
    files: flag(),
    /** Alias of `fine_tuning.supported`. */
    fine_tuning: flag(),
  });

const provider = () =>
  object<ProviderValues>({
    /** `false` disables the entry. */
    enabled: flag({ default: true }),
    /** Connector id. Defaults to the name of the entry. */
    connector: text({ isLiteral: true }),
    /** Provider object instead of a connector, for configurations passed by a program. */
    instance: instance<Provider>("a provider", ["complete", "stream"]),
    /** API key or token. Use a secret reference. A list of keys is rotated. */
    api_key: key(),
    /** Base URL of the API, including the version prefix, for self-hosted servers and gateways. */
    base_url: address(),
    /** Authentication of requests to the provider. */
    auth: auth(),
    /** Execution of requests to the provider. */
    execution: execution(),
    /** Which responses are retried. */
    error: object<CodeValues>({
      /** HTTP statuses that are retried on the same model. */
      retryable_codes: codes(defaultRetryableCodes),
      /** HTTP statuses that are not retried: the request goes to the next model immediately. */
      non_retryable_codes: codes(defaultNonRetryableCodes),
    }),
    /** Retries across all traffic of the provider. */
    retry: retry(),
    /** Quota of the account. */
    quota: quota(),
    /** Maximum amount that may be spent with this provider. */
    budget: budget(),
    /** Information requested from the vendor at startup. */
    discovery: discovery(),
    /** The vendor's model list. */
    catalogue: object<NonNullable<ProviderValues["catalogue"]>>({
      /** Alias of `discovery.enumerate_models`. */
      auto_discover: flag(),
      /** Interval at which the list is refreshed. Overrides `discovery.sync.interval`. */
      refresh_interval: duration(),
    }),
    /** Prices of the provider's models. */
    pricing: object<NonNullable<ProviderValues["pricing"]>>({
      /** Whether the vendor is asked for the prices of its models. They override the catalogue. */
      query: flag({ default: false }),
    }),
    /** Batches: many requests in one file, answered within hours. */
    batch: object<NonNullable<ProviderValues["batch"]>>({
      /** Whether the provider supports batches. Defaults to what is known about the vendor. */
      supported: flag(),
      /**
       * Maximum number of requests per batch. A larger batch is split, and its results are merged. Defaults to the
       * vendor's limit.
       */
      max_items: integer({ min: 1 }),
    }),
    /** File storage at the provider. */
    files: object<NonNullable<ProviderValues["files"]>>({
      /** Whether the provider supports file uploads. Defaults to what is known about the vendor. */
      upload: flag(),
      /** Maximum file size. Defaults to the vendor's limit. */
      max_size: size(),
    }),
    /** Fine-tuning. */
    fine_tuning: object<NonNullable<ProviderValues["fine_tuning"]>>({
      /** Whether the provider supports fine-tuning. Defaults to what is known about the vendor. */
      supported: flag(),
    }),
    /** Aliases of `batch.supported`, `files.upload` and `fine_tuning.supported`. */
    infrastructure: infrastructure(),
    /** Settings of the connector itself. */
    config: passThrough(),
  }, {
    spellings: { provider: "" },
    aliases: [
      ["base_url", "execution.base_url"],
      ["api_key", "auth.api_key"],
      ["discovery.enumerate_models", "catalogue.auto_discover"],
      ["batch.supported", "infrastructure.batch"],
      ["files.upload", "infrastructure.files"],
      ["fine_tuning.supported", "infrastructure.fine_tuning"],
    ],
  });

/** Providers by entry id. The id is the connector's id unless `connector` is set. */
export const providers = (): Field<ReadonlyMap<string, ProviderValues>> => mapField(provider());
