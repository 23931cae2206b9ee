/**
 * How a model is asked, and what comes of it.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import type { OperationRequest } from "../contracts/provider.ts";
import type { Member, Pool } from "../registry/registry.ts";

import type { Outcome, Usage } from "../state/usage.ts";
import type { Connection } from "./connection.ts";

/** An answer, and whether there is anything in it. */
export interface Served<T> {
  readonly answer: T;
  /** Nothing was said, and nothing says why. */
  readonly empty: boolean;
  /** What it took, as its provider wrote it; of an empty one only. */
  readonly usage?: unknown;
}

/** Asks one model: a whole answer, or a stream up to its first content. */
export type Call<T> = (member: Member, completion: OperationRequest, connection: Connection) => Promise<Served<T>>;

/** An answer, and how it came about. */
export interface Routed<T> {
  readonly answer: T;
  readonly pool: Pool;
  readonly member: Member;
  readonly routing: RoutingRecord;
  /** Parameters left out for this model. */
  readonly dropped: readonly string[];
  /** What it came over; open as long as a stream is. */
  readonly connection: Connection;
  /** To be called when the answer is whole, broken or no longer wanted; the first call counts. */
  readonly settle: Settle;
}

/** What is known of what an answer took. */
export interface AnswerUsage {
  /** As its provider wrote it; it may be anything. */
  readonly usage: unknown;
  /** Tokens written, estimated from what the answer says; 0 where an operation writes none. */
  readonly written: () => number;
  /** The response as it is logged, where requests are. */
  readonly text?: () => string;
}

/** Ends a request: what it meant for the model that took it, and what the answer took. Returns that in numbers. */
type Settle = (outcome: Outcome, answer: AnswerUsage) => Usage;
