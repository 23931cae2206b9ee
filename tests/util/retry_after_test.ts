import { assertEquals } from "@std/assert";
import { retryAfterMs } from "../../src/util/retry_after.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

Deno.test("retryAfterMs reads milliseconds, seconds and dates, and nothing that makes no sense", () => {
  const cases: readonly (readonly [Record<string, string>, number | undefined])[] = [
    [{}, undefined],
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after": "1.5" }, 1500],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after-ms": "abc", "retry-after": "9" }, 9000],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:10 GMT" }, 10_000],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:10 GMT", "date": "Thu, 01 Jan 2026 00:00:08 GMT" }, 2000],
    [{ "retry-after": "Thu, 01 Jan 2025 00:00:10 GMT" }, undefined],
    [{ "retry-after": "-1" }, undefined],
    [{ "retry-after": "0" }, undefined],
    [{ "retry-after": "abc" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": "1000000000000" }, 1e15],
  ];
  for (const [headers, expected] of cases) {
    assertEquals(retryAfterMs(new Headers(headers), now), expected, JSON.stringify(headers));
  }
});
