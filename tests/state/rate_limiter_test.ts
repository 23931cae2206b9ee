import { assertEquals } from "@std/assert";
import { fakeClock } from "../../src/runtime/test.ts";
import { RateLimiter } from "../../src/state/limits/rate_limiter.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Whether one more request would exceed a limit. */
function isFull(limiter: RateLimiter, now: number, tokens: number): boolean {
  return limiter.fullUntil(now, tokens) !== undefined;
}

/** Reserves and settles so many requests, one after the other. */
function serve(meter: RateLimiter, now: number, { requests, tokens = 0 }: { requests: number; tokens?: number }): void {
  for (let count = 0; count < requests; count++) meter.reserve(now, tokens).settle({}, now);
}

Deno.test("without a limit a rate limiter knows no headroom and is never full", () => {
  const meter = new RateLimiter();
  serve(meter, 0, { requests: 1000, tokens: 1e9 });
  assertEquals([meter.requests(0), meter.tokens(0), isFull(meter, 0, 1e9)], [undefined, undefined, false]);
  assertEquals([meter.rpm(0), meter.rpm(59_999), meter.rpm(61_000)], [1000, 1000, 0]);
});

Deno.test("declared limits a minute and a UTC day hold, and come back as requests leave the window, and at midnight", () => {
  const meter = new RateLimiter({ rpm: 3, rpd: 5 });
  assertEquals(meter.requests(0), { limit: 3, left: 3 });
  serve(meter, 0, { requests: 3 });
  assertEquals(meter.requests(0), { limit: 3, left: 0 });
  assertEquals([isFull(meter, 0, 1), meter.fullUntil(0, 1)], [true, 61_000]);
  assertEquals([isFull(meter, 60_000, 1), isFull(meter, 61_000, 1)], [true, false]);
  serve(meter, 61_000, { requests: 2 });
  assertEquals(meter.requests(61_000), { limit: 5, left: 0 });
  assertEquals(meter.fullUntil(61_000, 1), dayMs);
  assertEquals([isFull(meter, dayMs - 1, 1), isFull(meter, dayMs, 1)], [true, false]);
});

Deno.test("each limit comes back by itself, without anything happening in between", () => {
  const cases = [[{ rpm: 1 }, 61_000], [{ tpm: 1 }, 61_000], [{ rpd: 1 }, dayMs]] as const;
  for (const [limits, back] of cases) {
    const meter = new RateLimiter(limits);
    serve(meter, 0, { requests: 1, tokens: 1 });
    const full = [0, back - 1, back].map((now) => isFull(meter, now, 1));
    assertEquals(full, [true, true, false], JSON.stringify(limits));
    serve(meter, back, { requests: 1, tokens: 1 });
    const left = [back, 2 * back].map((now) => (meter.requests(now) ?? meter.tokens(now))?.left);
    assertEquals(left, [0, 1], JSON.stringify(limits));
  }
});

Deno.test("a limit of tokens holds for what was reserved, then for what was used", () => {
  const meter = new RateLimiter({ tpm: 1000 });
  const reservation = meter.reserve(0, 800);
  assertEquals([isFull(meter, 0, 200), isFull(meter, 0, 201)], [false, true]);
  for (let count = 0; count < 3; count++) reservation.settle({ tokens: 100 }, 5000);
  assertEquals([isFull(meter, 5000, 900), isFull(meter, 5000, 901)], [false, true]);
  const second = meter.reserve(7000, 100);
  assertEquals(meter.tokens(7000), { limit: 1000, left: 800 });
  second.settle({ tokens: 850 }, 7000);
  assertEquals(meter.tokens(7000), { limit: 1000, left: 50 });
  // A response that took more than its reservation after that has left the window: the rest counts from then on.
  const slow = meter.reserve(100_000, 10);
  slow.settle({ tokens: 510 }, 200_000);
  assertEquals(meter.tokens(200_000), { limit: 1000, left: 500 });
});

Deno.test("a request larger than a whole limit fits when nothing else is counted", () => {
  const meter = new RateLimiter({ tpm: 1000 });
  assertEquals(isFull(meter, 0, 5000), false);
  serve(meter, 0, { requests: 1, tokens: 1 });
  assertEquals(meter.fullUntil(0, 5000), 61_000);
  const reported = new RateLimiter();
  reported.reserve(0, 0).observe(0, { tokens: { limit: 1000, remaining: 1000 } });
  assertEquals([isFull(reported, 0, 5000), reported.fullUntil(0, 5000)], [false, undefined]);
});

Deno.test("of several limits the one with the smallest share left is the headroom", () => {
  const meter = new RateLimiter({ rpm: 10, rpd: 100 });
  for (let minute = 0; minute < 10; minute++) serve(meter, minute * 2 * minuteMs, { requests: 9 });
  serve(meter, 20 * minuteMs, { requests: 5 });
  assertEquals(meter.requests(20 * minuteMs), { limit: 100, left: 5 });
});

Deno.test("requests at once are limited until one of them ends", () => {
  const meter = new RateLimiter({ concurrent: 2 });
  const [one, two] = [meter.reserve(0, 1), meter.reserve(0, 1)];
  assertEquals([meter.inFlight, isFull(meter, 0, 1), meter.fullUntil(0, 1)], [2, true, Infinity]);
  one.settle({}, 10);
  one.settle({}, 10);
  assertEquals([meter.inFlight, isFull(meter, 10, 1), meter.fullUntil(10, 1)], [1, false, undefined]);
  two.release(10);
  two.settle({}, 10);
  assertEquals(meter.inFlight, 0);
});

Deno.test("a request that never left counts for nothing", () => {
  const meter = new RateLimiter({ rpm: 2, rpd: 2, tpm: 100 });
  meter.reserve(0, 100).release(500);
  assertEquals([meter.requests(500), meter.tokens(500)], [{ limit: 2, left: 2 }, { limit: 100, left: 100 }]);
  const sent = meter.reserve(1000, 0);
  sent.observe(1100, { requests: { limit: 2, remaining: 1, resetMs: 30_000 } });
  const unsent = meter.reserve(1200, 0);
  assertEquals(isFull(meter, 1200, 0), true);
  unsent.release(1300);
  assertEquals(isFull(meter, 1300, 0), false);
});

Deno.test("what the vendor says is left overrides local counts, and what is reserved after it counts against it", () => {
  const meter = new RateLimiter({ rpm: 100, tpm: 1000 });
  const first = meter.reserve(0, 10);
  const second = meter.reserve(20_000, 10);
  second.observe(20_100, {
    requests: { limit: 60, remaining: 5, resetMs: 30_000 },
    tokens: { limit: 5000, remaining: 4000, resetMs: 30_000 },
  });
  assertEquals([meter.requests(20_100), meter.tokens(20_100)], [
    { limit: 60, left: 5 },
    { limit: 5000, left: 4000 },
  ]);
  const third = meter.reserve(20_200, 500);
  assertEquals([{ ...meter.requests(20_200) }, { ...meter.tokens(20_200) }], [
    { limit: 60, left: 4 },
    { limit: 5000, left: 3500 },
  ]);
  third.settle({ tokens: 200 }, 21_000);
  assertEquals(meter.tokens(21_000), { limit: 5000, left: 3800 });
  first.settle({ tokens: 5000 }, 21_000); // the vendor's count had it already
  assertEquals(meter.tokens(21_000), { limit: 5000, left: 3800 });
});

Deno.test("a late reading of an older request gives nothing back", () => {
  const meter = new RateLimiter();
  const old = meter.reserve(0, 0);
  const newer = meter.reserve(5000, 0);
  newer.observe(6000, { requests: { limit: 10, remaining: 2, resetMs: 60_000 } });
  old.observe(7000, { requests: { limit: 10, remaining: 9, resetMs: 1 } });
  assertEquals(meter.requests(7000), { limit: 10, left: 2 });

  const alone = new RateLimiter();
  const first = alone.reserve(0, 0);
  for (let count = 0; count < 4; count++) alone.reserve(1000, 0);
  first.observe(9000, { requests: { limit: 10, remaining: 9, resetMs: 60_000 } });
  assertEquals(alone.requests(9000), { limit: 10, left: 5 });

  const dear = new RateLimiter();
  const asked = dear.reserve(0, 10);
  dear.reserve(1000, 10).settle({ tokens: 400 }, 2000);
  asked.observe(3000, { tokens: { limit: 1000, remaining: 900, resetMs: 60_000 } });
  assertEquals(dear.tokens(3000), { limit: 1000, left: 500 });
});

Deno.test("requests sent at nearly the same time may overtake one another on their way", () => {
  const meter = new RateLimiter();
  const [, second] = [meter.reserve(0, 0), meter.reserve(100, 0)];
  second.observe(300, { requests: { limit: 10, remaining: 9, resetMs: 60_000 } });
  assertEquals(meter.requests(300), { limit: 10, left: 8 });
  // One that was answered before the other was sent cannot have been overtaken.
  const calm = new RateLimiter();
  calm.reserve(0, 0).settle({}, 50);
  calm.reserve(100, 0).observe(300, { requests: { limit: 10, remaining: 8, resetMs: 60_000 } });
  assertEquals(calm.requests(300), { limit: 10, left: 8 });
});

Deno.test("headroom that headers took away comes back at their reset, or after 60 s without one", () => {
  for (const [resetMs, back] of [[20_000, 20_100], [88, 188], [undefined, 60_100]] as const) {
    const meter = new RateLimiter({ rpm: 5 });
    const requests = { limit: 3, remaining: 0, ...(resetMs === undefined ? {} : { resetMs }) };
    meter.reserve(0, 0).observe(100, { requests });
    assertEquals([isFull(meter, 100, 0), meter.fullUntil(100, 0)], [true, back], `${resetMs}`);
    assertEquals([isFull(meter, back - 1, 0), isFull(meter, back, 0)], [true, false], `${resetMs}`);
    assertEquals(meter.requests(back), { limit: 3, left: 3 }, `${resetMs}`);
    serve(meter, back, { requests: 3 });
    assertEquals(isFull(meter, back, 0), true, `${resetMs}: the limit told of still holds`);
  }
});

Deno.test("a limit for longer than a minute stands beside the declared one", () => {
  // As Groq sends it: 14 400 a day, one flows back every 6 s.
  const meter = new RateLimiter({ rpm: 30 });
  meter.reserve(0, 0).observe(0, { requests: { limit: 14_400, remaining: 14_399, resetMs: 6000 } });
  assertEquals(meter.requests(0), { limit: 30, left: 29 });
  serve(meter, 0, { requests: 29 });
  assertEquals(isFull(meter, 0, 0), true);
  const nearlyOut = new RateLimiter({ rpm: 30 });
  nearlyOut.reserve(0, 0).observe(0, { requests: { limit: 14_400, remaining: 1, resetMs: 86_000_000 } });
  assertEquals(nearlyOut.requests(0), { limit: 14_400, left: 1 });
  nearlyOut.reserve(0, 0);
  assertEquals(nearlyOut.fullUntil(0, 0), 86_000_000);
  const hourly = new RateLimiter({ rpm: 3 });
  serve(hourly, 0, { requests: 2 });
  hourly.reserve(0, 0).observe(0, { requests: { limit: 1000, remaining: 900, resetMs: 600_000 } });
  assertEquals(isFull(hourly, 0, 0), true);
});

Deno.test("a limit for a minute overrides the declared one, higher or lower", () => {
  for (const limit of [10, 1000]) {
    const meter = new RateLimiter({ rpm: 100 });
    const resetMs = minuteMs / limit;
    meter.reserve(0, 0).observe(0, { requests: { limit, remaining: limit - 1, resetMs } });
    assertEquals(meter.requests(minuteMs * 2), { limit, left: limit });
    serve(meter, minuteMs * 2, { requests: limit - 1 });
    assertEquals(isFull(meter, minuteMs * 2, 0), false);
    serve(meter, minuteMs * 2, { requests: 1 });
    assertEquals(isFull(meter, minuteMs * 2, 0), true);
  }
});

Deno.test("readings without a limit, or with nothing but one, are used for what they are", () => {
  const meter = new RateLimiter();
  meter.reserve(0, 0).observe(0, { requests: { remaining: 0 } });
  assertEquals([{ ...meter.requests(0) }, isFull(meter, 0, 0)], [{ limit: 1, left: 0 }, true]);
  const limited = new RateLimiter({ rpm: 100 });
  limited.reserve(0, 0).observe(0, { requests: { limit: 2 }, tokens: {} });
  assertEquals([{ ...limited.requests(0) }, limited.tokens(0)], [{ limit: 2, left: 1 }, undefined]);
});

Deno.test("tokens that make no sense count as none, and a full limit of tokens holds for those too", () => {
  const meter = new RateLimiter({ tpm: 10 });
  for (const tokens of [NaN, -5, Infinity, 0]) meter.reserve(0, tokens).settle({ tokens }, 0);
  assertEquals(meter.tokens(0), { limit: 10, left: 10 });
  meter.reserve(0, 9.5);
  assertEquals([isFull(meter, 0, NaN), { ...meter.tokens(0) }], [true, { limit: 10, left: 0 }]);
});

Deno.test("a rate limiter bears long uptimes, jumps and a clock that stands still", () => {
  const meter = new RateLimiter({ rpm: 2, rpd: 100 });
  for (const now of [0, 2 ** 31, 2 ** 31, 2 ** 45, 2 ** 45, 2 ** 45 - 5]) meter.reserve(now, 1).settle({}, now);
  assertEquals([meter.rpm(2 ** 45), isFull(meter, 2 ** 45, 1)], [3, true]);
  assertEquals(isFull(meter, 2 ** 45 + 2 * minuteMs, 1), false);
  assertEquals(meter.lastStartedAt, 2 ** 45 - 5);
});

const noon = Date.UTC(2026, 0, 2, 12);

Deno.test("a limit per day follows the wall clock: a machine that slept over midnight has a new day", () => {
  const clock = fakeClock({ now: noon });
  const meter = new RateLimiter({ rpd: 2 }, clock);
  serve(meter, 0, { requests: 2 });
  assertEquals([{ ...meter.requests(0) }, meter.fullUntil(0, 1)], [{ limit: 2, left: 0 }, 12 * hourMs]);
  clock.jumpWallTime(12 * hourMs - 100);
  assertEquals(meter.fullUntil(0, 1), 100);
  clock.jumpWallTime(100);
  assertEquals([{ ...meter.requests(0) }, isFull(meter, 0, 1)], [{ limit: 2, left: 2 }, false]);
});

Deno.test("a limit per day neither opens nor closes when the wall clock is set back", () => {
  const clock = fakeClock({ now: noon });
  const meter = new RateLimiter({ rpd: 2 }, clock);
  serve(meter, 0, { requests: 2 });
  clock.jumpWallTime(-6 * hourMs);
  assertEquals(meter.fullUntil(0, 1), 18 * hourMs);
  clock.jumpWallTime(-12 * hourMs); // to the day before
  assertEquals(meter.fullUntil(0, 1), 30 * hourMs);
  clock.jumpWallTime(12 * hourMs + dayMs); // to the next one
  serve(meter, 0, { requests: 1 });
  assertEquals(meter.requests(0)?.left, 1);
  clock.jumpWallTime(-dayMs);
  assertEquals(isFull(meter, 0, 1), true);
});

Deno.test("a limit per day is not stopped by a wall clock that was wrong once", () => {
  const clock = fakeClock({ now: Date.UTC(2099, 0, 1) });
  const meter = new RateLimiter({ rpd: 1 }, clock);
  serve(meter, 0, { requests: 1 });
  assertEquals(isFull(meter, 0, 1), true);
  clock.jumpWallTime(noon - clock.now());
  assertEquals(isFull(meter, 0, 1), false);
});

Deno.test("a settled amount counts in the day of its reservation", () => {
  const clock = fakeClock({ now: noon });
  const meter = new RateLimiter({ rpd: 1 }, clock);
  const reservation = meter.reserve(0, 1);
  clock.jumpWallTime(12 * hourMs);
  assertEquals(isFull(meter, 0, 1), false);
  serve(meter, 0, { requests: 1 });
  reservation.release(0); // was not sent: yesterday has one less
  assertEquals(isFull(meter, 0, 1), true);
  clock.jumpWallTime(-12 * hourMs);
  assertEquals(meter.requests(0)?.left, 0, "the new day holds, too");
});

Deno.test("a reading whose reset is a date ends by the clock that gets there first; a duration by the monotonic one", async () => {
  for (const hasDates of [true, false]) {
    for (const stepMs of [0, 20_000, 3_600_000, -3_600_000]) {
      const clock = fakeClock({ now: noon });
      const meter = new RateLimiter({}, clock);
      meter.reserve(0, 0).observe(0, { requests: { limit: 10, remaining: 0, resetMs: 30_000 }, hasDates });
      assertEquals([meter.fullUntil(0, 1), meter.requests(0)?.left], [30_000, 0]);
      clock.jumpWallTime(stepMs);
      const end = hasDates ? Math.max(0, 30_000 - Math.max(0, stepMs)) : 30_000;
      assertEquals(meter.fullUntil(0, 1), end === 0 ? undefined : end);
      await clock.advance(end);
      assertEquals(meter.fullUntil(end, 1), undefined, String(stepMs));
    }
  }
});
