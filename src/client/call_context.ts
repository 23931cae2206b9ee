/**
 * The part of a client that its resources, such as `client.chat`, use.
 * @module
 */
import type { Engine } from "../engine/engine.ts";
import type { Operation } from "../pipeline/operation.ts";
import type { Middleware } from "./options.ts";

/** A client, as its resources see it. */
export interface CallContext {
  readonly engine: Engine;
  /** Middleware, called around every request in this order. */
  readonly middleware: readonly Middleware[];
  /** Resolves when the client can send requests. Memoized. */
  readonly ready: () => Promise<void>;
  /**
   * Returns the pool for a call without `model`.
   *
   * @throws {UnsupportedRequestError} When no pool serves the operation.
   */
  readonly poolFor: (operation: Pick<Operation, "name" | "serves">) => string;
}

/** A call under way. */
export interface OpenCall {
  readonly requestId: string;
  /** When the call was made, monotonic ms. */
  readonly from: number;
}
