/**
 * The section `providers`.
 * @module
 */
import type { Provider } from "../../contracts/provider.ts";
import { baseUrlProblem, credentialProblem } from "./formats.ts";
import { either, list, mapOf, object, oneOrMany, passThrough } from "./_containers.ts";
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

/** Statuses by whether they are retried, as read. */
export interface CodeValues {
  readonly retryable_codes?: readonly number[];
  readonly non_retryable_codes?: readonly number[];
}

/** How calls are authenticated, as read. */
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
    /** The most that is spent in a UTC day, in USD; 0 allows nothing. */
    daily_limit: number({ min: 0 }),
    /** The most that is spent in a UTC month, in USD; 0 allows nothing. */
    monthly_limit: number({ min: 0 }),
    /**
     * Shares of a limit: a `budget` event is emitted when what is spent reaches one, once in each window. An empty list
     * emits none. Of several processes on one budget each emits its own.
     */
    alert_at: list(number({ above: 0, max: 1 }), { default: defaultAlertAt }),
  });
}

const key = () => oneOrMany(text({ isSecret: true, check: credentialProblem }));
const address = () => text({ check: baseUrlProblem });
const secret = () => text({ isSecret: true });

const auth = () =>
  object<AuthValues>({
    /** The kind of credential: keys, or tokens that are fetched. */
    method: oneOf(["api_key", "oauth", "service_account"], "api_key"),
    /** The same as `api_key`. */
    api_key: key(),
    /** Rotate over several keys, which a list of them implies. */
    key_rotation: flag(),
    /** Where tokens are fetched (`oauth`; `service_account`, in place of the address in its JSON key). */
    token_url: address(),
    /** The client's id (`oauth`). */
    client_id: text(),
    /** The client's secret (`oauth`). */
    client_secret: secret(),
    /** A refresh token (`oauth`). */
    refresh_token: secret(),
    /** Scopes that are asked for, separated by spaces (`oauth`, `service_account`). */
    scope: text(),
    /** The account's JSON key (`service_account`), best as a secret reference. */
    credentials: either<string, Readonly<Record<string, unknown>>>(
      text({ isSecret: true, isMultiline: true }),
      passThrough(),
    ),
  });

const execution = () =>
  object<NonNullable<ProviderValues["execution"]>>({
    /** The same as `base_url`. */
    base_url: address(),
    /** Limit of a whole answer, and of silence in a stream; 60s of silence unless given. */
    timeout: duration({ default: defaultTimeouts.answer }),
    /** Limit of connecting. */
    connect_timeout: duration({ default: defaultTimeouts.connect }),
    /** Tries within one attempt, on top of the pool's retries. */
    max_retries: integer({ min: 0, max: 10, default: defaultMaxRetries }),
    /**
     * A file in PEM with certificate authorities to trust beside the runtime's own, for this provider and where its tokens
     * are fetched; read at the start and at every reload. Not in pages, nor with a `fetch` of the program's own.
     */
    ca: text(),
  });

const retry = () =>
  object<NonNullable<ProviderValues["retry"]>>({
    /** How many calls may be same-model retries. */
    budget: object<NonNullable<NonNullable<ProviderValues["retry"]>["budget"]>>({
      /** Retries per request. */
      ratio: number({ min: 0, max: 10, default: defaultRetryBudget.ratio }),
      /** Retries that are always allowed per window. */
      min: integer({ min: 0, default: defaultRetryBudget.min }),
      /** The window that is looked at. */
      window: duration({ default: defaultRetryBudget.windowMs }),
    }),
  });

const quota = () =>
  object<NonNullable<ProviderValues["quota"]>>({
    /** When the quota starts anew. */
    reset_schedule: oneOf(["monthly", "daily", "rolling"]),
    /** Ask the vendor at the start how much was used, where it reports that; a spent account is in standby from the start. */
    query_current: flag({ default: false }),
    /** The same as `query_current`, of what is left: vendors report both at once. */
    query_remaining: flag({ default: false }),
  });

const discovery = () =>
  object<NonNullable<ProviderValues["discovery"]>>({
    /**
     * Which models it offers beside those under `models`: those that it lists when it is asked at the start (`true`),
     * none (`false`); unless given those of the built-in catalogue, and where that has none, as for servers of one's
     * own, those it lists, unless its models are configured.
     */
    enumerate_models: flag(),
    /** Ask the vendor for its models' context windows, largest outputs and features, which then win over the catalogue's. */
    model_details: flag({ default: false }),
    /** Ask the vendor which capabilities its models have, which then win over the catalogue's. */
    capability_query: flag({ default: false }),
  });

const infrastructure = () =>
  object<NonNullable<ProviderValues["infrastructure"]>>({
    /** The same as `batch.supported`. */
    batch: flag(),
    /** The same as `files.upload`. */
    files: flag(),
    /** The same as `fine_tuning.supported`. */
    fine_tuning: flag(),
  });

const provider = () =>
  object<ProviderValues>({
    /** False keeps the entry in the file without using it. */
    enabled: flag({ default: true }),
    /** The connector that makes it; the entry's own name unless given. */
    connector: text({ isLiteral: true }),
    /** A ready-made provider in place of a connector, in configurations given by a program. */
    instance: instance<Provider>("a provider", ["complete", "stream"]),
    /** Key or token, best as a secret reference; a list rotates over several. */
    api_key: key(),
    /** Address of the API, with its version prefix, for servers of one's own and gateways. */
    base_url: address(),
    /** How calls are authenticated. */
    auth: auth(),
    /** How calls are made. */
    execution: execution(),
    /** Which answers are tried again. */
    error: object<CodeValues>({
      /** Statuses that are tried again on the same model. */
      retryable_codes: codes(defaultRetryableCodes),
      /** Statuses that are not, so that the next model is asked at once. */
      non_retryable_codes: codes(defaultNonRetryableCodes),
    }),
    /** Retrying over all of the provider's traffic. */
    retry: retry(),
    /** The account's allowance. */
    quota: quota(),
    /** The most that may be spent with this provider. */
    budget: budget(),
    /** What is asked of the vendor at start. */
    discovery: discovery(),
    /** The vendor's list of models. */
    catalogue: object<NonNullable<ProviderValues["catalogue"]>>({
      /** The same as `discovery.enumerate_models`. */
      auto_discover: flag(),
      /** How often it is asked for again, in place of `discovery.sync.interval`. */
      refresh_interval: duration(),
    }),
    /** What calls cost. */
    pricing: object<NonNullable<ProviderValues["pricing"]>>({
      /** Ask the vendor for its models' prices, which then win over the catalogue's. */
      query: flag({ default: false }),
    }),
    /** Batches: many requests in one file, whose responses come within hours. */
    batch: object<NonNullable<ProviderValues["batch"]>>({
      /** Whether batches are taken; what is known of the vendor decides unless given. */
      supported: flag(),
      /** Most requests of one batch: a larger one is split, and joined again; the vendor's own limit unless given. */
      max_items: integer({ min: 1 }),
    }),
    /** Files at the vendor's. */
    files: object<NonNullable<ProviderValues["files"]>>({
      /** Whether uploads are taken; what is known of the vendor decides unless given. */
      upload: flag(),
      /** Largest file; the vendor's own limit unless given. */
      max_size: size(),
    }),
    /** Models of one's own making. */
    fine_tuning: object<NonNullable<ProviderValues["fine_tuning"]>>({
      /** Whether models are tuned; what is known of the vendor decides unless given. */
      supported: flag(),
    }),
    /** Other names of `batch.supported`, `files.upload` and `fine_tuning.supported`. */
    infrastructure: infrastructure(),
    /** Attributes of the connector itself. */
    config: passThrough(),
  }, {
    aliases: [
      ["base_url", "execution.base_url"],
      ["api_key", "auth.api_key"],
      ["discovery.enumerate_models", "catalogue.auto_discover"],
      ["batch.supported", "infrastructure.batch"],
      ["files.upload", "infrastructure.files"],
      ["fine_tuning.supported", "infrastructure.fine_tuning"],
    ],
  });

/** Providers by entry id; the id is the connector's unless `connector` says otherwise. */
export const providers = (): Field<ReadonlyMap<string, ProviderValues>> => mapOf(provider());
