/** Sums of one quantity against one limit, window by window. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { WindowCounter } from "../../src/state/counters/window_counter.ts";
import type { Window } from "../../src/util/windows.ts";

/** Windows of 100 ms. */
function windowAt(wall: number): Window {
  const start = Math.floor(wall / 100) * 100;
  return { start, end: start + 100 };
}

const counter = (limit?: number) => new WindowCounter({ limit, windowAt });

describe("A window counter", () => {
  it("has room for what fits beside all that was settled and reserved", () => {
    const requests = counter(10);
    const window = requests.at(0);
    window.reserve(6);
    assertEquals([requests.fits(window, 4), requests.fits(window, 5), requests.isSpent(window)], [true, false, false]);
    window.settle(6, 10);
    assertEquals([requests.fits(window, 0), requests.fits(window, 1), requests.isSpent(window)], [true, false, true]);
  });

  it("counts what other processes took, too", () => {
    const requests = counter(10);
    const window = requests.at(0);
    Object.assign(window, { othersTaken: 8, othersSpent: 7 });
    assertEquals([requests.fits(window, 2), requests.fits(window, 3)], [true, false]);
    window.grow(3);
    assert(requests.isSpent(window));
  });

  it("begins anew with each window", () => {
    const requests = counter(10);
    requests.at(99).grow(10);
    assertEquals([requests.isSpent(requests.at(99)), requests.isSpent(requests.at(100))], [true, false]);
  });

  it("settles a reservation in the window it was taken in, also when that is over or forgotten", () => {
    const requests = counter(10);
    const first = requests.at(0);
    first.reserve(5);
    for (let wall = 100; wall <= 900; wall += 100) requests.at(wall).grow(1);
    first.settle(5, 3);
    assertEquals([first.spent, requests.at(900).spent, requests.windows.includes(first)], [3, 1, false]);
  });

  it("stays in its window when the wall clock goes back", () => {
    const requests = counter(10);
    requests.at(150).grow(10);
    assert(requests.isSpent(requests.latest(50)));
    assert(requests.isSpent(requests.latest(0)));
  });

  it("leaves it when the wall clock goes back further than that: it was wrong", () => {
    const requests = counter(10);
    requests.at(1_000_050).grow(10);
    assertEquals([requests.latest(50).start, requests.isSpent(requests.latest(50))], [0, false]);
    assertEquals(requests.latest(150).start, 100);
  });

  it("settles as reserved where the amount is unknown or makes no sense", () => {
    for (const actual of [undefined, NaN, -1, Infinity]) {
      const window = counter().at(0);
      window.reserve(5);
      window.settle(5, actual);
      assertEquals([window.spent, window.reserved], [5, 0], String(actual));
    }
  });

  it("counts on under another limit", () => {
    const before = counter(10);
    before.at(0).grow(10);
    const next = new WindowCounter({ limit: 20, windowAt, before });
    assertEquals([before.isSpent(next.at(0)), next.isSpent(next.at(0))], [true, false]);
  });
});

describe("A window counter that is stored", () => {
  it("is restored with what was reserved as spent: no process is left to settle it", () => {
    const before = counter(10);
    before.at(0).reserve(4);
    before.at(0).grow(3);
    const after = counter(10);
    after.restore(before.snapshot());
    assertEquals(after.snapshot(), [{ start: 0, spent: 7, reserved: 0 }]);
  });

  it("merges by how much it has grown since it was read", () => {
    const one = counter(10);
    one.at(0).grow(5);
    const known = [{ start: 0, spent: 5, reserved: 0 }];
    one.merge([{ start: 0, spent: 6, reserved: 2 }], known);
    assertEquals(one.at(0).spent, 8);
  });

  it("leaves out what makes no sense", () => {
    const requests = counter(10);
    requests.restore([null, { start: "0", spent: 5 }, { start: 0, spent: "5", reserved: -1 }, { start: 1e300 }]);
    assertEquals(requests.snapshot(), [{ start: 0, spent: 0, reserved: 0 }]);
  });
});
