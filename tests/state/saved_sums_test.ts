/** Counts that the processes of one proxy share, in a storage: so they outlive all of them. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import { ConnectorError } from "../../src/errors.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import type { StateStore } from "../../src/state/persistence/state_store.ts";
import { withSavedSums } from "../../src/state/sharing/saved_sums.ts";
import { LinkedShared, SharedOwner, SharedSums } from "../../src/state/sharing/shared_sums.ts";

const state = {} as Parameters<StateStore["load"]>[0];

/** A proxy of several processes, whose counts one of them owns. */
class Proxy {
  readonly sums: SharedSums;
  readonly traces: string[] = [];
  readonly storage: MemoryStorage;
  readonly clock: FakeClock;

  constructor(storage: MemoryStorage, clock: FakeClock) {
    this.storage = storage;
    this.clock = clock;
    this.sums = new SharedSums(clock);
  }

  /** Starts one of its processes; `reported` is done when it ends, before it saves. */
  async process(number: number, reported: () => void = () => {}): Promise<StateStore> {
    const owner = new SharedOwner(this.sums, () => {});
    const shared: LinkedShared = new LinkedShared((call) => shared.receive(owner.respond(call, number)), number === 1);
    const inner = {
      load: () => Promise.resolve(),
      mark: () => {},
      close: () => Promise.resolve(reported()),
    };
    const store = withSavedSums(inner, {
      storage: Object.assign(this.storage, { title: "The storage" }),
      shared,
      intervalMs: 1_000,
      clock: this.clock,
      hub: { trace: ({ message }) => void this.traces.push(String(message)) },
    });
    await store.load(state);
    return store;
  }

  /** Counts so much for a budget. */
  spend(by: number, leased = 0): void {
    this.sums.add([{ key: "budget all", by, leased, expiresAt: this.clock.now() + 1e6 }], 1);
  }

  spent(): number | undefined {
    return this.sums.list().find(({ key }) => key === "budget all")?.value;
  }
}

function scene() {
  const clock = fakeClock();
  const storage = new MemoryStorage(clock);
  return { clock, storage, next: () => new Proxy(storage, clock) };
}

describe("Counts of several processes", () => {
  it("go on with the next proxy, as the last process left them", async () => {
    const { next } = scene();
    const before = next();
    const [first, second] = [await before.process(1), await before.process(2, () => before.spend(2))];
    before.spend(5);
    await first.close();
    await second.close();
    const after = next();
    await after.process(1);
    assertEquals(after.spent(), 7);
  });

  it("are written from time to time by the first process, where they have changed", async () => {
    const { clock, storage, next } = scene();
    const proxy = next();
    const store = await proxy.process(2);
    proxy.spend(5);
    await clock.advance(5_000);
    assertEquals(await storage.load("sums"), undefined);
    const first = await proxy.process(1);
    await clock.advance(1_000);
    const after = next();
    await after.process(1);
    assertEquals(after.spent(), 5);
    for (const one of [first, store]) await one.close();
  });

  it("are given to the owner once: a process that starts anew finds them counted on", async () => {
    const { next } = scene();
    const before = next();
    before.spend(5);
    await (await before.process(1)).close();
    const after = next();
    await after.process(1);
    after.spend(1);
    await after.process(2);
    assertEquals(after.spent(), 6);
  });

  it("leave out what ends with a process", async () => {
    const { next } = scene();
    const before = next();
    before.spend(8, 3);
    await (await before.process(1)).close();
    const after = next();
    await after.process(1);
    assertEquals(after.spent(), 5);
  });

  it("begin anew where the record is damaged; that is traced", async () => {
    const { storage, next } = scene();
    await storage.save("sums", new TextEncoder().encode("{"));
    const proxy = next();
    await proxy.process(1);
    assertEquals([proxy.spent(), proxy.traces.length], [undefined, 1]);
  });

  it("are saved later where the storage fails; that is traced once", async () => {
    const { clock, storage, next } = scene();
    const proxy = next();
    const store = await proxy.process(1);
    proxy.spend(5);
    const save = storage.save.bind(storage);
    storage.save = () => Promise.reject(new ConnectorError("The disk is full", undefined, "full"));
    await clock.advance(3_000);
    assertEquals(proxy.traces, ["Cannot save the counters of the worker processes: The disk is full"]);
    storage.save = save;
    await store.close();
    const after = next();
    await after.process(1);
    assertEquals(after.spent(), 5);
  });

  it("that could not be saved are tried again, later and later, until they are", async () => {
    const { clock, storage, next } = scene();
    const proxy = next();
    const store = await proxy.process(2); // which does not save from time to time
    proxy.spend(5);
    const save = storage.save.bind(storage);
    const tries: number[] = [];
    storage.save = () => {
      tries.push(clock.monotonic());
      return Promise.reject(new ConnectorError("The disk is full", undefined, "full"));
    };
    const closing = store.close();
    await closing;
    assertEquals(tries.length, 1); // a process that ends does not stay for it
    await clock.advance(100_000);
    assertEquals(tries.length, 1);
    const first = await proxy.process(1);
    proxy.spend(1);
    await clock.advance(1_400);
    storage.save = save;
    await clock.advance(100); // 500 ms after the failure, not with the next turn
    const after = next();
    await after.process(1);
    assertEquals(after.spent(), 6);
    await first.close();
  });

  it("are not written over while they cannot be read, and add to what is counted meanwhile", async () => {
    const { clock, storage, next } = scene();
    const before = next();
    before.spend(5);
    await (await before.process(1)).close();
    const load = storage.load.bind(storage);
    storage.load = () => Promise.reject(new ConnectorError("The bucket is away", undefined, "unavailable"));
    const proxy = next();
    const first = await proxy.process(1);
    proxy.spend(2);
    await clock.advance(10_000);
    assertEquals(proxy.traces, ["Cannot read the counters of the worker processes: The bucket is away"]);
    storage.load = load;
    await clock.advance(30_000);
    assertEquals(proxy.spent(), 7);
    await first.close();
    const after = next();
    await after.process(1);
    assertEquals(after.spent(), 7);
  });
});
