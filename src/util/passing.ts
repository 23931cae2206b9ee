/**
 * Distinguishes failures: those that may pass by themselves, and those because of content.
 * @module
 */
import type { OpenAiError } from "../contracts/openai.ts";
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

/** What codes and types of refused content contain. */
const contentFilter =
  /content_?(?:policy|filter|moderation|safety)|moderation_(?:blocked|failed)|policy_violation|responsible_?ai|data_?inspection_?failed|guardrail|prohibited_content/;

/** Whether a provider has refused a request because of its content, or a response because of what it contains. */
export function isContentFilter({ code, type }: Pick<OpenAiError, "code" | "type">): boolean {
  return contentFilter.test(`${code ?? ""} ${type}`.toLowerCase());
}
