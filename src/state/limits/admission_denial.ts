/**
 * Why a model is not asked although it is active.
 * @module
 */

/** What keeps a request from a model now. It changes no state: the next request may be smaller. */
export interface AdmissionDenial {
  /**
   * - `rate_limited`: a limit of the vendor would be exceeded
   * - `budget`: the money is spent or reserved
   * - `no_price`: there is a budget, and what the request would cost is not known
   * - `storage_unavailable`: other processes spend the same money, and what they spend cannot be known now
   * - `request_limit`, `token_limit`, `budget_limit`: requests under way reserve what the pool still allows the model
   * - `min_delta`: too soon after the last request
   * - `max_rpm`: more requests a minute than configured
   */
  readonly reason:
    | "rate_limited"
    | "budget"
    | "no_price"
    | "storage_unavailable"
    | "request_limit"
    | "token_limit"
    | "budget_limit"
    | "min_delta"
    | "max_rpm";
  /** When it ends, monotonic ms; Infinity: not by itself. */
  readonly until: number;
}
