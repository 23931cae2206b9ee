/**
 * The usage record of one call, in the units that vendors bill.
 * @module
 */

/**
 * Usage of a call, as reported by its provider. Units that do not apply or are unknown are undefined. Tokens of a kind
 * are part of the tokens of the direction: `cached` and `audioInput` of the input, `reasoning` of the output.
 */
export interface BilledUsage {
  /** Input tokens, including those of all kinds. */
  readonly input?: number | undefined;
  /** Output tokens, including those of all kinds. */
  readonly output?: number | undefined;
  /** Input tokens read from a cache. */
  readonly cached?: number | undefined;
  /** Audio tokens read from a cache: part of `cached` and of `audioInput`. */
  readonly cachedAudio?: number | undefined;
  /** Image tokens read from a cache: part of `cached` and of `imageInput`. */
  readonly cachedImage?: number | undefined;
  /** Input tokens written to a cache, for any duration. */
  readonly cacheWrite?: number | undefined;
  /** Input tokens written to a cache for one hour: part of `cacheWrite`. */
  readonly cacheWrite1h?: number | undefined;
  /** Input tokens written to a cache for more than twelve hours: part of `cacheWrite`. */
  readonly cacheWrite12h?: number | undefined;
  /** Audio input tokens. */
  readonly audioInput?: number | undefined;
  /** Audio output tokens. */
  readonly audioOutput?: number | undefined;
  /** Image input tokens. */
  readonly imageInput?: number | undefined;
  /** Image output tokens. */
  readonly imageOutput?: number | undefined;
  /** Reasoning tokens. */
  readonly reasoning?: number | undefined;
  /** Images. */
  readonly images?: number | undefined;
  /** Searches, also those that the vendor runs during a chat. */
  readonly searches?: number | undefined;
  /** Pages of documents. */
  readonly pages?: number | undefined;
  /** Audio duration, seconds. */
  readonly seconds?: number | undefined;
  /** Text to speak, characters. */
  readonly characters?: number | undefined;
  /** Calls of tools that the vendor runs, other than searches. */
  readonly toolCalls?: number | undefined;
  /** The service tier that served the call, as the vendor names it; `fast` for `speed: fast`. */
  readonly tier?: string | undefined;
  /** The region in which the vendor processed the call, as it names it. */
  readonly region?: string | undefined;
  /** The cost of the call according to the vendor, USD. It replaces the cost by price. */
  readonly cost?: number | undefined;
  /**
   * Calls that the vendor made on its own to serve this one, such as one that shortens the conversation. Each is billed
   * like a call of its own, and the counts above do not include it.
   */
  readonly furtherCalls?: readonly FurtherCall[] | undefined;
}

/** A call that a vendor makes on its own to serve another one. Tier and region are those of the other one. */
export interface FurtherCall extends Omit<BilledUsage, "cost" | "furtherCalls" | "tier" | "region"> {
  /** The upstream id of the model that served it, if it is another one. */
  readonly model?: string | undefined;
}
