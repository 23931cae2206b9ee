/**
 * Features that only native Responses API providers support: stored objects, hosted tools, and members that chat cannot
 * express.
 * @module
 */
import { UnsupportedRequestError } from "../../errors.ts";

/** The native-only features of a request, in order of appearance. A request without any can be routed to all models. */
export class NativeOnly {
  #first: UnsupportedRequestError | undefined;
  #isStored = false;

  /** The error if the request is routed to another provider; undefined if there are no such features. */
  get error(): UnsupportedRequestError | undefined {
    return this.#first;
  }

  /** Whether the provider stores a part of the conversation, so that calls or results may lack their counterparts. */
  get isStored(): boolean {
    return this.#isStored;
  }

  /**
   * Adds a feature.
   *
   * @param param Path of the member.
   * @param what Description that follows the path, such as `is a file by its id`.
   * @param instead Alternative that all models support, such as `send the file itself`.
   */
  add(param: string, what: string, instead: string): void {
    this.#first ??= new UnsupportedRequestError(
      `"${param}" ${what}, which models of other APIs do not support: ${instead}, ` +
        'or set "model" to one whose provider supports the Responses API',
      { code: "unsupported_by_pool", param },
    );
  }

  /** Adds a member that refers to an object which the provider stores. */
  addStored(param: string, what: string, instead: string): void {
    this.#isStored = true;
    this.add(param, what, instead);
  }
}
