/**
 * Guards: connectors that check the texts of requests and responses.
 * @module
 */

/** One text of a request or response. */
export interface GuardedText {
  /** Its place in the chat, or in the body of another operation, such as `messages[0].content[1].text`. */
  readonly path: string;
  /** The text; of tool arguments, their JSON. In a stream, what is held back and what was sent just before. */
  readonly text: string;
}

/** What a check is about. */
export interface GuardContext {
  /** Whether the texts are those of a request, or of its response. */
  readonly stage: "request" | "response";
  /** Name of the pool. */
  readonly pool: string;
  /** Name of the client; undefined for callers without one. */
  readonly client?: string | undefined;
  /** Id of the request. */
  readonly requestId: string;
  /** The same object in all checks of one request and its response, as the key of what a guard remembers of it. */
  readonly request: object;
  /** Aborted when the time limit of the check has passed, or the caller has left. */
  readonly signal: AbortSignal;
}

/** A text as it is to be passed on. */
export interface GuardReplacement extends GuardedText {
  /** Name of the rule that replaced it, for records. */
  readonly rule?: string;
}

/** The result of a check. */
export type GuardVerdict =
  | { readonly action: "allow" }
  | {
    readonly action: "block";
    /** The rule that blocks, as records name it: never a part of the text. */
    readonly code: string;
    /** Why, for the caller: never a part of the text. */
    readonly reason?: string;
    /** The path of the text. */
    readonly path?: string;
  }
  | {
    readonly action: "replace";
    /** The texts that change, each path at most once. */
    readonly texts: readonly GuardReplacement[];
  };

/**
 * Checks texts before they leave: those of requests before a model receives them, those of responses before the caller
 * does.
 *
 * @example
 * ```ts
 * import type { Guard } from "@modelmesh/core/connectors";
 *
 * const noSecretProject: Guard = {
 *   reach: 64,
 *   check: (texts) => {
 *     const found = texts.find(({ text }) => /project[ -]?zephyr/i.test(text));
 *     return found === undefined ? { action: "allow" } : { action: "block", code: "zephyr", path: found.path };
 *   },
 * };
 * console.log(noSecretProject.reach);
 * ```
 */
export interface Guard {
  /**
   * Checks texts. Those of a whole request or response come in one call, in order; the texts of a stream come again with
   * each part that arrives, as far as they have not been sent. Parts of one message are texts of their own.
   *
   * @throws Anything; the setting `on_error` decides.
   */
  check(texts: readonly GuardedText[], context: GuardContext): GuardVerdict | Promise<GuardVerdict>;
  /**
   * Length of the longest match, characters: so much of a stream is held back. At most 2 048 together with `interval`.
   * @default 1024
   */
  readonly reach?: number;
  /**
   * Number of new characters of a stream after which it is checked again. A guard that calls a service has more than 1.
   * @default 1
   */
  readonly interval?: number;
}
