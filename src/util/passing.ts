/**
 * Distinguishes failures that may pass by themselves.
 * @module
 */
import type { FailedAttempt } from "../errors.ts";

/** Those of an overload, a timeout, and a connection that was cut between a vendor's reverse proxy and its servers. */
const statuses: ReadonlySet<number | undefined> = new Set([
  ...[408, 425, 429, 502, 503, 504, 529],
  ...[520, 521, 522, 523, 524], // of Cloudflare
]);

/** Whether a failure may pass: a rate limit, an overload, a timeout, a connection that was cut. */
export function mayPass({ kind, status }: Pick<FailedAttempt, "kind" | "status">): boolean {
  return kind === "network" || kind === "timeout" || kind === "rate_limited" || statuses.has(status);
}
