/**
 * What counts requests, tokens and money, as the rest of the engine sees it. Whoever runs a mesh brings the counting; a
 * mesh without limits needs none.
 * @module
 */
import type { FailureKind, ModelInfo } from "../contracts/provider.ts";
import type { Headroom, StandbyReason } from "../contracts/rotation.ts";
import type { BudgetSettings, ProviderEntry, RoutingSettings } from "../config/settings/settings.ts";
import type { RateLimits } from "../contracts/provider.ts";
import type { AdmissionDenial } from "./limits/admission_denial.ts";
import type { ApiKeyPool, KeyRejection, RejectedCall } from "./limits/api_key_pool.ts";
import type { Budget } from "./limits/budget.ts";
import type { CounterReplicator, CounterRequest } from "./replication/counter_replicator.ts";
import type { OutputTokens } from "./metrics/output_tokens.ts";
import type { BudgetScope } from "./usage_tracker.ts";
import type { Quota } from "./limits/quota.ts";

/** What a request will take, by estimate. */
export interface Load {
  /** Tokens read. */
  readonly input: number;
  /** Tokens it lets be written; undefined when it does not say. */
  readonly output: number | undefined;
  /** Money that it has to fit in beside the mesh's own: its client's. */
  readonly budget?: Budget | undefined;
}

/** A rest that the counting asks for. */
export interface DeactivationDecision {
  /** Why. */
  readonly reason: StandbyReason;
  /** The model in its pool, or all of its provider. */
  readonly scope: "model" | "provider";
  /** How long, ms; undefined: the pool's cooldown. */
  readonly standbyMs?: number;
  /** It is for a failure: the cooldown doubles with each trial that ends like that. */
  readonly doubles?: true;
  /** What the event says beside the reason. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a call took. */
export interface Usage {
  /** Tokens read; undefined when nobody knows. */
  readonly input?: number | undefined;
  /** Tokens written; undefined when nobody knows. */
  readonly output?: number | undefined;
  /** Tokens in all. */
  readonly tokens?: number | undefined;
  /** What it cost, nano-dollars; undefined when nobody knows: as set aside. */
  readonly costNano?: number | undefined;
  /** The provider did not say all of it. */
  readonly estimated?: true | undefined;
}

/** What a model did with a request, in all its tries. */
export interface RequestEnd extends Usage {
  /** Time to the answer, or to a stream's first content, ms. */
  readonly ms?: number | undefined;
  /** HTTP status of a failure. */
  readonly status?: number | undefined;
  /** Class of a failure. */
  readonly kind?: FailureKind | undefined;
}

/** One call upstream that counts, from its admission to its end. */
export interface CallReservation {
  /** What it takes of sums that several processes make together. */
  counterRequests(): readonly CounterRequest[];
  /** There is room for it in what other processes have left. */
  confirm(): void;
  /** The call is not sent. A second end counts for nothing. */
  cancel(): void;
  /** The key it is made with, where its provider has several. */
  readonly apiKey?: string | undefined;
  /** Sets that key aside, where the call's failure is about it. */
  rejectApiKey?(refusal: RejectedCall): KeyRejection | undefined;
  /** Takes in what the answer's headers say of limits. */
  observe(headers: { get(name: string): string | null }): void;
  /** Takes in limits that its provider reports otherwise. */
  limit(limits: RateLimits): void;
  /** The call never left, or was answered by an error: it costs nothing. A second end counts for nothing. */
  fail(wasSent: boolean): void;
  /** The call was answered, as far as it was wanted. A second end counts for nothing. */
  end(usage: Usage): void;
}

/** Counts for one model in one pool. Times are monotonic ms. */
export interface Meter {
  /** The keys of its provider, where there are several. */
  readonly keys?: ApiKeyPool | undefined;
  /** What other processes count, too. */
  readonly replicator: CounterReplicator;
  /** What was used of the pool's limits, where it is counted. */
  readonly quota?: Quota;
  /** Money that its requests have to fit in. */
  readonly budgetScopes?: readonly BudgetScope[];
  /** Tokens written per answer. */
  readonly outputTokens: OutputTokens;
  /** Decaying mean of the time to an answer, ms. */
  latencyMs(now: number): number | undefined;
  /** Requests it may still take. */
  requests(now: number): Headroom | undefined;
  /** Tokens it may still take. */
  tokens(now: number): Headroom | undefined;
  /** What a request would cost, nano-dollars; undefined where no price is known. */
  costOf(load: Load): number | undefined;
  /** Why a request cannot go there now. */
  denial(load: Load, now: number): AdmissionDenial | undefined;
  /** A request was admitted. */
  begun(): void;
  /** It is sent. */
  sent(): DeactivationDecision | undefined;
  /** It was not sent after all. */
  withdrawn(): void;
  /** Counts a call that is about to be sent, whether there is room for it or not. */
  spend(load: Load, now: number): CallReservation;
  /** A request is over. */
  finished(vote: "success" | "failure" | "none", end: RequestEnd, now: number): DeactivationDecision | undefined;
  /** The rest that a limit or a budget asks for by now. */
  spent(): DeactivationDecision | undefined;
  /** The rest that still has to be kept although its time is over. */
  standing(now: number): DeactivationDecision | undefined;
  /** The model is back: what counts between two rests begins anew. */
  recovered(): void;
}

/** What a meter is made for. */
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
