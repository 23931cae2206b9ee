/** A state that several processes keep in one record: nothing that one of them did is lost on another. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import { fakeClock, settle } from "../../src/runtime/test.ts";
import { Instance, readRecord, readSpent, startTwo } from "./_instance.ts";
import { raise } from "../support/raise.ts";

const minute = 60_000;
const midnight = Date.UTC(2026, 0, 2);

describe("money and limits in the record", () => {
  it("are there after a restart, of every budget", async () => {
    const storage = new MemoryStorage(fakeClock());
    const first = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    for (let count = 0; count < 3; count++) first.serve(7);
    await first.store.close();
    assertEquals(
      [await readSpent(storage), await readSpent(storage, "provider one"), await readSpent(storage, "pool chat")],
      [
        21,
        21,
        21,
      ],
    );
    const second = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    second.serve(4);
    await second.store.close();
    assertEquals(await readSpent(storage), 25);
    assertEquals(
      (await readRecord(storage)).usage,
      [
        { pool: "chat", model: "a", provider: "one", requests: 4, tokens: 40, nano_usd: 25, window_end: midnight },
      ] as unknown as Awaited<ReturnType<typeof readRecord>>["usage"],
    );
  });

  it("of a day that is over count no more", async () => {
    const storage = new MemoryStorage(fakeClock());
    const first = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    first.serve(7);
    await first.store.close();
    const second = await new Instance(storage, fakeClock({ now: midnight }), "sync-on-boundary").start();
    second.serve(1);
    await second.store.close();
    const { usage, spending } = await readRecord(storage);
    assertEquals(usage.map(({ nano_usd }) => nano_usd), [1]);
    assertEquals(spending.find(({ budget }) => budget === "all")?.days.map(({ spent }) => spent), [7, 1]);
  });

  it("that were reserved when a process was killed count as spent", async () => {
    const clock = fakeClock();
    const storage = new MemoryStorage(clock);
    const killed = await new Instance(storage, clock, "immediate").start();
    killed.model.reserve({ input: 1, output: 1 }, 0);
    await settle();
    const { spending } = await readRecord(storage);
    assertEquals(spending[0]!.days.map(({ spent, reserved }) => [spent, reserved]), [[0, 2000]]);
    const next = await new Instance(storage, fakeClock(), "immediate").start();
    next.serve(5);
    await next.store.close();
    assertEquals(await readSpent(storage), 2005);
  });

  it("of a pool that no request has named yet are kept, and given to it", async () => {
    const storage = new MemoryStorage(fakeClock());
    const first = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    first.serve(7, first.pool("late"));
    await first.store.close();
    const second = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    second.store.mark();
    await settle();
    assertEquals(await readSpent(storage, "pool late"), 7);
    second.serve(2, second.pool("late"));
    await second.store.close();
    assertEquals([await readSpent(storage, "pool late"), await readSpent(storage)], [9, 9]);
    assertEquals((await readRecord(storage)).usage.map(({ nano_usd }) => nano_usd), [9]);
  });
});

describe("a mesh that is configured again", () => {
  it("goes on where it was, what was not written yet included", async () => {
    const clock = fakeClock({ skipSleeps: true });
    const storage = new MemoryStorage(clock);
    const one = await new Instance(storage, clock, "periodic").start();
    one.serve(7);
    const next = new Instance(storage, clock, "periodic");
    await one.store.load(next.state);
    next.serve(1);
    await one.store.close();
    assertEquals(await readSpent(storage), 8);
  });
});

describe("two processes on one record", () => {
  for (const policy of ["immediate", "periodic", "sync-on-boundary"] as const) {
    it(`lose no money, request or token: ${policy}`, async () => {
      const two = await startTwo(policy);
      const { clock, storage, one, other } = two;
      for (let round = 0; round < 50; round++) {
        one.serve(1);
        if (round % 3 === 0) await settle();
        if (round % 7 === 0) other.store.mark();
        other.serve(2);
        if (round % 10 === 0) await clock.advance(1000);
      }
      await two.close();
      assertEquals([one.traces, other.traces], [[], []]);
      assertEquals(await readSpent(storage), 150);
      const [usage] = (await readRecord(storage)).usage;
      assertEquals([usage?.requests, usage?.tokens, usage?.nano_usd], [100, 1000, 150]);
    });
  }

  it("count nothing twice when a save fails that was done all the same", async () => {
    const storage = new MemoryStorage(fakeClock());
    const one = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    const save = storage.save.bind(storage);
    storage.save = async (key, data) => {
      await save(key, data);
      throw new Error("the answer got lost");
    };
    one.serve(7);
    one.store.mark();
    await settle();
    storage.save = save;
    one.serve(1);
    await one.store.close();
    assertEquals(await readSpent(storage), 8);
  });

  it("see in time what the other one spends, although they have nothing to say", async () => {
    const two = await startTwo("periodic");
    const { clock, one, other } = two;
    one.serve(1_000_000);
    await clock.advance(5000);
    await clock.advance(5000);
    assertEquals(other.model.tracker.denial({ input: 1, output: 1 }, clock.monotonic())?.reason, "budget");
    await two.close();
  });

  it("leave alone what the other one puts in standby, and close its breaker with it", async () => {
    const two = await startTwo("periodic");
    const { clock, storage, one, other } = two;
    one.model.breakers.openModel("rate_limited", clock.monotonic(), 10 * minute);
    await clock.advance(10_000);
    assertEquals([one.look(), other.look()], ["rate_limited", "rate_limited"]);
    one.state.report(one.state.modelBreaker("a", "one").close("manual"));
    await clock.advance(10_000);
    assertEquals([one.look(), other.look()], ["active", "active"]);
    assertEquals(other.reported, ["active rate_limited"]);
    await two.close();
    assertEquals((await readRecord(storage)).breakers, []);
  });

  it("keep a standby that was extended here while the other one ended it", async () => {
    const two = await startTwo("periodic");
    const { clock, one, other } = two;
    one.model.breakers.openModel("rate_limited", clock.monotonic(), 10 * minute);
    await clock.advance(10_000);
    one.state.report(one.state.modelBreaker("a", "one").close("manual"));
    other.model.breakers.openModel("quota_exhausted", clock.monotonic(), 60 * minute);
    await clock.advance(20_000);
    assertEquals([one.look(), other.look()], ["quota_exhausted", "quota_exhausted"]);
    await two.close();
  });

  it("count a row of failures over both, until one of them succeeds", async () => {
    const two = await startTwo("periodic");
    const { clock, one, other } = two;
    one.fail();
    other.fail();
    await clock.advance(15_000);
    assertEquals([one.model.consecutiveFailures, other.model.consecutiveFailures], [2, 2]);
    one.serve(1);
    await clock.advance(15_000);
    assertEquals([one.model.consecutiveFailures, other.model.consecutiveFailures], [0, 0]);
    await two.close();
  });
});

describe("the lock of the record", () => {
  it("is waited for, and what cannot be had is logged; the next write makes up for it", async () => {
    const clock = fakeClock();
    const storage = new MemoryStorage(clock);
    const one = await new Instance(storage, clock, "immediate").start();
    const held = await storage.acquire("state", { owner: "another", ttlMs: 10 * minute });
    one.serve(3);
    await clock.advance(29_000);
    assertEquals(one.traces, []);
    await clock.advance(1000);
    assertEquals(one.traces.length, 1);
    assertStringIncludes(one.traces[0]!, 'error The storage "mesh.memory.v1" cannot lock "state"');
    await storage.release(held);
    one.serve(4);
    await settle();
    assertEquals(await readSpent(storage), 7);
    await one.store.close();
  });

  it("of a process that was killed holds up no start, and is passed within 5 s", async () => {
    const clock = fakeClock();
    const storage = new MemoryStorage(clock);
    const killed = new Instance(storage, fakeClock(), "immediate"); // no heartbeat: its clock stands still
    const save = storage.save.bind(storage);
    storage.save = () => new Promise(() => {});
    killed.start().catch(raise);
    await settle();
    storage.save = save;
    assertEquals(await storage.isLocked("state"), true);
    const next = new Instance(storage, clock, "immediate");
    await next.start();
    next.serve(3);
    assertEquals([await storage.isLocked("state"), await storage.exists("state")], [true, false]);
    assertEquals(next.traces, [
      "info Another process holds the lock of the saved state: it is saved once the lock is released",
    ]);
    await clock.advance(5000);
    assertEquals([await readSpent(storage), await storage.isLocked("state")], [3, false]);
    await next.store.close();
    assertEquals([next.traces.length, clock.pending], [1, 0]);
  });

  it("of a process that lives is its own for as long as a write takes", async () => {
    const two = await startTwo("immediate", fakeClock());
    const { clock, storage, one, other } = two;
    const save = storage.save.bind(storage);
    storage.save = async (key, data) => {
      storage.save = save;
      await clock.sleep(20_000);
      await save(key, data);
    };
    one.serve(3);
    await settle();
    other.serve(4);
    await clock.advance(19_000);
    assertEquals(await readSpent(storage), 0);
    await clock.advance(2000);
    assertEquals([await readSpent(storage), await storage.isLocked("state")], [7, false]);
    await two.close();
    assertEquals([one.traces, other.traces, clock.pending], [[], [], 0]);
  });

  it("that was lost for a moment is taken again, and what others wrote in it is kept", async () => {
    const two = await startTwo("immediate", fakeClock());
    const { clock, storage, one, other } = two;
    const load = storage.load.bind(storage);
    storage.load = async (key) => {
      storage.load = load;
      const before = await load(key);
      clock.jumpWallTime(3000); // as after a stop of the process
      other.serve(4);
      await settle();
      return before;
    };
    one.serve(3);
    await settle();
    await two.close();
    assertEquals([await readSpent(storage), one.traces, other.traces], [7, [], []]);
  });

  it("that was lost while the process was held up is not a right to write", async () => {
    const clock = fakeClock();
    const storage = new MemoryStorage(clock);
    const one = await new Instance(storage, clock, "immediate").start();
    const load = storage.load.bind(storage);
    storage.load = async (key) => {
      clock.jumpWallTime(15 * minute); // as after a stop of the process
      return await load(key);
    };
    one.serve(3);
    await settle();
    assertEquals(await readSpent(storage), 0);
    assertStringIncludes(one.traces[0]!, "the lock expired");
    storage.load = load;
    await one.store.close();
    assertEquals(await readSpent(storage), 3);
  });
});
