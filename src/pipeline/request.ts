/**
 * A request on its way through the pipeline.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { Delivery, UploadedFile } from "../contracts/provider.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import type { Budget } from "../state/limits/budget.ts";
import type { Operation } from "./operation.ts";
import type { OriginalRequest } from "./original.ts";
import type { RoutingConstraints } from "./routing_constraints.ts";

/** The client that sends requests, where clients have names. */
export interface RequestClient {
  /** Its name in records. */
  readonly name: string;
  /** The only pools there are for it; undefined: all, and every model by its name. */
  readonly pools?: ReadonlySet<string> | undefined;
  /** Money that its requests have to fit in beside the mesh's own. */
  readonly budget?: Budget | undefined;
}

/** One request, of a program or of the proxy's client. */
export interface RoutedRequest<Body extends RequestBody = RequestBody, Response = unknown> {
  /** Its id. */
  readonly id: string;
  /** What it asks for. */
  readonly operation: Operation<Body, Response>;
  /** How the answer is to be delivered. */
  readonly delivery: Delivery;
  /** The virtual name it asks for. */
  readonly model: string;
  /** The parsed body. */
  readonly body: Body;
  /** Files, where it came as a form. */
  readonly files?: readonly UploadedFile[];
  /** The body's own text, when it came over HTTP. */
  readonly text?: string;
  /** What `body` was translated from, where it was. */
  readonly original?: OriginalRequest | undefined;
  /** Aborts it. */
  readonly signal?: StopSignal;
  /** Longest time to an answer, or to a stream's first content, ms. */
  readonly timeoutMs: number;
  /** What keeps it together with others, for strategies that honor it. */
  readonly session?: string;
  readonly routingConstraints?: RoutingConstraints | undefined;
  readonly client?: RequestClient | undefined;
  /** The caller's trace (W3C Trace Context). */
  readonly traceparent?: string | undefined;
}
