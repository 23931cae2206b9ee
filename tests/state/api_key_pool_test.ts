/** Keys of one provider: which of them rest, and what that means for the model. */
import { assertEquals, assertFalse, assertNotEquals } from "@std/assert";
import { PooledRateLimiter } from "../../src/state/limits/pooled_rate_limiter.ts";
import { ApiKeyPool, type RejectedCall } from "../../src/state/limits/api_key_pool.ts";
import { mergeApiKeys, writeApiKeys } from "../../src/state/persistence/snapshot.ts";

const keys = ["canary-one", "canary-two", "canary-three"];
const times = { cooldownMs: 60_000, quotaMs: 3_600_000 };
const wall = Date.UTC(2026, 0, 1);

function refusal(kind: RejectedCall["kind"], seconds?: number): RejectedCall {
  return { kind, message: kind, ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1000 }) };
}

/** Refuses the keys in turn, at a time; what the last refusal means for the model. */
function refusedBy(refusals: readonly RejectedCall[], now = 0): [kind: string | undefined, waitMs: number | undefined] {
  const ring = new ApiKeyPool("a", keys);
  const verdicts = refusals.map((one, place) => ring.reject(ring.keys[place]!, "m", { call: one, at: { now, times } }));
  const { refusal } = verdicts.at(-1)!;
  return [refusal?.kind, refusal?.retryAfterMs];
}

Deno.test("ApiKeyPool reports of all keys the mildest refusal, and the soonest end of it", () => {
  const table: readonly (readonly [RejectedCall[], string | undefined, number | undefined])[] = [
    [[refusal("auth"), refusal("auth")], undefined, undefined],
    [[refusal("auth"), refusal("auth"), refusal("auth")], "auth", 60_000],
    [[refusal("auth"), refusal("quota_exhausted"), refusal("auth")], "quota_exhausted", 3_600_000],
    [[refusal("quota_exhausted"), refusal("quota_exhausted", 5), refusal("auth")], "quota_exhausted", 5_000],
    [[refusal("quota_exhausted"), refusal("rate_limited", 90), refusal("auth")], "rate_limited", 90_000],
    [[refusal("rate_limited", 90), refusal("rate_limited", 7), refusal("rate_limited", 30)], "rate_limited", 7_000],
    [[refusal("rate_limited"), refusal("rate_limited"), refusal("rate_limited")], "rate_limited", undefined],
    [[refusal("rate_limited", 7), refusal("rate_limited"), refusal("auth")], "rate_limited", 7_000],
  ];
  for (const [refusals, kind, waitMs] of table) assertEquals(refusedBy(refusals), [kind, waitMs]);
});

Deno.test("ApiKeyPool passes over failures that are not about the key", () => {
  const ring = new ApiKeyPool("a", keys);
  for (const kind of ["network", "timeout", "server", "request", "model_not_found", "misconfigured"] as const) {
    assertEquals(ring.reject(ring.keys[0]!, "m", { call: refusal(kind), at: { now: 0, times } }), undefined);
  }
  assertEquals(writeApiKeys(ring, { wallTimeMs: wall, monotonicMs: 0 }), []);
});

Deno.test("ApiKeyPool takes several refusals at once for one, and doubles up to ten minutes", () => {
  const ring = new ApiKeyPool("a", keys);
  const rests: number[] = [];
  let now = 0;
  while (rests.length < 6) {
    const standbyMs = ring.reject(ring.keys[0]!, "m", { call: refusal("auth"), at: { now, times } })!.standbyMs;
    assertEquals(
      ring.reject(ring.keys[0]!, "m", { call: refusal("auth"), at: { now: now + 10, times } })!.standbyMs,
      standbyMs - 10,
    );
    rests.push(standbyMs / 60_000);
    now += standbyMs;
  }
  assertEquals(rests, [1, 2, 4, 8, 10, 10]);
});

Deno.test("ApiKeyPool lets a later hint extend a standby, and an earlier one never shorten it", () => {
  const ring = new ApiKeyPool("a", keys);
  const until = (seconds: number) => {
    ring.reject(ring.keys[0]!, "m", { call: refusal("rate_limited", seconds), at: { now: 0, times } });
    return ring.standbyUntil(ring.keys[0]!, "m", 0);
  };
  assertEquals([until(30), until(10), until(50), until(10 * 86_400)], [30_000, 30_000, 50_000, 86_400_000]);
});

Deno.test("ApiKeyPool counts no success of a call that began before the key was refused", () => {
  const ring = new ApiKeyPool("a", keys);
  ring.reject(ring.keys[0]!, "m", { call: refusal("auth"), at: { now: 1000, times } });
  ring.reject(ring.keys[0]!, "m", { call: refusal("rate_limited", 300), at: { now: 1000, times } });
  ring.recordSuccess(ring.keys[0]!, "m", 999);
  assertEquals(ring.standbyUntil(ring.keys[0]!, "other", 1000) !== undefined, true);
  ring.recordSuccess(ring.keys[0]!, "m", 1000);
  assertEquals([ring.standbyUntil(ring.keys[0]!, "other", 1000), ring.standbyUntil(ring.keys[0]!, "m", 1000)], [
    undefined,
    undefined,
  ]);
});

Deno.test("ApiKeyPool: a standby that a later rejection extends is one standby; calls from before that rejection end nothing", () => {
  const ring = new ApiKeyPool("a", keys);
  const [key] = ring.keys;
  ring.reject(key!, "m", { call: refusal("rate_limited", 30), at: { now: 1000, times } });
  ring.reject(key!, "m", { call: refusal("rate_limited", 60), at: { now: 3000, times } });
  ring.recordSuccess(key!, "m", 2000);
  const { since, until } = key!.openBreaker("m", 3000)!.standby!;
  assertEquals([since, until], [1000, 63_000]);
  ring.recordSuccess(key!, "m", 3000);
  assertEquals(key!.openBreaker("m", 3000), undefined);
});

Deno.test("ApiKeyPool keeps a key that may be tried again at once", () => {
  const ring = new ApiKeyPool("a", keys);
  const { standbyMs, refusal: ofAll } = ring.reject(ring.keys[0]!, "m", {
    call: refusal("rate_limited", 0),
    at: { now: 5, times },
  })!;
  assertEquals([standbyMs, ofAll, ring.standbyUntil(ring.keys[0]!, "m", 5)], [0, undefined, undefined]);
});

Deno.test("ApiKeyPool is rejected when every key is, as long as they are in standby", () => {
  const ring = new ApiKeyPool("a", keys.slice(0, 2));
  ring.reject(ring.keys[0]!, "m", { call: refusal("auth"), at: { now: 0, times } });
  assertFalse(ring.isRejected(0));
  assertEquals(ring.usable(0), "canary-two");
  ring.reject(ring.keys[1]!, "m", { call: refusal("auth"), at: { now: 30_000, times } });
  assertEquals([ring.isRejected(30_000), ring.usable(30_000)], [true, "canary-one"]);
  assertFalse(ring.isRejected(60_000));
});

Deno.test("ApiKeyPool stores standbys by the wall clock, with another mark each time and nothing of the key", () => {
  const ring = new ApiKeyPool("a", keys);
  ring.reject(ring.keys[1]!, "m", { call: refusal("rate_limited", 90), at: { now: 500, times } });
  const [one] = writeApiKeys(ring, { wallTimeMs: wall, monotonicMs: 1500 });
  const [other] = writeApiKeys(ring, { wallTimeMs: wall + 1, monotonicMs: 1501 });
  assertEquals(one, { provider: "a", key: one!.key, model: "m", reason: "rate_limited", until: wall + 89_000 });
  assertNotEquals(one!.key, other!.key);
  assertEquals(/^[0-9a-f]{8}$/.test(one!.key), true);
});

Deno.test("ApiKeyPool restores standbys for what is left of them; of another process's the later end holds", () => {
  const before = new ApiKeyPool("a", keys);
  before.reject(before.keys[0]!, "m", { call: refusal("auth"), at: { now: 0, times } });
  before.reject(before.keys[1]!, "m", { call: refusal("rate_limited", 300), at: { now: 0, times } });
  const saved = writeApiKeys(before, { wallTimeMs: wall, monotonicMs: 0 });
  const ring = new ApiKeyPool("a", [...keys].reverse());
  mergeApiKeys(ring, { keys: saved, savedAt: wall, now: { wallTimeMs: wall + 60_000, monotonicMs: 5 } });
  assertEquals(ring.keys.map((key) => ring.standbyUntil(key, "m", 5)), [undefined, 240_005, undefined]);
  ring.reject(ring.keys[1]!, "m", { call: refusal("rate_limited", 500), at: { now: 5, times } });
  mergeApiKeys(ring, { keys: saved, savedAt: wall, now: { wallTimeMs: wall + 60_000, monotonicMs: 5 } });
  assertEquals(ring.standbyUntil(ring.keys[1]!, "m", 5), 500_005);
  ring.reset();
  assertEquals(ring.standbyUntil(ring.keys[1]!, "m", 5), undefined);
});

Deno.test("ApiKeyPool makes no standby longer when the wall clock went back", () => {
  const before = new ApiKeyPool("a", keys);
  before.reject(before.keys[0]!, "m", { call: refusal("rate_limited", 60), at: { now: 0, times } });
  const ring = new ApiKeyPool("a", keys);
  const keysBefore = writeApiKeys(before, { wallTimeMs: wall, monotonicMs: 0 });
  mergeApiKeys(ring, { keys: keysBefore, savedAt: wall, now: { wallTimeMs: wall - 86_400_000, monotonicMs: 0 } });
  assertEquals(ring.standbyUntil(ring.keys[0]!, "m", 0), 60_000);
});

Deno.test("KeyedRates sums what its keys have left, and waits for the first that has room", () => {
  const ring = new ApiKeyPool("a", keys.slice(0, 2));
  const rates = new PooledRateLimiter(ring, "m", { limits: { rpm: 2, concurrent: 1 } });
  const taken = [rates.reserve(0, 0), rates.reserve(1000, 0)];
  assertEquals(taken.map(({ apiKey }) => apiKey?.value), keys.slice(0, 2));
  assertEquals([rates.fullUntil(2000, 0), rates.rpm(2000), rates.lastStartedAt], [Infinity, 2, 1000]);
  for (const one of taken) one.settle({}, 2000);
  assertEquals({ ...rates.requests(2000) }, { limit: 4, left: 2 });
  ring.reject(ring.keys[0]!, "m", { call: refusal("auth"), at: { now: 2000, times } });
  assertEquals({ ...rates.requests(2000) }, { limit: 2, left: 1 });
  rates.reserve(2000, 0).release(2000);
  const last = rates.reserve(2000, 0);
  last.settle({}, 2000);
  assertEquals([last.apiKey?.value, rates.fullUntil(2000, 0) === undefined], ["canary-two", false]);
});

Deno.test("ApiKeyPool keeps a key that is in the new list, and its standby", () => {
  const ring = new ApiKeyPool("a", keys.slice(0, 2));
  const [one, two] = ring.keys;
  const rates = new PooledRateLimiter(ring, "m");
  ring.reject(two!, "m", { call: refusal("rate_limited", 30), at: { now: 0, times } });
  ring.replace(["canary-four", "canary-two"]);
  const until = ring.keys.map((key) => [key.value, ring.standbyUntil(key, "m", 0)]);
  assertEquals(until, [["canary-four", undefined], ["canary-two", 30_000]]);
  const late = ring.reject(one!, "m", { call: refusal("auth"), at: { now: 0, times } })!;
  assertEquals([late.isNew, late.refusal], [false, undefined], "a call with the old key was under way");
  assertEquals([rates.reserve(0, 0).apiKey?.value, rates.reserve(0, 0).apiKey?.value], ["canary-four", "canary-four"]);
});
