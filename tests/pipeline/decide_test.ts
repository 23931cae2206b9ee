import { assertEquals } from "@std/assert";
import type { RetrySettings } from "../../src/config/settings/settings.ts";
import { decide, type NextStep, type RetryContext, type Rotate } from "../../src/pipeline/decide.ts";
import type { Failure } from "../../src/pipeline/failure.ts";

const settings: RetrySettings = {
  maxAttempts: 2,
  backoff: "exponential_jitter",
  initialDelayMs: 500,
  maxDelayMs: 10_000,
  retryableCodes: new Set([408, 409, 425, 429, 500, 502, 503, 504, 529]),
  nonRetryableCodes: new Set([400, 401, 403, 404, 413, 422]),
  scope: "any",
  honorRetryAfter: true,
};

const failure = (facts: Partial<Failure>): Failure => ({
  kind: "server",
  message: "",
  neverSent: false,
  retryable: true,
  ...facts,
});

const around = (facts: Partial<RetryContext> = {}): RetryContext => ({
  retries: 0,
  settings,
  alone: false,
  remainingMs: 600_000,
  tryLimitMs: 240_000,
  random: () => 0.5,
  ...facts,
});

const rotate: Rotate = { step: "rotate" };
const retry = (delayMs: number, otherwise: Rotate = rotate): NextStep => ({ step: "retry", delayMs, otherwise });
const standby = (standbyMs: number): Rotate => ({ step: "rotate", standby: { reason: "rate_limited", standbyMs } });
const unhinted = { ...settings, honorRetryAfter: false };

const cases: readonly (readonly [string, Partial<Failure>, Partial<RetryContext>, NextStep])[] = [
  ["500 is retried after half of the cap", { status: 500 }, {}, retry(250)],
  ["the cap doubles", { status: 500 }, { retries: 1 }, retry(500)],
  ["after max_attempts it rotates", { status: 500 }, { retries: 2 }, rotate],
  ["400 rotates", { kind: "request", status: 400, retryable: false }, {}, rotate],
  ["401 rotates", { kind: "auth", status: 401, retryable: false }, {}, rotate],
  ["a code in neither list goes by its class: retryable", { status: 520 }, {}, retry(250)],
  [
    "a code in neither list goes by its class: not",
    { kind: "misconfigured", status: 451, retryable: false },
    {},
    rotate,
  ],
  ["an error under 200 goes by its class", { status: 200, kind: "rate_limited" }, {}, retry(250)],
  [
    "a hint within the cap of the try is waited for",
    { kind: "rate_limited", status: 429, retryAfterMs: 400 },
    {},
    retry(400, standby(400)),
  ],
  [
    "a hint beyond it rotates and asks for a standby",
    { kind: "rate_limited", status: 429, retryAfterMs: 2000 },
    {},
    standby(2000),
  ],
  ["alone, a hint within max_delay is waited for", { kind: "rate_limited", status: 429, retryAfterMs: 2000 }, {
    alone: true,
  }, retry(2000, standby(2000))],
  [
    "alone, a hint beyond max_delay means standby",
    { kind: "rate_limited", status: 429, retryAfterMs: 11_000 },
    { alone: true },
    standby(11_000),
  ],
  [
    "a standby lasts 24 h at the most",
    { kind: "rate_limited", status: 429, retryAfterMs: 1e12 },
    {},
    standby(86_400_000),
  ],
  [
    "a hint after the last retry asks for a standby",
    { kind: "server", status: 503, retryAfterMs: 100 },
    { retries: 2 },
    standby(100),
  ],
  ["honor_retry_after: false ignores hints", { kind: "rate_limited", status: 429, retryAfterMs: 5000 }, {
    settings: unhinted,
  }, retry(250)],
  ["backoff retry_after follows hints", { kind: "rate_limited", status: 429, retryAfterMs: 400 }, {
    settings: { ...unhinted, backoff: "retry_after" },
  }, retry(400, standby(400))],
  [
    "backoff retry_after waits for a hint up to max_delay, beside other models too",
    {
      kind: "rate_limited",
      status: 429,
      retryAfterMs: 10_000,
    },
    { settings: { ...settings, backoff: "retry_after" } },
    retry(10_000, standby(10_000)),
  ],
  [
    "backoff retry_after rotates at a hint beyond max_delay",
    {
      kind: "server",
      status: 503,
      retryAfterMs: 10_001,
    },
    { settings: { ...settings, backoff: "retry_after" } },
    standby(10_001),
  ],
  ["backoff fixed waits for a hint within its delay", { kind: "rate_limited", status: 429, retryAfterMs: 400 }, {
    settings: { ...settings, backoff: "fixed" },
  }, retry(400, standby(400))],
  ["backoff fixed rotates at a longer hint", { kind: "rate_limited", status: 429, retryAfterMs: 2000 }, {
    retries: 1,
    settings: { ...settings, backoff: "fixed" },
  }, standby(2000)],
  ["backoff retry_after without one jitters", { kind: "rate_limited", status: 429 }, {
    settings: { ...settings, backoff: "retry_after" },
  }, retry(250)],
  ["fixed waits the same", { status: 500 }, { retries: 1, settings: { ...settings, backoff: "fixed" } }, retry(500)],
  ["x-should-retry: false is heeded", { status: 500, shouldRetry: false }, {}, rotate],
  ["no retry past the deadline", { status: 500 }, { remainingMs: 200 }, rotate],
  ["a timeout rotates, however much time is left", { kind: "timeout" }, {}, rotate],
  ["a timeout rotates although its status is retried", { kind: "timeout", status: 503 }, {}, rotate],
  ["alone, a timeout is retried", { kind: "timeout" }, { alone: true }, retry(250)],
  ["unless the deadline would cut it short", { kind: "timeout" }, { alone: true, remainingMs: 240_250 }, rotate],
  ["and if it just would not", { kind: "timeout" }, { alone: true, remainingMs: 240_251 }, retry(250)],
  ["an unreachable host rotates", { kind: "network", neverSent: true }, {}, rotate],
  ["alone, it is retried", { kind: "network", neverSent: true }, { alone: true }, retry(250)],
  ["a broken connection is retried", { kind: "network" }, {}, retry(250)],
  ["an exhausted quota is never retried", { kind: "quota_exhausted", status: 429 }, { alone: true }, {
    step: "rotate",
    standby: { reason: "quota_exhausted" },
  }],
  ["a model that is not there is never retried", { kind: "model_not_found", status: 404 }, { alone: true }, {
    step: "rotate",
    standby: { reason: "model_not_found" },
  }],
  ["404 configured as retryable is retried", { kind: "misconfigured", status: 404, retryable: false }, {
    settings: { ...settings, retryableCodes: new Set([404]), nonRetryableCodes: new Set() },
  }, retry(250)],
];

for (const [name, facts, context, expected] of cases) {
  Deno.test(`decide(): ${name}`, () => {
    assertEquals(decide(failure(facts), around(context)), expected);
  });
}

Deno.test("decide() keeps every delay within the cap, for any chance", () => {
  for (let seed = 0; seed < 1000; seed++) {
    for (let retries = 0; retries < 2; retries++) {
      const step = decide(failure({ status: 500 }), around({ retries, random: () => seed / 1000 }));
      const delay = step.step === "retry" ? step.delayMs : NaN;
      assertEquals(delay >= 0 && delay <= 500 * 2 ** retries, true);
    }
  }
});
