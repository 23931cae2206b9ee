/** What the dashboard counts of requests over time. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { RoutingRecord } from "../../src/contracts/events.ts";
import { Coverage } from "../../ui/coverage.ts";
import { Durations } from "../../ui/durations.ts";
import { type Grouping, Series } from "../../ui/series.ts";

const start = Date.UTC(2026, 0, 1);

/** A series whose records cover the time from `atMs` on. */
function seriesFrom(atMs: number): Series {
  const coverage = new Coverage();
  coverage.begin(start + atMs);
  return new Series(coverage);
}

function record(atMs: number, more: Partial<RoutingRecord> = {}): RoutingRecord {
  return {
    type: "routing",
    timestamp: new Date(start + atMs).toISOString(),
    request_id: "1",
    capability: null,
    pool: "chat",
    model: "a",
    provider: "a",
    delivery: "sync",
    fallback_chain: [{ model: more.model ?? "a", provider: "a", outcome: "ok", ms: 1 }],
    routing_latency_ms: 0,
    attempts: 1,
    status: 200,
    ...more,
  };
}

const minute = (series: Series, grouping: Grouping, atMs = 0) =>
  series.view({ now: start + atMs, seconds: 60, stepSeconds: 2, grouping });

Deno.test("Series counts requests, failures, failovers, tokens and cost", () => {
  const series = seriesFrom(-3_600_000);
  const failed = { model: "b", provider: "b", outcome: "rate_limited", status: 429, ms: 3 };
  series.add(record(0, { tokens_in: 5, tokens_out: 7, cost_usd: 0.25, duration_ms: 100 }));
  series.add(record(0, { fallback_chain: [failed, ...record(0).fallback_chain], duration_ms: 200, ttft_ms: 50 }));
  series.add(record(0, { status: 502, fallback_chain: [failed], duration_ms: 9000 }));
  series.add(record(0, { status: 499 }));
  const { total } = minute(series, "none");
  const { requests, failed: errors, saved, tokensIn, tokensOut, costUsd } = total;
  assertEquals({ requests, errors, saved, tokensIn, tokensOut, costUsd }, {
    requests: 4,
    errors: 1, // a client that left is none
    saved: 1,
    tokensIn: 5,
    tokensOut: 7,
    costUsd: 0.25,
  });
  assertAlmostEquals(total.latency.percentile(1)!, 200, 12, "the time of a failure is no latency");
  assertAlmostEquals(total.firstToken.percentile(0.5)!, 50, 3);
});

Deno.test("Series counts an attempt of each model that was asked, and failures of those that did not serve", () => {
  const series = seriesFrom(-3_600_000);
  const step = (model: string, outcome: string) => ({ model, provider: model, outcome, ms: 1 });
  series.add(record(0, { model: "well", fallback_chain: [step("sick", "server_error"), step("well", "ok")] }));
  series.add(record(0, { model: "well", fallback_chain: [step("sick", "hedge_lost"), step("well", "ok")] }));
  series.add(record(0, { model: "sick", status: 499, fallback_chain: [step("sick", "aborted")] }));
  series.add(record(0, { model: null, status: 503, fallback_chain: [] }));
  const { groups, total } = minute(series, "model");
  const counts = Object.fromEntries(
    groups.map((
      { name, total: { requests, attempts, failedAttempts } },
    ) => [name, [requests, attempts, failedAttempts]]),
  );
  assertEquals(counts, { sick: [1, 3, 1], well: [2, 2, 0], "no model": [1, 0, 0] });
  assertEquals([total.requests, total.attempts, total.failedAttempts], [4, 5, 1]);
});

Deno.test("Series puts requests into points of a window, and those before it nowhere", () => {
  const series = seriesFrom(-3_600_000);
  for (const atMs of [-61_000, -59_000, -2000, -1000, 0, 0]) series.add(record(atMs));
  const { times, groups, total } = minute(series, "none", 1000);
  assertEquals(times.length, 30);
  assertEquals(times.at(-1), start / 1000);
  assertEquals(total.requests, 4, "59 s ago is before the first whole point");
  assertEquals(groups[0]!.points.map((point) => point?.requests ?? 0).slice(-2), [2, 2]);
});

Deno.test("Series groups by pool, model and client, the busiest first and the others together", () => {
  const series = seriesFrom(-3_600_000);
  for (let model = 1; model <= 12; model++) {
    for (let times = 0; times < model; times++) series.add(record(0, { model: `m${model}`, client: `c${model % 2}` }));
  }
  const names = minute(series, "model").groups.map(({ name, total }) => `${name} ${total.requests}`);
  assertEquals(names, ["m12 12", "m11 11", "m10 10", "m9 9", "m8 8", "m7 7", "m6 6", "others 15"]);
  assertEquals(minute(series, "pool").groups.map(({ name }) => name), ["chat"]);
  assertEquals(minute(series, "client").groups.map(({ name, total }) => [name, total.requests]), [["c0", 42], [
    "c1",
    36,
  ]]);
  series.add(record(0, { model: null }));
  assert(minute(series, "client").groups.some(({ name }) => name === "no name"));
});

Deno.test("Series keeps an hour, in coarser points, and no more", () => {
  const series = seriesFrom(-3_600_000);
  for (let seconds = 0; seconds < 3 * 3600; seconds += 5) series.add(record(seconds * 1000));
  const now = start + (3 * 3600 - 1) * 1000;
  const hour = series.view({ now, seconds: 3600, stepSeconds: 60, grouping: "none" });
  assertEquals(hour.total.requests, 720);
  const older = series.view({ now: now - 2 * 3600 * 1000, seconds: 3600, stepSeconds: 60, grouping: "none" });
  assertEquals(older.total.requests, 0);
});

Deno.test("Series says how much of a window and of each point its records cover", () => {
  const { seconds, totalSeconds } = minute(seriesFrom(-3500), "none", 1000);
  assertEquals(seconds.slice(-4), [0, 1.5, 2, 1], "the last point has only begun");
  assertEquals(totalSeconds, 4.5);
});

Deno.test("Series adds points up to groups and groups to the whole", () => {
  const series = seriesFrom(-60_000);
  for (const [atMs, model] of [[-9000, "a"], [-9000, "b"], [-3000, "a"], [0, "a"]] as const) {
    series.add(record(atMs, { model, duration_ms: 100, cost_usd: 0.5 }));
  }
  const { total, groups } = minute(series, "model", 500);
  assertEquals(groups.map(({ name, total }) => [name, total.requests, total.costUsd]), [["a", 3, 1.5], ["b", 1, 0.5]]);
  assertEquals([total.requests, total.costUsd], [4, 2]);
  assertAlmostEquals(total.latency.percentile(0.5)!, 100, 6);
});

Deno.test("Series takes no record without a time", () => {
  const series = seriesFrom(-3_600_000);
  series.add(record(0, {}));
  series.add({ ...record(0), timestamp: "yesterday" });
  assertEquals(minute(series, "none").total.requests, 1);
});

Deno.test("Durations takes longer and shorter ones in any order", () => {
  const durations = new Durations();
  for (const ms of [100, 10_000, 1, 100]) durations.add(ms);
  assertAlmostEquals(durations.percentile(0.25)!, 1, 0.2);
  assertAlmostEquals(durations.percentile(0.5)!, 100, 6);
  assertAlmostEquals(durations.percentile(1)!, 10_000, 600);
});

Deno.test("Durations gives percentiles by nearest rank within 3 %, and none of nothing", () => {
  const durations = new Durations();
  assertEquals(durations.percentile(0.5), undefined);
  for (let ms = 1; ms <= 1000; ms++) durations.add(ms);
  for (const share of [0.01, 0.5, 0.95, 1]) assertAlmostEquals(durations.percentile(share)! / (share * 1000), 1, 0.05);
  const both = new Durations();
  both.addAll(durations);
  both.add(10 ** 9);
  assert(both.percentile(1)! > 10 ** 6);
  assertEquals(both.percentile(0.5), durations.percentile(0.5));
});
