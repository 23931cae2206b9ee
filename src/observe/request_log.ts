/**
 * The request log: one line for each routed request.
 * @module
 */
import type { LoggingSettings } from "../config/settings/observability.ts";
import type { RequestLogRecord } from "../contracts/events.ts";
import type { FinishedRequest } from "./hub_events.ts";
import { redactAll } from "./redact.ts";

/** Number of payload characters in a summary. */
const summaryLength = 200;

/** Marks a truncated payload. */
const ellipsis = "…";

/**
 * Returns the log line of a request.
 *
 * @param request A request that has ended.
 * @param settings Level of detail.
 * @param redact Replaces secrets in a string.
 */
export function toRequestLog(
  { record, tags, tokensIn, tokensOut, tokensCached, costNanoUsd, callerCostNanoUsd, payloads }: FinishedRequest,
  settings: LoggingSettings,
  redact: (text: string) => string,
): RequestLogRecord {
  const { level } = settings;
  const { client, client_id, team, pool, model, provider, status = 0, code, duration_ms: latency_ms = 0, ttft_ms } =
    record;
  const cost = costNanoUsd ?? callerCostNanoUsd;
  const shown = (payload: string | undefined) => payload && shortenPayload(payload, settings, redact);
  const bodies = level === "metadata"
    ? {}
    : { request: shown(payloads?.request()), response: shown(payloads?.response()) };
  return {
    type: "log",
    timestamp: record.timestamp,
    level,
    request_id: record.request_id,
    ...(client === undefined ? {} : { client }),
    ...(client_id === undefined ? {} : { client_id }),
    ...(team === undefined ? {} : { team }),
    ...(payloads?.user === undefined ? {} : { user: redact(payloads.user) }),
    ...(tags === undefined ? {} : { tags: redactAll(tags, redact) }),
    pool,
    model,
    provider,
    status,
    ...(code === undefined ? {} : { code }),
    latency_ms,
    ...(ttft_ms === undefined ? {} : { ttft_ms }),
    tokens_in: tokensIn ?? null,
    tokens_out: tokensOut ?? null,
    ...(tokensCached === undefined ? {} : { tokens_cached: tokensCached }),
    cost: cost === undefined ? null : cost / 1e9,
    ...(record.byok === undefined ? {} : { byok: record.byok }),
    ...(bodies.request === undefined ? {} : { request: bodies.request }),
    ...(bodies.response === undefined ? {} : { response: bodies.response }),
  };
}

/** Redacts and truncates a payload, in this order: a truncated secret would not be recognized. */
function shortenPayload(
  payload: string,
  { level, redactSecrets, maxPayloadSize }: LoggingSettings,
  redact: (text: string) => string,
): string {
  const body = redactSecrets ? redact(payload) : payload;
  const limited = level === "summary" && body.length > summaryLength
    ? `${body.slice(0, summaryLength)}${ellipsis}`
    : body;
  const bytes = new TextEncoder().encode(limited);
  if (bytes.length <= maxPayloadSize) return limited;
  // decoding as a stream drops an incomplete character at the end
  const start = new TextDecoder().decode(bytes.subarray(0, maxPayloadSize), { stream: true });
  return `${start}${ellipsis}`;
}
