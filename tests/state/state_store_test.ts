/** A state that several processes keep in one record: nothing that one of them did is lost on another. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import { StateStore } from "../../src/background/state_store.ts";
import { defaultLocking } from "../../src/config/defaults.ts";
import type { SyncPolicy } from "../../src/config/storage_settings.ts";
import type { TraceEntry } from "../../src/contracts/events.ts";
import type { Storage } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import { Hub } from "../../src/observe/hub.ts";
import { type FakeClock, fakeClock, settle } from "../../src/runtime/test.ts";
import { MeshState } from "../../src/state/mesh_state.ts";
import type { ModelState } from "../../src/state/model_state.ts";
import { CodedStorage } from "../../src/storage/coded_storage.ts";
import { addMetered } from "./_metered.ts";

const minute = 60_000;
const midnight = Date.UTC(2026, 0, 2);

/** One process: a model in a pool, with a budget, a limit and a keeper. */
class Instance {
  readonly traces: string[] = [];
  readonly told: string[] = [];
  readonly state: MeshState;
  readonly store: StateStore;
  readonly model: ModelState;
  readonly #add: (pool: string) => ModelState;

  constructor(
    storage: Storage,
    readonly clock: FakeClock,
    policy: SyncPolicy,
    isLocked = policy !== "sync-on-boundary",
  ) {
    const hub = new Hub(clock);
    const trace = ({ severity, message }: TraceEntry) => void this.traces.push(`${severity} ${message}`);
    hub.add({ emit: () => {}, trace, flush: () => Promise.resolve() });
    const made = addMetered(clock, (transition) => {
      this.told.push(`${transition.to} ${transition.reason}`);
      this.store.mark();
    });
    this.state = made.state;
    this.#add = made.add;
    this.model = made.add("chat");
    const settings = { policy, intervalMs: 5000, ...(isLocked ? { locking: defaultLocking } : {}) };
    this.store = new StateStore({ storage: coded(storage), settings, clock, hub });
  }

  async start(): Promise<this> {
    await this.store.load(this.state);
    return this;
  }

  pool(name: string): ModelState {
    return this.#add(name);
  }

  /** A request that is answered for so many nano-dollars. */
  serve(nano: number, model: ModelState = this.model): void {
    const now = this.clock.monotonic();
    const spending = model.spend!({ input: 1, output: 1 }, now);
    const ticket = model.begin(now);
    spending.end({ tokens: 10, costNano: nano });
    model.finish(ticket, "success", now, { tokens: 10, costNano: nano });
  }

  fail(): void {
    const now = this.clock.monotonic();
    this.model.finish(this.model.begin(now), "failure", now, { status: 500 });
  }

  look(): string {
    this.model.settle(this.clock.monotonic());
    return this.model.status === "active" ? "active" : `${this.model.reason}`;
  }
}

function coded(storage: Storage): CodedStorage {
  return new CodedStorage(storage, { format: "json", isCompressed: false });
}

async function recordOf(storage: Storage): Promise<{
  spending: { budget: string; days: { start: number; spent: number; held: number }[] }[];
  usage: { pool: string; requests: number; tokens: number; nano: number }[];
  failures: { failures: number }[];
  rests: unknown[];
}> {
  return JSON.parse(new TextDecoder().decode(await storage.load("state")));
}

async function spentOf(storage: Storage, budget = "all"): Promise<number> {
  const { spending } = await recordOf(storage);
  const { days = [] } = spending.find((one) => one.budget === budget) ?? {};
  return days.reduce((sum, { spent, held }) => sum + spent + held, 0);
}

describe("money and limits in the record", () => {
  it("are there after a restart, of every budget", async () => {
    const storage = new MemoryStorage(fakeClock());
    const first = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    for (let count = 0; count < 3; count++) first.serve(7);
    await first.store.close();
    assertEquals(
      [await spentOf(storage), await spentOf(storage, "provider one"), await spentOf(storage, "pool chat")],
      [
        21,
        21,
        21,
      ],
    );
    const second = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    second.serve(4);
    await second.store.close();
    assertEquals(await spentOf(storage), 25);
    assertEquals(
      (await recordOf(storage)).usage,
      [
        { pool: "chat", model: "a", provider: "one", requests: 4, tokens: 40, nano: 25, window_end: midnight },
      ] as unknown as Awaited<ReturnType<typeof recordOf>>["usage"],
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
    const { usage, spending } = await recordOf(storage);
    assertEquals(usage.map(({ nano }) => nano), [1]);
    assertEquals(spending.find(({ budget }) => budget === "all")?.days.map(({ spent }) => spent), [7, 1]);
  });

  it("that were set aside when a process was killed count as spent", async () => {
    const clock = fakeClock();
    const storage = new MemoryStorage(clock);
    const killed = await new Instance(storage, clock, "immediate").start();
    killed.model.spend!({ input: 1, output: 1 }, 0);
    await settle();
    const { spending } = await recordOf(storage);
    assertEquals(spending[0]!.days.map(({ spent, held }) => [spent, held]), [[0, 2000]]);
    const next = await new Instance(storage, fakeClock(), "immediate").start();
    next.serve(5);
    await next.store.close();
    assertEquals(await spentOf(storage), 2005);
  });

  it("of a pool that no request has named yet are kept, and given to it", async () => {
    const storage = new MemoryStorage(fakeClock());
    const first = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    first.serve(7, first.pool("late"));
    await first.store.close();
    const second = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    second.store.mark();
    await settle();
    assertEquals(await spentOf(storage, "pool late"), 7);
    second.serve(2, second.pool("late"));
    await second.store.close();
    assertEquals([await spentOf(storage, "pool late"), await spentOf(storage)], [9, 9]);
    assertEquals((await recordOf(storage)).usage.map(({ nano }) => nano), [9]);
  });
});

describe("two processes on one record", () => {
  for (const policy of ["immediate", "periodic", "sync-on-boundary"] as const) {
    it(`lose no money, request or token: ${policy}`, async () => {
      const clock = fakeClock({ skipSleeps: true });
      const storage = new MemoryStorage(clock);
      const one = await new Instance(storage, clock, policy, true).start();
      const other = await new Instance(storage, clock, policy, true).start();
      for (let round = 0; round < 50; round++) {
        one.serve(1);
        if (round % 3 === 0) await settle();
        if (round % 7 === 0) other.store.mark();
        other.serve(2);
        if (round % 10 === 0) await clock.advance(1000);
      }
      await one.store.close();
      await other.store.close();
      assertEquals([one.traces, other.traces], [[], []]);
      assertEquals(await spentOf(storage), 150);
      const [usage] = (await recordOf(storage)).usage;
      assertEquals([usage?.requests, usage?.tokens, usage?.nano], [100, 1000, 150]);
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
    assertEquals(await spentOf(storage), 8);
  });

  it("see in time what the other one spends, although they have nothing to say", async () => {
    const clock = fakeClock({ skipSleeps: true });
    const storage = new MemoryStorage(clock);
    const one = await new Instance(storage, clock, "periodic").start();
    const other = await new Instance(storage, clock, "periodic").start();
    one.serve(1_000_000);
    await clock.advance(5000);
    await clock.advance(5000);
    assertEquals(other.model.obstacle!({ input: 1, output: 1 }, clock.monotonic())?.kind, "budget");
    await one.store.close();
    await other.store.close();
  });

  it("leave alone what the other one sets aside, and take it back with it", async () => {
    const clock = fakeClock({ skipSleeps: true });
    const storage = new MemoryStorage(clock);
    const one = await new Instance(storage, clock, "periodic").start();
    const other = await new Instance(storage, clock, "periodic").start();
    one.model.restEverywhere("rate_limited", clock.monotonic(), 10 * minute);
    await clock.advance(10_000);
    assertEquals([one.look(), other.look()], ["rate_limited", "rate_limited"]);
    one.state.tell(one.state.modelRest("a", "one").lift("manual"));
    await clock.advance(10_000);
    assertEquals([one.look(), other.look()], ["active", "active"]);
    assertEquals(other.told, ["active rate_limited"]);
    await one.store.close();
    await other.store.close();
    assertEquals((await recordOf(storage)).rests, []);
  });

  it("keep a rest that was made longer here while the other one ended it", async () => {
    const clock = fakeClock({ skipSleeps: true });
    const storage = new MemoryStorage(clock);
    const one = await new Instance(storage, clock, "periodic").start();
    const other = await new Instance(storage, clock, "periodic").start();
    one.model.restEverywhere("rate_limited", clock.monotonic(), 10 * minute);
    await clock.advance(10_000);
    one.state.tell(one.state.modelRest("a", "one").lift("manual"));
    other.model.restEverywhere("quota_exhausted", clock.monotonic(), 60 * minute);
    await clock.advance(20_000);
    assertEquals([one.look(), other.look()], ["quota_exhausted", "quota_exhausted"]);
    await one.store.close();
    await other.store.close();
  });

  it("count a row of failures over both, until one of them succeeds", async () => {
    const clock = fakeClock({ skipSleeps: true });
    const storage = new MemoryStorage(clock);
    const one = await new Instance(storage, clock, "periodic").start();
    const other = await new Instance(storage, clock, "periodic").start();
    one.fail();
    other.fail();
    await clock.advance(15_000);
    assertEquals([one.model.consecutiveFailures, other.model.consecutiveFailures], [2, 2]);
    one.serve(1);
    await clock.advance(15_000);
    assertEquals([one.model.consecutiveFailures, other.model.consecutiveFailures], [0, 0]);
    await one.store.close();
    await other.store.close();
  });
});

describe("the lock of the record", () => {
  it("is waited for, and what cannot be had is told; the next write makes up for it", async () => {
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
    assertEquals(await spentOf(storage), 7);
    await one.store.close();
  });

  it("that was lost while the process was held up is no right to write", async () => {
    const clock = fakeClock();
    const storage = new MemoryStorage(clock);
    const one = await new Instance(storage, clock, "immediate").start();
    const load = storage.load.bind(storage);
    storage.load = async (key) => {
      clock.jumpWall(15 * minute); // as after a stop of the process
      return await load(key);
    };
    one.serve(3);
    await settle();
    assertEquals(await spentOf(storage), 0);
    assertStringIncludes(one.traces[0]!, "the lock was lost");
    storage.load = load;
    await one.store.close();
    assertEquals(await spentOf(storage), 3);
  });
});

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
    assertEquals([saves, await spentOf(storage)], [1, 100]);
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
    assertEquals(await spentOf(storage), 1);
    let saves = 0;
    const save = storage.save.bind(storage);
    storage.save = (key, data) => (saves++, save(key, data));
    for (let count = 0; count < 100; count++) one.serve(1);
    await settle();
    assertEquals([saves <= 2, await spentOf(storage)], [true, 101]);
    await one.store.close();
  });

  it("sync-on-boundary: not by a request, and at the end", async () => {
    const storage = new MemoryStorage(fakeClock());
    const one = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    one.serve(1);
    await settle();
    assertEquals(await spentOf(storage), 0);
    await one.store.close();
    assertEquals(await spentOf(storage), 1);
  });
});

describe("a record that cannot be read", () => {
  const text = (value: string) => new TextEncoder().encode(value);
  const records: Readonly<Record<string, Uint8Array>> = {
    "an empty one": text(""),
    "half of one": text('{"version":1,"saved_at":17,"rests":[{"po'),
    "bytes": Uint8Array.from({ length: 4000 }, (_, index) => index * 7 % 256),
    "a list": text("[]"),
    "one of a later version": text('{"version":2,"saved_at":0,"rests":[],"failures":[]}'),
    "one with counts that are none": text(
      '{"version":1,"saved_at":0,"rests":[],"failures":[],"usage":[{"pool":"chat","model":"a","provider":"one","requests":-1}]}',
    ),
    "one with money that is none": text(
      '{"version":1,"saved_at":0,"rests":[],"failures":[],"spending":[{"budget":"all","days":[{"start":0,"spent":1e99,"held":0}],"months":[]}]}',
    ),
  };
  for (const [what, bytes] of Object.entries(records)) {
    it(`is kept aside, and stops no start: ${what}`, async () => {
      const storage = new MemoryStorage(fakeClock());
      await storage.save("state", bytes);
      const one = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
      const aside = "state.unreadable-2026-01-01T00:00:00.000Z";
      assertEquals(await storage.load(aside), bytes);
      assertEquals(one.traces.length, 1);
      assertStringIncludes(one.traces[0]!, `It is kept as "${aside}". All models begin as active`);
      one.serve(1);
      await one.store.close();
      assertEquals(await spentOf(storage), 1);
    });
  }

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
    assertEquals(await spentOf(storage), 7);
    assertStringIncludes(second.traces[0]!, "Its backup is used");
  });

  it("while the process runs is kept aside, too, and written anew", async () => {
    const storage = new MemoryStorage(fakeClock());
    const one = await new Instance(storage, fakeClock(), "immediate").start();
    one.serve(7);
    await settle();
    await storage.save("state", text("{"));
    one.serve(1);
    await one.store.close();
    assertEquals([await spentOf(storage), (await storage.list("state.unreadable-")).length], [8, 1]);
  });

  it("with names like those of JavaScript's own objects is like any other", async () => {
    const storage = new MemoryStorage(fakeClock());
    const odd = '{"pool":"__proto__","model":"constructor","provider":"__proto__","requests":1,"tokens":0,"nano":0}';
    await storage.save(
      "state",
      text(`{"version":1,"saved_at":0,"rests":[],"failures":[],"usage":[${odd}],"__proto__":{"x":1}}`),
    );
    const one = await new Instance(storage, fakeClock(), "sync-on-boundary").start();
    await one.store.close();
    assertEquals(one.traces, []);
    assertEquals(JSON.stringify((await recordOf(storage)).usage), `[${odd}]`);
    assertEquals(({} as { x?: unknown }).x, undefined);
  });
});

describe("a storage that is away at the start", () => {
  it("stops it; one that is full does not, and is told", async () => {
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
