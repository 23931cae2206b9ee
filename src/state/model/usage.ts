/**
 * Estimated usage, and what tracks the usage of a model.
 * @module
 */
import type { ModelInfo, RateLimits } from "../../contracts/provider.ts";
import type { BudgetSettings, ProviderEntry, RoutingSettings } from "../../config/settings/settings.ts";
import type { Quantities } from "../../util/cost.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { OutageDetector } from "../metrics/outage_detector.ts";
import type { ApiKeyPool } from "../limits/api_key_pool.ts";
import type { KeyChoice } from "../limits/reserved_rate.ts";
import type { Budget, BudgetStep } from "../limits/budget.ts";
import type { RequestScopes } from "../limits/request_scopes.ts";
import type { ModelRateLimiter } from "../limits/rate_limiter.ts";
import type { Latency } from "../metrics/latency.ts";
import type { OutputTokens } from "../metrics/output_tokens.ts";
import type { SharedCounters } from "../counters/shared_counters.ts";

/** Estimated usage of a request. */
export interface Load {
  /** Input tokens. */
  readonly input: number;
  /** Maximum output tokens; undefined if the request has no limit. */
  readonly output: number | undefined;
  /** Usage other than tokens, in the units that vendors price, and the service tier that it requests. */
  readonly units?: Omit<Quantities, "input" | "output"> | undefined;
  /** The limits of its client, team, tags and end user, in addition to those of the mesh. */
  readonly scopes?: RequestScopes | undefined;
  /** Of several API keys, the one to use if it is available. */
  readonly preferredKey?: KeyChoice | undefined;
}

/** A model in a pool whose usage is tracked. */
export interface TrackedModel {
  /** Name of the pool. */
  readonly pool: string;
  /** Name of the model. */
  readonly name: string;
  /** Metadata of the model. */
  readonly info: ModelInfo;
  /** The vendor's rate limits, as declared. */
  readonly limits?: RateLimits | undefined;
  readonly provider: ProviderEntry;
  /** The pool's routing settings. */
  readonly routing: RoutingSettings;
  /** The pool's own budget. */
  readonly budget?: BudgetSettings | undefined;
}

/** Counters of a model that all its pools share. */
export interface SharedCounts {
  /** Rate limits. */
  readonly rate: ModelRateLimiter;
  /** Time to a response. */
  readonly latency: Latency;
  /** Output tokens per response. */
  readonly outputTokens: OutputTokens;
  /** Members that ModelMesh adds to requests, and that the model has rejected. */
  readonly rejectedMembers: Set<string>;
}

/** A budget that applies to a request, and its scope. */
export interface BudgetScope {
  /** The scope: `provider <id>`, `pool <name>`, `all`. */
  readonly id: string;
  readonly budget: Budget;
  /** Standby reason of a model when the budget is exhausted. */
  readonly reason: "provider_budget" | "budget_limit";
}

/** Dependencies of a `UsageTracker`. */
export interface UsageTrackerParts {
  readonly facts: TrackedModel;
  readonly shared: SharedCounts;
  readonly budgetScopes: readonly BudgetScope[];
  /** Counts the provider's calls without a response. */
  readonly outages: OutageDetector;
  /** The provider's API keys, if there are several. */
  readonly keys?: ApiKeyPool | undefined;
  readonly clock: Clock;
  /** Counters shared with other processes. */
  readonly sharedCounters: SharedCounters;
  /** Called when calls to the provider bring a budget to one of its `alert_at` steps. */
  readonly onBudgetSteps: (steps: readonly BudgetStep[], provider: string) => void;
}
