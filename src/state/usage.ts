/**
 * What requests take and took, and what is counted for.
 * @module
 */
import type { FailureKind, ModelInfo, RateLimits } from "../contracts/provider.ts";
import type { BudgetSettings, ProviderEntry, RoutingSettings } from "../config/settings/settings.ts";
import type { Quantities } from "../util/cost.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { OutageDetector } from "./breaker/outage_detector.ts";
import type { ApiKeyPool } from "./limits/api_key_pool.ts";
import type { Budget, BudgetStep } from "./limits/budget.ts";
import type { ModelRateLimiter } from "./limits/rate_limiter.ts";
import type { Latency } from "./metrics/latency.ts";
import type { OutputTokens } from "./metrics/output_tokens.ts";
import type { CounterReplicator } from "./replication/counter_replicator.ts";

/** What a request meant for the model that worked on it. */
export type Outcome = "success" | "failure" | "none";

/** What a request will take, by estimate. */
export interface Load {
  /** Tokens read. */
  readonly input: number;
  /** Tokens it lets be written; undefined when it does not say. */
  readonly output: number | undefined;
  /** What it takes beside tokens, in the units that vendors price. */
  readonly units?: Omit<Quantities, "input" | "output">;
  /** Its client's budget, which it has to fit beside the mesh's own. */
  readonly budget?: Budget | undefined;
}

/** Tokens of one call; counts that are unknown are left out. */
export interface TokenCounts {
  /** Tokens read. */
  readonly input?: number | undefined;
  /** Tokens written. */
  readonly output?: number | undefined;
  /** Tokens in all. */
  readonly tokens?: number | undefined;
  /** Of those read: from a cache. */
  readonly cached?: number | undefined;
  /** Of those read: written into a cache. */
  readonly cacheWrite?: number | undefined;
}

/** What a call took. */
export interface Usage extends TokenCounts {
  /** What it cost, nano-dollars; undefined when unknown: as reserved. */
  readonly costNano?: number | undefined;
  /** Some of it was estimated: the provider did not report it. */
  readonly estimated?: true | undefined;
}

/** The result of a request at one model, over all attempts. */
export interface RequestEnd extends Usage {
  /** Time to the answer, or to a stream's first content, ms. */
  readonly ms?: number | undefined;
  /** HTTP status of a failure. */
  readonly status?: number | undefined;
  /** Class of a failure. */
  readonly kind?: FailureKind | undefined;
}

/** A model in a pool whose requests are counted. */
export interface TrackedModel {
  /** The pool's name. */
  readonly pool: string;
  /** The model's name. */
  readonly name: string;
  /** What is known of it. */
  readonly info: ModelInfo;
  /** What its vendor allows, as declared. */
  readonly limits?: RateLimits | undefined;
  /** Its provider. */
  readonly provider: ProviderEntry;
  /** The pool's settings. */
  readonly routing: RoutingSettings;
  /** The pool's own budget. */
  readonly budget?: BudgetSettings | undefined;
}

/** What a model counts over all its pools. */
export interface SharedCounts {
  /** Requests and tokens per time. */
  readonly rate: ModelRateLimiter;
  /** Time to an answer. */
  readonly latency: Latency;
  /** Tokens written per answer. */
  readonly outputTokens: OutputTokens;
}

/** Money that a request has to fit in. */
export interface BudgetScope {
  /** Whose: `provider <id>`, `pool <name>`, `all`. */
  readonly id: string;
  /** The money. */
  readonly budget: Budget;
  /** Why a model goes into standby when it is spent. */
  readonly reason: "provider_budget" | "budget_limit";
}

/** What a `UsageTracker` is made of. */
export interface UsageTrackerParts {
  readonly facts: TrackedModel;
  readonly shared: SharedCounts;
  readonly budgetScopes: readonly BudgetScope[];
  /** Its provider's calls. */
  readonly outages: OutageDetector;
  /** Its provider's keys, where there are several. */
  readonly keys?: ApiKeyPool | undefined;
  readonly clock: Clock;
  /** What other processes count, too. */
  readonly replicator: CounterReplicator;
  /** Called when calls to the provider bring a budget to one of its steps. */
  readonly onBudgetSteps: (steps: readonly BudgetStep[], provider: string) => void;
}
