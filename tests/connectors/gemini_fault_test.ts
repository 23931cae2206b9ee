import { assertEquals, assertStringIncludes } from "@std/assert";
import { readGeminiWait } from "../../connectors/providers/_gemini_fault.ts";
import type { FailureKind } from "../../src/contracts/provider.ts";
import { bytes, catchFailure, complete, events, fixture, json, now, provider, stream } from "./_gemini.ts";

const hourMs = 60 * 60 * 1000;

/** An error response as the API words it. */
function said(code: number, status: string, message: string): string {
  return JSON.stringify({ error: { code, message, status } });
}

Deno.test("an error response keeps its message and is classed by status, reason and words", async () => {
  const cases: [number, string, FailureKind, string | null, string][] = [
    [400, await fixture("error_invalid_key.json"), "auth", "invalid_api_key", "authentication_error"],
    [
      400,
      said(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key."),
      "auth",
      "invalid_api_key",
      "authentication_error",
    ],
    [400, await fixture("error_bad_field.json"), "request", "invalid_argument", "invalid_request_error"],
    [
      400,
      said(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).",
      ),
      "request",
      "context_length_exceeded",
      "invalid_request_error",
    ],
    [
      400,
      said(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
      "auth",
      "unsupported_country_region_territory",
      "permission_error",
    ],
    [
      401,
      said(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
      "auth",
      "unauthenticated",
      "authentication_error",
    ],
    [
      403,
      said(403, "PERMISSION_DENIED", "Your API key was reported as leaked."),
      "auth",
      "permission_denied",
      "permission_error",
    ],
    [
      404,
      said(
        404,
        "NOT_FOUND",
        "models/gemini-99 is not found for API version v1beta, or is not supported for generateContent.",
      ),
      "model_not_found",
      "model_not_found",
      "invalid_request_error",
    ],
    [
      404,
      said(404, "NOT_FOUND", "Requested entity was not found."),
      "misconfigured",
      "not_found",
      "invalid_request_error",
    ],
    [404, "<html>nginx</html>", "misconfigured", null, ""],
    [429, await fixture("error_minute.json"), "rate_limited", "rate_limit_exceeded", "rate_limit_error"],
    [429, await fixture("error_day.json"), "rate_limited", "rate_limit_exceeded", "rate_limit_error"],
    [
      429,
      said(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."),
      "quota_exhausted",
      "insufficient_quota",
      "insufficient_quota",
    ],
    [
      429,
      said(429, "RESOURCE_EXHAUSTED", "Your project has exceeded its monthly spending cap."),
      "quota_exhausted",
      "insufficient_quota",
      "insufficient_quota",
    ],
    [500, said(500, "INTERNAL", "An internal error has occurred."), "server", "internal", "server_error"],
    [503, await fixture("error_unavailable.json"), "server", "unavailable", "server_error"],
    [504, said(504, "DEADLINE_EXCEEDED", "The request timed out."), "server", "deadline_exceeded", "server_error"],
    [502, "", "server", null, ""],
    [
      429,
      '{"error":{"message":"Slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}',
      "rate_limited",
      "rate_limit_exceeded",
      "rate_limit_error",
    ],
  ];
  for (const [status, body, kind, code, type] of cases) {
    const failure = await catchFailure(() => complete(json(body, status)));
    assertEquals([failure.kind, failure.fault?.status], [kind, status], body);
    assertEquals([failure.fault?.error.code, failure.fault?.error.type], [code, type], body);
    assertEquals(provider().classifyError(failure), kind);
  }
});

Deno.test("an error response names the field at fault", async () => {
  const failure = await catchFailure(async () => complete(json(await fixture("error_bad_field.json"), 400)));
  assertEquals(failure.fault?.error.param, "generation_config.temperature");
  assertStringIncludes(failure.message, "Invalid value at");
});

Deno.test("a wait is read from the body, else from the header", async () => {
  const minute = await catchFailure(async () => complete(json(await fixture("error_minute.json"), 429)));
  assertEquals(minute.fault?.retryAfterMs, 34_000);
  const header = await catchFailure(() => complete(json("{}", 503, { "retry-after": "2" })));
  assertEquals(header.fault?.retryAfterMs, 2_000);
});

Deno.test("a spent daily quota waits for midnight in California, whatever its delay says", async () => {
  const failure = await catchFailure(async () => complete(json(await fixture("error_day.json"), 429)));
  assertEquals(failure.fault?.retryAfterMs, 20 * hourMs);
  const body = JSON.parse(await fixture("error_day.json"));
  const inSummer = Date.UTC(2026, 6, 1, 6, 59, 30);
  assertEquals(readGeminiWait(body, inSummer), 36_000);
  assertEquals(readGeminiWait(body, inSummer - 6 * hourMs), 6 * hourMs + 30_000);
});

Deno.test("a delay may have fractions, and none makes no wait", () => {
  const waits: [unknown, number | undefined][] = [
    ["1.5s", 1_500],
    ["34.074824224s", 34_075],
    ["0s", undefined],
    ["soon", undefined],
    [12, undefined],
  ];
  for (const [retryDelay, wait] of waits) {
    assertEquals(readGeminiWait({ error: { details: [{ retryDelay }] } }, now), wait, String(retryDelay));
  }
  assertEquals(readGeminiWait("no JSON", now), undefined);
});

Deno.test("an error inside a response that began well is classed by what it says of itself", async () => {
  const cases: [string, FailureKind, number][] = [
    [said(503, "UNAVAILABLE", "High demand."), "server", 503],
    ['{"error":{"status":"RESOURCE_EXHAUSTED","message":"Later."}}', "rate_limited", 429],
    ['{"error":{"status":"SOMETHING_NEW","message":"Hm."}}', "server", 200],
    [await fixture("error_invalid_key.json"), "auth", 400],
    [await fixture("error_unavailable.json"), "server", 503],
    [said(400, "FAILED_PRECONDITION", "User location is not supported for the API use."), "auth", 400],
  ];
  for (const [body, kind, status] of cases) {
    const flat = JSON.stringify(JSON.parse(body));
    const whole = await catchFailure(() => complete(json(body)));
    assertEquals([whole.kind, whole.fault?.status], [kind, status], body);
    const streamed = await catchFailure(() => stream(events(bytes(`data: ${flat}\n\n`))));
    assertEquals([streamed.kind, streamed.fault?.status], [kind, status], body);
  }
  const minute = await catchFailure(async () => complete(json(await fixture("error_minute.json"))));
  assertEquals(minute.fault?.retryAfterMs, 34_000);
});
