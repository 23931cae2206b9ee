/**
 * Calls of models, and their results.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import type { OperationRequest } from "../contracts/provider.ts";
import type { Member, Pool } from "../registry/registry.ts";
import type { Outcome, Usage } from "../state/counters/usage.ts";
import type { ClientNames } from "./client_names.ts";
import type { Connection } from "./connection.ts";
import type { Failure } from "./failure.ts";
import type { AnswerUsage } from "./operation.ts";

/** A response, and whether it is empty. */
export interface Served<T> {
  readonly answer: T;
  /** Whether the response is empty and contains no reason for that. */
  readonly empty: boolean;
  /** Usage as reported by the provider; only of an empty response. */
  readonly usage?: unknown;
  /** The model id in the response. */
  readonly model?: string | undefined;
}

/** An adapted request. */
export interface SentRequest {
  readonly completion: OperationRequest;
  /** The client's names of tools, which the response has to have; undefined if they are sent. */
  readonly clientNames?: ClientNames | undefined;
}

/** Calls one model: for a complete response, or for a stream up to its first content. */
export type Call<T> = (member: Member, request: SentRequest, connection: Connection) => Promise<Served<T>>;

/** A routed response. */
export interface Routed<T> {
  readonly answer: T;
  readonly pool: Pool;
  readonly member: Member;
  readonly routing: RoutingRecord;
  /** Parameters omitted for this model. */
  readonly dropped: readonly string[];
  /** The connection, open until the response ends. */
  readonly connection: Connection;
  /** Called when the response is complete, interrupted or cancelled. Later calls have no effect. */
  readonly settle: Settle;
}

/** The end of a response. */
interface SettledAnswer extends AnswerUsage {
  /**
   * Why the response did not reach its end: the provider failed midway, its reader left, or it was abandoned for another
   * reason, such as the end of the process. Undefined if it is complete.
   */
  readonly cause?: unknown;
  /** The failure of the provider, if that is the cause. */
  readonly failure?: Failure | undefined;
}

/** Settles a request with the outcome for its model and the reported usage. Returns the usage in numbers. */
type Settle = (outcome: Outcome, answer: SettledAnswer) => Usage;

/** The reason of a response that its reader cancels. */
export function clientDisconnect(): DOMException {
  return new DOMException("The client has disconnected", "AbortError");
}
