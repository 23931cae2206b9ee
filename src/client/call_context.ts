/**
 * What resources such as `client.chat` need of their client.
 * @module
 */
import type { Engine } from "../engine/engine.ts";
import type { Operation } from "../pipeline/operation.ts";
import type { Middleware } from "./options.ts";

/** A client, as its resources see it. */
export interface CallContext {
  /** Its engine. */
  readonly engine: Engine;
  /** Called around every request, in this order. */
  readonly middleware: readonly Middleware[];
  /** Makes the client ready for requests. Memoised. */
  readonly ready: () => Promise<void>;
  /**
   * The pool that a call without `model` goes to.
   *
   * Throws an `UnsupportedRequestError` when no pool serves the operation.
   */
  readonly poolFor: (operation: Pick<Operation, "name" | "serves">) => string;
}
