/**
 * Distinguishes failures that may pass by themselves.
 * @module
 */
import type { FailedAttempt } from "../errors.ts";

/** Those of a rate limit, an overload, a timeout; and of Cloudflare, whose connection to a server was cut or timed out. */
const statuses: ReadonlySet<number | undefined> = new Set([
  ...[408, 425, 429, 503, 504, 529],
  ...[520, 521, 522, 523, 524],
]);

/** Whether a failure may pass: a rate limit, an overload, a timeout, a connection that was cut. */
export function mayPass({ kind, status }: Pick<FailedAttempt, "kind" | "status">): boolean {
  return kind === "network" || kind === "timeout" || kind === "rate_limited" || statuses.has(status);
}
