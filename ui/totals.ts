/**
 * What is counted of requests.
 * @module
 */
import type { FallbackStep, RoutingRecord } from "../src/contracts/events.ts";
import { Durations } from "./durations.ts";
import { isFailed, isFailedStep, isSaved } from "./records.ts";

/** Requests of a span of time. */
export class Totals {
  requests = 0;
  failed = 0;
  saved = 0;
  /** Models that were asked: a request that fails over asks several. */
  attempts = 0;
  /** Those of them that did not serve it. */
  failedAttempts = 0;
  tokensIn = 0;
  tokensOut = 0;
  costUsd = 0;
  readonly latency: Durations = new Durations();
  readonly firstToken: Durations = new Durations();

  /** Counts one request. */
  addRecord(record: RoutingRecord): void {
    this.requests++;
    if (isFailed(record)) this.failed++;
    if (isSaved(record)) this.saved++;
    this.tokensIn += record.tokens_in ?? 0;
    this.tokensOut += record.tokens_out ?? 0;
    this.costUsd += record.cost_usd ?? 0;
    if (!isFailed(record) && record.duration_ms !== undefined) this.latency.add(record.duration_ms);
    if (record.ttft_ms !== undefined) this.firstToken.add(record.ttft_ms);
  }

  /** Counts one model that was asked. */
  addAttempt(step: FallbackStep): void {
    this.attempts++;
    if (isFailedStep(step)) this.failedAttempts++;
  }

  /** Adds those of another span. */
  add(other: Totals): void {
    this.requests += other.requests;
    this.failed += other.failed;
    this.saved += other.saved;
    this.attempts += other.attempts;
    this.failedAttempts += other.failedAttempts;
    this.tokensIn += other.tokensIn;
    this.tokensOut += other.tokensOut;
    this.costUsd += other.costUsd;
    this.latency.addAll(other.latency);
    this.firstToken.addAll(other.firstToken);
  }
}
