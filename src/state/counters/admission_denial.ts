/**
 * Why a request is not admitted to an active model.
 * @module
 */

/** Denial of one request at one model. It does not change the model's state, since the next request may be smaller. */
export interface AdmissionDenial {
  /**
   * The reason:
   * - `rate_limited`: the request would exceed a rate limit of the vendor
   * - `budget`: the budget is spent or reserved
   * - `client_limit`: the tokens per minute of the client, its team, a tag or the end user do not suffice
   * - `no_price`: there is a budget, and the model has no known price
   * - `storage_unavailable`: the budget is shared with other processes, and the shared storage is unavailable
   * - `request_limit`, `token_limit`, `budget_limit`: requests in flight reserve what remains of the pool's limit
   * - `min_delta`: less than the minimum time has passed since the last request
   * - `max_rpm`: the configured number of requests per minute is reached
   */
  readonly reason:
    | "rate_limited"
    | "budget"
    | "client_limit"
    | "no_price"
    | "storage_unavailable"
    | "request_limit"
    | "token_limit"
    | "budget_limit"
    | "min_delta"
    | "max_rpm";
  /** When the denial ends, monotonic ms; Infinity when it depends on other requests. */
  readonly until: number;
  /** The message for the client; by default it is about the pool. */
  readonly message?: string;
}
