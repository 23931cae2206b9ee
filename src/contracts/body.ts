/**
 * Fields that the request bodies of all operations share.
 * @module
 */

/** Any JSON object. */
export type JsonObject = Record<string, unknown>;

/** Fields that the request bodies of all operations share. */
export interface RequestBody {
  /** A pool, capability, alias or model name. When omitted, the client's default pool is used. */
  model?: string;
  /** Further models or pools, tried in order after `model`. */
  models?: string[];
  /** The end user, as the client identifies them. */
  user?: string;
  /** Fields of the operation, and vendor extensions. */
  [key: string]: unknown;
}
