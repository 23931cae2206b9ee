/**
 * The request log: one line for each request that was routed.
 * @module
 */
import type { LoggingSettings } from "../config/settings/observability.ts";
import type { RequestLogRecord } from "../contracts/events.ts";
import type { FinishedRequest } from "./hub_events.ts";
import { redactAll } from "./redact.ts";

/** Characters of a payload in a summary. */
const summaryLength = 200;

/** What stands where the rest of a payload is left out. */
const ellipsis = "…";

/**
 * The line about a request.
 *
 * @param request It is over.
 * @param settings How much of it is logged.
 * @param redact Replaces secrets.
 */
export function requestLogOf(
  { record, tokensIn, tokensOut, tokensCached, costNanoUsd, payloads }: FinishedRequest,
  settings: LoggingSettings,
  redact: (text: string) => string,
): RequestLogRecord {
  const { level } = settings;
  const { client, pool, model, provider, status = 0, duration_ms: latency_ms = 0, ttft_ms } = record;
  const shown = (payload: string | undefined) => payload && shortened(payload, settings, redact);
  const texts = level === "metadata"
    ? {}
    : { request: shown(payloads?.request()), response: shown(payloads?.response()) };
  return {
    type: "log",
    timestamp: record.timestamp,
    level,
    request_id: record.request_id,
    ...(client === undefined ? {} : { client }),
    ...(payloads?.user === undefined ? {} : { user: redact(payloads.user) }),
    ...(payloads?.tags === undefined ? {} : { tags: redactAll(payloads.tags, redact) }),
    pool,
    model,
    provider,
    status,
    latency_ms,
    ...(ttft_ms === undefined ? {} : { ttft_ms }),
    tokens_in: tokensIn ?? null,
    tokens_out: tokensOut ?? null,
    ...(tokensCached === undefined ? {} : { tokens_cached: tokensCached }),
    cost: costNanoUsd === undefined ? null : costNanoUsd / 1e9,
    ...(texts.request === undefined ? {} : { request: texts.request }),
    ...(texts.response === undefined ? {} : { response: texts.response }),
  };
}

/** Redacted before it is cut: half a secret has another form. */
function shortened(
  payload: string,
  { level, redactSecrets, maxPayloadBytes }: LoggingSettings,
  redact: (text: string) => string,
): string {
  const text = redactSecrets ? redact(payload) : payload;
  const limited = level === "summary" && text.length > summaryLength
    ? `${text.slice(0, summaryLength)}${ellipsis}`
    : text;
  const bytes = new TextEncoder().encode(limited);
  if (bytes.length <= maxPayloadBytes) return limited;
  // a stream's decoder holds the beginning of a character back
  const whole = new TextDecoder().decode(bytes.subarray(0, maxPayloadBytes), { stream: true });
  return `${whole}${ellipsis}`;
}
