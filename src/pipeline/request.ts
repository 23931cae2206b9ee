/**
 * A request on its way through the pipeline, and what comes of it.
 * @module
 */
import type { Operation } from "../capability/operations.ts";
import type { RoutingRecord } from "../contracts/events.ts";
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import type { CapabilityPath, CompletionRequest, Delivery } from "../contracts/provider.ts";
import type { Runtime, StopSignal } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { Member, Pool, Registry } from "../registry/registry.ts";
import type { Budget } from "../state/limits/budget.ts";
import type { Usage } from "../state/usage.ts";
import type { Outcome } from "../state/usage.ts";
import type { Connection } from "./connection.ts";
import type { RoutingConstraints } from "./routing_constraints.ts";

/** Who sends requests, where clients have names. */
export interface RequestClient {
  /** Its name in records. */
  readonly name: string;
  /** The only pools there are for it; undefined: all, and every model by its name. */
  readonly pools?: ReadonlySet<string> | undefined;
  /** Money that its requests have to fit in beside the mesh's own. */
  readonly budget?: Budget | undefined;
}

/** One request, whoever made it. */
export interface RoutedRequest {
  /** Its id. */
  readonly id: string;
  /** What it asks for. */
  readonly operation: Operation;
  /** How the answer is to be delivered. */
  readonly delivery: Delivery;
  /** The virtual name it asks for. */
  readonly model: string;
  /** The parsed body. */
  readonly body: ChatCompletionRequest;
  /** The body's own text, when it came over HTTP. */
  readonly text?: string;
  /** Aborts it. */
  readonly signal?: StopSignal;
  /** Longest time to an answer, or to a stream's first content, ms. */
  readonly timeoutMs: number;
  /** Whom it belongs to, for strategies that care. */
  readonly session?: string;
  /** How it narrows its own routing. */
  readonly routingConstraints?: RoutingConstraints | undefined;
  /** Who sent it. */
  readonly client?: RequestClient | undefined;
}

/** What the pipeline works with. */
export interface RouteDeps {
  readonly registry: Registry;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}

/** An answer, and whether there is anything in it. */
export interface Served<T> {
  readonly answer: T;
  /** Nothing was said, and nothing says why. */
  readonly empty: boolean;
  /** What it took, as its provider wrote it; of an empty one only. */
  readonly usage?: unknown;
}

/** Asks one model: a whole answer, or a stream up to its first content. */
export type Call<T> = (member: Member, completion: CompletionRequest, connection: Connection) => Promise<Served<T>>;

/** What an operation is: the leaves whose models do it, and how one of them is asked. */
export interface Task<T> {
  readonly serves: (leaf: CapabilityPath) => boolean;
  readonly call: Call<T>;
}

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
  /** Tokens written, estimated from what the answer says. */
  readonly written: () => number;
}

/** Ends a request: what it meant for the model that took it, and what the answer took. Returns that in numbers. */
export type Settle = (outcome: Outcome, answer: AnswerUsage) => Usage;
