/** When the record of a state is written, and what happens to one that cannot be read. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import { ConnectorError } from "../../src/errors.ts";
import { fakeClock, settle } from "../../src/runtime/test.ts";
import { Instance, readRecord, readSpent } from "./_instance.ts";

describe("when the record is written", () => {
  it("periodic: in its time, and only when there is something to say", async () => {
    const clock = fakeClock();
    const storage = new MemoryStorage(clock);
    const one = await new Instance(storage, clock, "periodic").start();
    let saves = 0;
    const save = storage.save.bind(storage);
    storage.save = (key, data) => (saves++, save(key, data));
    for (let count = 0; count < 100; count++) one.serve(1);
    await clock.advance(4999);
    assertEquals(saves, 0);
    await clock.advance(1);
    assertEquals([saves, await readSpent(storage)], [1, 100]);
    await clock.advance(60_000);
    assertEquals(saves, 1);
    await one.store.close();
    assertEquals(clock.pending, 0);
  });

  it("immediate: after every request, and many at once make few writes", async () => {
    const storage = new MemoryStorage(fakeClock());
    const one = await new Instance(storage, fakeClock(), "immediate").start();
    one.serve(1);
    await settle();
    assertEquals(await readSpent(storage), 1);
    let saves = 0;
    const save = storage.save.bind(storage);
    storage.save = (key, data) => (saves++, save(key, data));
    for (let count = 0; count < 100; count++) one.serve(1);
    await settle();
    assertEquals([saves <= 2, await readSpent(storage)], [true, 101]);
    await one.store.close();
  });

  it("sync-on-boundary: not by a request, and at the end", async () => {
    const storage = new MemoryStorage(fakeClock());
    const one = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    one.serve(1);
    await settle();
    assertEquals(await readSpent(storage), 0);
    await one.store.close();
    assertEquals(await readSpent(storage), 1);
  });
});

describe("a record that cannot be read", () => {
  const text = (value: string) => new TextEncoder().encode(value);
  const records: Readonly<Record<string, Uint8Array>> = {
    "an empty one": text(""),
    "half of one": text('{"version":1,"saved_at":17,"breakers":[{"po'),
    "bytes": Uint8Array.from({ length: 4000 }, (_, index) => index * 7 % 256),
    "a list": text("[]"),
    "one of a later version": text('{"version":2,"saved_at":0,"breakers":[],"failures":[]}'),
  };
  for (const [what, bytes] of Object.entries(records)) {
    it(`is kept aside, and stops no start: ${what}`, async () => {
      const storage = new MemoryStorage(fakeClock());
      await storage.save("state", bytes);
      const one = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
      const aside = "state.unreadable-2026-01-01T00:00:00.000Z";
      assertEquals(await storage.load(aside), bytes);
      assertEquals(one.traces.length, 1);
      assertStringIncludes(one.traces[0]!, `A copy is kept as "${aside}". All models start as active`);
      one.serve(1);
      await one.store.close();
      assertEquals(await readSpent(storage), 1);
    });
  }

  it("in single entries is read without those, and a warning names them", async () => {
    const storage = new MemoryStorage(fakeClock());
    const first = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    first.serve(7);
    await first.store.close();
    const { usage, spending, ...state } = await readRecord(storage);
    const odd = {
      ...state,
      usage: [{ ...usage[0], model: "b", requests: -1 }, ...usage, { ...usage[0], model: "c", tokens: "20" }],
      spending: [
        { budget: 5, days: [], months: [] },
        ...spending.map((entry) => ({ ...entry, days: [...entry.days, { start: 0, spent: 1e99, reserved: 0 }] })),
      ],
    };
    await storage.save("state", text(JSON.stringify(odd)));
    const second = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    assertEquals(second.traces, [
      "warning The saved state has entries that this release cannot read, which are skipped: usage[0].requests, " +
      'usage[2].tokens, spending[0].budget, spending "provider one" days[1].spent, spending "pool chat" ' +
      "days[1].spent and 1 more",
    ]);
    await second.store.close();
    const { usage: left, spending: spent } = await readRecord(storage);
    assertEquals([left, spent], [usage, spending]);
  });

  it("in single entries while the process runs is read without those, and written anew", async () => {
    const storage = new MemoryStorage(fakeClock());
    const one = await new Instance(storage, fakeClock(), "immediate").start();
    one.serve(7);
    await settle();
    const { usage, ...state } = await readRecord(storage);
    await storage.save("state", text(JSON.stringify({ ...state, usage: [...usage, { model: "b" }] })));
    one.serve(1);
    await one.store.close();
    assertEquals([await readSpent(storage), (await readRecord(storage)).usage.length, one.traces.length], [8, 1, 1]);
  });

  it("is one of at most three that are kept", async () => {
    const storage = new MemoryStorage(fakeClock());
    for (let hour = 0; hour < 5; hour++) {
      await storage.save("state", text(`damage ${hour}`));
      const clock = fakeClock({ now: Date.UTC(2026, 0, 1, hour) });
      await (await new Instance(storage, clock, "sync-on-boundary").start()).store.close();
    }
    const kept = await storage.list("state.unreadable-");
    assertEquals(kept.map((key) => key.slice(28, 30)), ["02", "03", "04"]);
  });

  it("is made up for by its backup", async () => {
    const storage = new MemoryStorage(fakeClock());
    const first = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    first.serve(7);
    await first.store.close();
    await storage.save("state.backup", (await storage.load("state"))!);
    await storage.save("state", text("{"));
    const second = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    await second.store.close();
    assertEquals(await readSpent(storage), 7);
    assertStringIncludes(second.traces[0]!, "The backup is restored");
  });

  it("while the process runs is kept aside, too, and written anew", async () => {
    const storage = new MemoryStorage(fakeClock());
    const one = await new Instance(storage, fakeClock(), "immediate").start();
    one.serve(7);
    await settle();
    await storage.save("state", text("{"));
    one.serve(1);
    await one.store.close();
    assertEquals([await readSpent(storage), (await storage.list("state.unreadable-")).length], [8, 1]);
    assertEquals(one.traces.length, 1);
    assertStringIncludes(one.traces[0]!, "it is not JSON. A copy is kept as");
  });

  it("and cannot be kept aside, since the storage is full, is left as it is until it can be", async () => {
    const storage = new MemoryStorage(fakeClock());
    await storage.save("state", text("{"));
    const save = storage.save.bind(storage);
    storage.save = () => Promise.reject(new ConnectorError("it is full", undefined, "full"));
    const one = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    assertEquals(one.traces, [
      "warning Cannot restore the saved state: it is not JSON. it is full. All models start as active",
      "error it is full",
    ]);
    assertEquals(await storage.load("state"), text("{"));
    storage.save = save;
    one.serve(3);
    await one.store.close();
    assertEquals([await readSpent(storage), (await storage.list("state.unreadable-")).length], [3, 1]);
  });

  it("with names like those of JavaScript's own objects is like any other", async () => {
    const storage = new MemoryStorage(fakeClock());
    const odd =
      '{"pool":"__proto__","model":"constructor","provider":"__proto__","requests":1,"tokens":0,"nano_usd":0}';
    await storage.save(
      "state",
      text(`{"version":1,"saved_at":0,"breakers":[],"failures":[],"usage":[${odd}],"__proto__":{"x":1}}`),
    );
    const one = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    await one.store.close();
    assertEquals(one.traces, []);
    assertEquals(JSON.stringify((await readRecord(storage)).usage), `[${odd}]`);
    assertEquals(({} as { x?: unknown }).x, undefined);
  });
});

describe("a storage that is away at the start", () => {
  it("stops it; one that is full does not, and is logged", async () => {
    const storage = new MemoryStorage(fakeClock());
    const refusal = new ConnectorError("it may not", undefined, "forbidden");
    storage.save = () => Promise.reject(refusal);
    await assertRejects(
      () => new Instance(storage, fakeClock(), "sync-on-boundary").start(),
      ConnectorError,
      "may not",
    );
    storage.save = () => Promise.reject(new ConnectorError("it is full", undefined, "full"));
    const one = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    assertEquals(one.traces, ["error it is full"]);
    await assertRejects(() => one.store.close(), ConnectorError, "it is full");
  });
});
