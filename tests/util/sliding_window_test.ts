import { assertEquals } from "@std/assert";
import { seededRandom } from "../../src/runtime/test.ts";
import { FailureWindow } from "../../src/util/failure_window.ts";
import { SlidingWindow } from "../../src/util/sliding_window.ts";

Deno.test("a sliding window forgets what is older than it, a slice at a time", () => {
  const window = new SlidingWindow({ windowMs: 10_000, slices: 10 });
  window.add(500, 3);
  window.add(9_999, 4);
  assertEquals(window.sum(9_999), 7);
  assertEquals(window.sum(10_000), 4);
  assertEquals(window.sum(18_999), 4);
  assertEquals(window.sum(19_000), 0);
  const fresh = new SlidingWindow({ windowMs: 10_000, slices: 10 });
  fresh.add(1_500, 1);
  assertEquals([fresh.sum(10_999), fresh.sum(11_000)], [1, 0]);
});

Deno.test("a window that forgets late counts all of its length, and up to a slice more", () => {
  const window = new SlidingWindow({ windowMs: 10_000, slices: 10, expiresLate: true });
  window.add(999, 1);
  assertEquals(window.sum(10_998), 1);
  assertEquals(window.sum(11_000), 0);
});

Deno.test("a clock that stands still, goes back or jumps far ahead does no harm", () => {
  const window = new SlidingWindow({ windowMs: 60_000, slices: 6 });
  for (let count = 0; count < 1000; count++) window.add(2 ** 31, 1);
  assertEquals(window.sum(2 ** 31), 1000);
  window.add(5, 1);
  assertEquals(window.sum(0), 1001);
  assertEquals(window.sum(NaN), 1001);
  assertEquals(window.sum(2 ** 31 + 70_000), 0);
  window.add(1e15, 2);
  assertEquals(window.sum(1e15), 2);
  assertEquals(window.sum(1e15 + 60_000), 0);
});

Deno.test("what was added can be amended until it is forgotten", () => {
  const window = new SlidingWindow({ windowMs: 10_000, slices: 10 });
  window.add(0, 5);
  window.add(5_000, 7);
  window.amend(6_000, 0, -5);
  assertEquals(window.sum(6_000), 7);
  window.amend(12_000, 0, -5);
  assertEquals(window.sum(12_000), 7);
  window.amend(12_000, 99_000, -5);
  assertEquals(window.sum(12_000), 7);
  window.amend(12_000, 5_000, 3);
  assertEquals(window.sum(12_000), 10);
  assertEquals(window.sum(15_000), 0);
});

Deno.test("fallsTo says when enough has left the window", () => {
  const window = new SlidingWindow({ windowMs: 10_000, slices: 10 });
  window.add(500, 3);
  window.add(4_500, 2);
  assertEquals(window.fallsTo(5_000, 5), 5_000);
  assertEquals(window.fallsTo(5_000, 4), 10_000);
  assertEquals(window.fallsTo(5_000, 2), 10_000);
  assertEquals(window.fallsTo(5_000, 1), 14_000);
  assertEquals(window.fallsTo(5_000, 0), 14_000);
  assertEquals(window.fallsTo(5_000, -1), Infinity);
  assertEquals([window.sum(13_999), window.sum(14_000)], [2, 0]);
});

Deno.test("a sliding window holds what was added in its slices, whatever the times", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = seededRandom(seed);
    const forgetsLate = random() < 0.5;
    const window = new SlidingWindow({ windowMs: 1000, slices: 8, expiresLate: forgetsLate });
    const added: { at: number; value: number }[] = [];
    let now = random() * 1e6;
    for (let step = 0; step < 200; step++) {
      now += random() < 0.1 ? random() * 3000 : random() * 100;
      const value = Math.floor(random() * 100);
      if (random() < 0.7) {
        window.add(now, value);
        added.push({ at: now, value });
      }
      const heldAt = (time: number) => {
        const oldest = Math.floor(time / 125) - (forgetsLate ? 8 : 7);
        return added.filter(({ at }) => Math.floor(at / 125) >= oldest).reduce((sum, one) => sum + one.value, 0);
      };
      const held = heldAt(now);
      assertEquals(window.sum(now), held, `seed ${seed}, step ${step}`);
      const most = Math.floor(random() * held);
      const when = window.fallsTo(now, most);
      assertEquals(heldAt(when) <= most, true, `seed ${seed}, step ${step}`);
      if (when > now) assertEquals(heldAt(when - 1) > most, true, `seed ${seed}, step ${step}`);
    }
  }
});

Deno.test("a failure window returns the share of requests that failed", () => {
  const window = new FailureWindow({ windowMs: 60_000, slices: 6 });
  assertEquals([window.requests(0), window.share(0)], [0, 0]);
  window.add(0, true);
  window.add(0, false);
  window.add(30_000, true);
  window.add(30_000, true);
  assertEquals([window.requests(30_000), window.share(30_000)], [4, 0.75]);
  assertEquals([window.requests(60_000), window.share(60_000)], [2, 1]);
  window.clear();
  assertEquals([window.requests(60_000), window.share(60_000)], [0, 0]);
  window.add(61_000, false);
  assertEquals([window.requests(61_000), window.share(61_000)], [1, 0]);
});
