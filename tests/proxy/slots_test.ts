import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { Slots } from "../../src/proxy/slots.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { SharedSums } from "../../src/state/sharing/shared_sums.ts";

/** Processes that share a limit; each question to the owner is counted. */
function processes(count: number) {
  const sums = new SharedSums(fakeClock());
  let asked = 0;
  const all = Array.from({ length: count }, (_, process) =>
    new Slots({
      processes: count,
      shared: {
        add: (changes) => Promise.resolve(sums.add(changes, process)),
        reserve: (claims) => (asked++, Promise.resolve(sums.reserve(claims, process))),
        publish: () => Promise.resolve(),
        subscribe: () => Promise.resolve(() => Promise.resolve()),
      },
    }));
  return { all, sums, asked: () => asked };
}

describe("Slots for requests at once", () => {
  it("are as many as the limit in a process that is alone", () => {
    const slots = new Slots();
    assertEquals([slots.take(2), slots.take(2), slots.take(2), slots.isFull(2)], [true, true, false, true]);
    slots.give(2);
    assertEquals([slots.isFull(2), slots.take(2)], [false, true]);
  });

  it("are as many as the limit over all processes, whichever has them", async () => {
    const { all: [a, b] } = processes(2);
    const taken = await Promise.all([1, 2, 3, 4, 5, 6].map((_, index) => (index % 3 ? a! : b!).take(4)));
    assertEquals(taken.filter(Boolean).length, 4);
    assertEquals(await b!.take(4), false);
    a!.give(4);
    await Promise.resolve();
    assertEquals([await b!.take(4), await a!.take(4)], [true, false]);
  });

  it("of a process that has ended are free again", async () => {
    const { all: [a, b], sums } = processes(2);
    assertEquals(await Promise.all([a!.take(3), a!.take(3), b!.take(3), b!.take(3)]), [true, true, true, false]);
    sums.end(0);
    assertEquals(await Promise.all([b!.take(3), b!.take(3), b!.take(3)]), [true, true, false]);
  });

  it("are asked for seldom while a large limit is far, and never exceed it", async () => {
    const { all: [a, b], asked } = processes(2);
    for (let turn = 0; turn < 100; turn++) {
      assertEquals(await a!.take(1000), true);
      a!.give(1000);
    }
    assertEquals(asked(), 1);
    let taken = 0;
    while (await b!.take(1000)) taken++;
    assertEquals(taken, 1000 - 5); // a keeps its share of 1 %
    assertEquals(await Promise.all(Array.from({ length: 6 }, () => a!.take(1000))), [...Array(5).fill(true), false]);
  });
});
