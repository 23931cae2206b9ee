/**
 * What only a provider of the Responses API itself can do: what it keeps, what it runs, and what chat has no words for.
 * @module
 */
import { UnsupportedRequestError } from "../../errors.ts";

/** What a request has of that, in order of appearance; a request without is one for any model. */
export class Beyond {
  #first: UnsupportedRequestError | undefined;
  #isKept = false;

  /** The error where the request would go to any other provider; undefined when there is nothing of that. */
  get error(): UnsupportedRequestError | undefined {
    return this.#first;
  }

  /** A part of the conversation is with the provider: calls and results may lack their counterparts here. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /**
   * Notes a member.
   *
   * @param param Where it stands.
   * @param what What is the matter with it, after its name, such as `is a file by its id`.
   * @param instead What to do for models of all vendors, such as `send the file itself`.
   */
  add(param: string, what: string, instead: string): void {
    this.#first ??= new UnsupportedRequestError(
      `"${param}" ${what}, which models of other APIs cannot do: ${instead}, ` +
        'or name in "model" one whose provider has the Responses API',
      { code: "unsupported_by_pool", param },
    );
  }

  /** Notes a member that stands for something which the provider keeps. */
  addKept(param: string, what: string, instead: string): void {
    this.#isKept = true;
    this.add(param, what, instead);
  }
}
