/**
 * Collects the parts of a request that chat cannot express and that matter: only models whose provider supports the
 * dialect natively can take it.
 * @module
 */
import { UnsupportedRequestError } from "../errors.ts";

/** The native-only parts of a request. A request without any can be routed to all models. */
export class NativeOnly {
  #error: UnsupportedRequestError | undefined;
  #isPreferred = false;

  /** The error if no model with native support is eligible, about the first part; undefined if there are no parts. */
  get error(): UnsupportedRequestError | undefined {
    return this.#error;
  }

  /** Whether models with native support are preferred, because the chat form has less than the request. */
  get isPreferred(): boolean {
    return this.#isPreferred;
  }

  /** Prefers models with native support: others can take the request as well, but without a part of it. */
  prefer(): void {
    this.#isPreferred = true;
  }

  /**
   * Adds a part.
   *
   * @param message Why models of other APIs do not support it, and what to do.
   */
  add(
    param: string,
    message = `No model of the pool supports "${param}": leave it out, or ask a model of that API itself`,
  ): void {
    this.#error ??= new UnsupportedRequestError(message, { code: "unsupported_by_pool", param });
  }
}
