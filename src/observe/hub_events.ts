/**
 * Events that the engine publishes within the process, in addition to the records that sinks receive.
 * @module
 */
import type { MeshEvent, ModelTry, RequestLogRecord, RoutingRecord } from "../contracts/events.ts";
import type { Outcome } from "../state/counters/usage.ts";
import type { BreakerOwner } from "../state/breaker/circuit_breaker.ts";

/** A model in a pool. */
export interface MemberNames {
  readonly pool: string;
  readonly model: string;
  /** The provider's id in the configuration. */
  readonly provider: string;
}

/** The members of all pools. Each call returns the current state. */
export interface MeshMembers {
  readonly members: () => readonly MemberNames[];
  readonly ownersInStandby: () => readonly BreakerOwner[];
  /** Whether any breaker of an owner is open. */
  readonly isInStandby: (owner: BreakerOwner) => boolean;
}

/** Outcome and usage of a request; unknown values are undefined. */
export interface RequestResult {
  readonly tokensIn?: number | undefined;
  readonly tokensOut?: number | undefined;
  readonly costNanoUsd?: number | undefined;
  /** The cost that the caller pays, whose own key has authorized the request, in place of the other. */
  readonly callerCostNanoUsd?: number | undefined;
  /** `none` when the client cancelled the request. An exceeded deadline is a failure. */
  readonly outcome: Outcome;
  /** Time from arrival to the response, or to the first content of a stream, ms. */
  readonly latencyMs?: number | undefined;
}

/** Payloads of a request, for the request log. */
export interface RequestPayloads {
  readonly user?: string | undefined;
  /** Returns the request body. */
  readonly request: () => string | undefined;
  /** Returns the response body, or the events of a stream up to the logged size. */
  readonly response: () => string | undefined;
}

/** A request that has ended, including its stream. */
export interface FinishedRequest extends RequestResult {
  readonly record: RoutingRecord;
  /** The request's tags. */
  readonly tags?: RequestLogRecord["tags"] | undefined;
  /** Input tokens read from the provider's cache, if reported. */
  readonly tokensCached?: number | undefined;
  /** The service tier that served it, as the vendor names it, if reported. */
  readonly tier?: string | undefined;
  /** Payloads; undefined when no sink logs requests. */
  readonly payloads?: RequestPayloads | undefined;
  /** All attempts, in order. */
  readonly tries: readonly ModelTry[];
}

/** A request that was rejected before routing. */
export interface RefusedRequest {
  /** HTTP status of the response. */
  readonly status: number;
  /** Name of the client, if clients have names. */
  readonly client?: string | undefined;
  /** Its id, if it was created at runtime. */
  readonly client_id?: string | undefined;
}

/** What the cache was asked for a request. */
export interface CacheLookup {
  /** Name of the pool. */
  readonly pool: string;
  /** `bypass`: the request may not be cached, or passes by. `error`: the storage failed. */
  readonly result: "hit" | "miss" | "bypass" | "error";
  /** What the repeated response cost, USD; undefined without a hit, or if it is unknown. */
  readonly savedUsd?: number | undefined;
}

/** Payloads of hub events, by kind. */
export interface HubEvents {
  /** A model or provider has changed its state, or a pool its current model. */
  readonly event: MeshEvent;
  readonly request_started: undefined;
  readonly request_finished: FinishedRequest;
  readonly cache_lookup: CacheLookup;
  readonly request_refused: RefusedRequest;
  /** Pools have other members, or state was replaced without events. */
  readonly members_changed: MeshMembers;
  /** Members of a pool that was made on demand. */
  readonly members_added: readonly MemberNames[];
}
