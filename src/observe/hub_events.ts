/**
 * What the engine publishes inside the process, beside the records that sinks get.
 * @module
 */
import type { MeshEvent, ModelTry, RequestLogRecord, RoutingRecord } from "../contracts/events.ts";
import type { Outcome } from "../state/usage.ts";
import type { BreakerOwner } from "../state/breaker/circuit_breaker.ts";

/** A model in a pool. */
export interface MemberNames {
  readonly pool: string;
  readonly model: string;
  /** Its provider's entry id. */
  readonly provider: string;
}

/** The members of all pools; each call reads the present state. */
export interface MeshMembers {
  readonly members: () => readonly MemberNames[];
  readonly ownersInStandby: () => readonly BreakerOwner[];
}

/** What one request used; undefined where that is unknown. */
export interface RequestUsage {
  readonly tokensIn?: number | undefined;
  readonly tokensOut?: number | undefined;
  readonly costNanoUsd?: number | undefined;
}

/** How a request ended and what it used. */
export interface RequestResult extends RequestUsage {
  /** `none`: the client gave it up. A deadline is a failure. */
  readonly outcome: Outcome;
  /** From its arrival to the answer, or to a stream's first content, ms. */
  readonly latencyMs?: number | undefined;
}

/** What a request contained, for the request log. */
export interface RequestPayloads {
  readonly user?: string | undefined;
  readonly tags?: RequestLogRecord["tags"] | undefined;
  /** The request's body. */
  readonly request: () => string | undefined;
  /** The response's body, or the events of its stream as far as they are kept. */
  readonly response: () => string | undefined;
}

/** A request that is over, a stream with its end. */
export interface FinishedRequest extends RequestResult {
  readonly record: RoutingRecord;
  /** Tokens read from the provider's cache, where it reported that. */
  readonly tokensCached?: number | undefined;
  /** What it contained; left out where no sink logs requests. */
  readonly payloads?: RequestPayloads | undefined;
  /** Every try of a model, in order. */
  readonly tries: readonly ModelTry[];
}

/** A request that was refused before it was routed. */
export interface RefusedRequest {
  /** HTTP status of the response. */
  readonly status: number;
  /** The client that sent it, where clients have names. */
  readonly client?: string | undefined;
}

/** Kinds of hub events, and what each carries. */
export interface HubEvents {
  /** A model or provider changed its state, a pool its current model. */
  readonly event: MeshEvent;
  readonly request_started: undefined;
  readonly request_finished: FinishedRequest;
  readonly request_refused: RefusedRequest;
  /** Pools have other members, or their states were replaced without an event. */
  readonly members_changed: MeshMembers;
}
