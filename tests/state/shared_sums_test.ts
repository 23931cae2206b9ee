import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConnectorError } from "../../src/errors.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { LinkedShared, SharedOwner, SharedSums } from "../../src/state/sharing/shared_sums.ts";
import { slicedDay, slicedMinute } from "../../src/state/counters/shared_rate.ts";
import { SharedWindow } from "../../src/state/sharing/shared_window.ts";

/** Processes on one owner; what is sent between them arrives in a later turn, as JSON. */
function processes(count: number, clock = fakeClock()) {
  const sums = new SharedSums(clock);
  const all: LinkedShared[] = [];
  const owner = new SharedOwner(sums, (reply) => all.forEach((one) => one.receive(reply)));
  while (all.length < count) {
    const process = all.length;
    const one: LinkedShared = new LinkedShared((call) =>
      queueMicrotask(() =>
        one.receive(JSON.parse(JSON.stringify(owner.respond(JSON.parse(JSON.stringify(call)), process))))
      )
    );
    all.push(one);
  }
  return { all, sums, clock };
}

const expiresAt = Date.UTC(2027, 0, 1);

describe("Sums that one process owns", () => {
  it("are the same for all, and begin with 0", async () => {
    const { all: [a, b] } = processes(2);
    assertEquals(await a!.add([{ key: "x", expiresAt, by: 3 }, { key: "y", expiresAt, by: 0 }]), [3, 0]);
    assertEquals(await b!.add([{ key: "x", expiresAt, by: -1 }]), [2]);
    assertEquals(await b!.add([]), []);
  });

  it("are reserved all or none, and never beyond a limit, when all ask at once", async () => {
    const { all } = processes(4);
    const claim = { key: "x", expiresAt, amount: 1, limit: 50 };
    const grants = await Promise.all(Array.from({ length: 200 }, (_, index) => all[index % 4]!.reserve([claim])));
    assertEquals(grants.filter(({ isGranted }) => isGranted).length, 50);
    const both = await all[0]!.reserve([{ key: "y", expiresAt, amount: 1, limit: 9 }, claim]);
    assertEquals(both, { isGranted: false, sums: [0, 50] });
    assertEquals((await all[0]!.reserve([])).isGranted, true);
  });

  it("go on from the least value that is known", async () => {
    const { all: [a] } = processes(1);
    assertEquals(await a!.add([{ key: "x", expiresAt, by: 1, atLeast: 10 }]), [11]);
    const claim = { key: "x", expiresAt, amount: 5, limit: 100, atLeast: 40 };
    assertEquals(await a!.reserve([claim]), { isGranted: true, sums: [45] });
  });

  it("lose what a process leased and did not give back, when it ends", async () => {
    const { all: [a, b], sums } = processes(2);
    const claim = { key: "x", expiresAt, limit: 100, isLeased: true };
    await a!.reserve([{ ...claim, amount: 30 }]);
    await b!.reserve([{ ...claim, amount: 20 }]);
    assertEquals((await a!.reserve([{ ...claim, amount: 99 }])).isGranted, false); // leases nothing
    // of 30 that a leased, 10 are settled at 4
    await a!.add([{ key: "x", expiresAt, by: -6, leased: -10 }]);
    sums.end(0);
    assertEquals(await b!.add([{ key: "x", expiresAt, by: 0 }]), [24]);
    sums.end(0);
    assertEquals(await b!.add([{ key: "x", expiresAt, by: -20, leased: -20 }]), [4]);
    sums.end(1);
    assertEquals(await a!.add([{ key: "x", expiresAt, by: 0 }]), [4]);
  });

  it("begin with what was kept, once, and are kept without what processes lease", async () => {
    const { all: [a, b], clock } = processes(2);
    await a!.seed([{ key: "x", value: 40, expiresAt }, { key: "old", value: 9, expiresAt: clock.now() }]);
    await b!.seed([{ key: "x", value: 90, expiresAt }]);
    await b!.reserve([{ key: "x", expiresAt, amount: 10, limit: 100, isLeased: true }]);
    await b!.reserve([{ key: "y", expiresAt, amount: 10, limit: 100, isLeased: true }]);
    assertEquals(await a!.add([{ key: "x", expiresAt, by: 2 }, { key: "old", expiresAt, by: 0 }]), [52, 0]);
    assertEquals(await a!.sums(), [{ key: "x", value: 42, expiresAt }]);
  });

  it("are forgotten when their time is over", async () => {
    const { all: [a], sums, clock } = processes(1);
    for (let number = 0; number < 100; number++) {
      await a!.add([{ key: `x ${number}`, expiresAt: clock.now() + 1, by: 1 }]);
    }
    await clock.advance(60_000);
    await a!.add([{ key: "y", expiresAt, by: 1 }]);
    assertEquals(sums.size, 1);
  });

  it("bring messages to all, their sender too, until they listen no more", async () => {
    const { all: [a, b] } = processes(2);
    const heard: string[] = [];
    const stop = await a!.subscribe("news", (message) => heard.push(`a ${message}`));
    await b!.subscribe("news", (message) => heard.push(`b ${message}`));
    await b!.subscribe("other", () => heard.push("wrong"));
    await a!.publish("news", "1");
    await stop();
    await b!.publish("news", "2");
    assertEquals(heard, ["a 1", "b 1", "b 2"]);
  });

  it("fail at once when the owner is gone", async () => {
    const lost = new LinkedShared(() => {});
    const asked = lost.add([{ key: "x", expiresAt, by: 1 }]);
    lost.close();
    assertEquals((await assertRejects(() => asked, ConnectorError)).problem, "unavailable");
    await assertRejects(() => lost.reserve([{ key: "x", expiresAt, amount: 1, limit: 1 }]), ConnectorError);
  });
});

describe("Requests of a minute that processes admit together", () => {
  const web = { name: "client web", ...slicedMinute };
  const start = (count: number) => {
    const { all, clock } = processes(count);
    const windows = all.map((shared) => {
      const window = new SharedWindow(web, clock);
      return async (limit: number) => (await window.take(shared, limit)).waitMs;
    });
    return { windows, clock };
  };

  it("are as many as the limit, to the request, and not one is lost", async () => {
    for (const limit of [1, 7, 30]) {
      const { windows } = start(3);
      const waits = await Promise.all(Array.from({ length: 90 }, (_, index) => windows[index % 3]!(limit)));
      assertEquals(waits.filter((ms) => ms === 0).length, limit);
    }
  });

  it("count for a minute and no more than a second beyond, and the wait says so", async () => {
    const { windows: [a, b], clock } = start(2);
    await clock.advance(400);
    assertEquals([await a!(2), await b!(2)], [0, 0]);
    assertEquals([await a!(2), await b!(2)], [60_600, 60_600]);
    await clock.advance(60_599);
    assertEquals(await b!(2), 1);
    await clock.advance(1);
    assertEquals([await b!(2), await a!(2), (await b!(2)) > 0], [0, 0, true]);
  });

  it("hold across the turn of a second, where each has seen another one", async () => {
    const { windows: [a, b], clock } = start(2);
    await clock.advance(999);
    assertEquals([await a!(3), await b!(3)], [0, 0]);
    await clock.advance(1);
    const waits = await Promise.all([a!(3), b!(3), a!(3), b!(3)]);
    assertEquals(waits.filter((ms) => ms === 0).length, 1);
  });

  it("that were not sent are others'", async () => {
    const { all: [a, b], clock } = processes(2);
    const [one, other] = [new SharedWindow(web, clock), new SharedWindow(web, clock)];
    const { slice } = await one.take(a!, 1);
    assertEquals((await other.take(b!, 1)).waitMs > 0, true);
    await one.release(a!, slice);
    assertEquals((await other.take(b!, 1)).waitMs, 0);
  });

  it("are a UTC day's as well", async () => {
    const { all: [a, b], clock } = processes(2);
    const [one, other] = [a!, b!].map((shared) => {
      const window = new SharedWindow({ name: "model a day", ...slicedDay }, clock);
      return async () => (await window.take(shared, 2)).waitMs;
    });
    assertEquals([await one!(), await other!()], [0, 0]);
    assertEquals(await one!(), 86_400_000);
    await clock.advance(86_400_000);
    assertEquals(await one!(), 0);
  });

  it("are known to a process that comes later", async () => {
    const { all, clock } = processes(2);
    const first = new SharedWindow(web, clock);
    for (let second = 0; second < 5; second++) {
      assertEquals((await first.take(all[0]!, 5)).waitMs, 0);
      await clock.advance(3_000);
    }
    const later = new SharedWindow(web, clock);
    assertEquals((await later.take(all[1]!, 5)).waitMs, 61_000 - 15_000);
    assertEquals((await later.take(all[1]!, 6)).waitMs, 0);
  });
});
