/**
 * What only native Responses API providers support: stored objects, provider-executed tools, and members that chat
 * cannot express.
 * @module
 */
import { UnsupportedRequestError } from "../../errors.ts";
import { NativeOnly } from "../native_only.ts";

/** What chat lacks for a part of a request. */
interface Lack {
  /** Description that follows the path, such as `is a file by its id`. */
  readonly what: string;
  /** Alternative that all models support, such as `send the file itself`. */
  readonly instead: string;
}

/** The native-only parts of a Responses request, and those that tie it to one provider. */
export class ResponsesNativeOnly extends NativeOnly {
  #pinned: UnsupportedRequestError | undefined;
  #isStored = false;

  /** The error if the request could be routed to models of several providers; undefined if it may be. */
  get pinned(): UnsupportedRequestError | undefined {
    return this.#pinned;
  }

  /** Whether the provider stores a part of the conversation, so that calls or results may lack their counterparts. */
  get isStored(): boolean {
    return this.#isStored;
  }

  /** Adds a part that models of other APIs do not support. */
  addLack(param: string, lack: Lack): void {
    this.add(param, messageOn(param, lack));
  }

  /** Adds a member that requires a provider which stores responses. */
  addPinned(param: string, lack: Lack): void {
    this.#pinned ??= new UnsupportedRequestError(messageOn(param, lack), { code: "unsupported_by_pool", param });
  }

  /** Adds a member that refers to an object which the provider stores. */
  addStored(param: string, lack: Lack): void {
    this.#isStored = true;
    this.addPinned(param, lack);
  }
}

function messageOn(param: string, { what, instead }: Lack): string {
  return `"${param}" ${what}, which models of other APIs do not support: ${instead}, ` +
    'or set "model" to one whose provider supports the Responses API';
}
