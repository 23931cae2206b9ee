/**
 * What the bodies of all operations have in common.
 * @module
 */

/** Any JSON object. */
export type JsonObject = Record<string, unknown>;

/** What the bodies of all operations have in common. */
export interface RequestBody {
  /** A pool, capability, alias or model name; the client's own pool when left out. */
  model?: string;
  /** A list of further models or pools to try after `model`. */
  models?: string[];
  /** The end user, as the client names them. */
  user?: string;
  /** What else an operation or a vendor has. */
  [key: string]: unknown;
}
