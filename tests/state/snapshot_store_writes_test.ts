/** When the state is read and written, and what happens when it cannot be. */
import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import { defaultStorage } from "../../src/config/settings/defaults.ts";
import { SnapshotStore, type SnapshotStoreParts } from "../../src/state/persistence/snapshot_store.ts";
import type { TraceEntry } from "../../src/contracts/events.ts";
import { ConnectorError } from "../../src/errors.ts";
import { Hub } from "../../src/observe/hub.ts";
import { fakeClock, settle } from "../../src/runtime/test.ts";
import { CodedStorage } from "../../src/storage/coded_storage.ts";
import { Process } from "./_state.ts";

const full = () => new ConnectorError('"test" cannot save "state": it is full', undefined, "full");
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

/** A storage that a test holds up and breaks. */
class TestStorage extends MemoryStorage {
  /** What was saved under `state`, in order; the failed ones too. */
  readonly saves: Record<string, unknown>[] = [];
  /** Reads under way, and so on: what every call waits for. */
  gate: Promise<void> = Promise.resolve();
  /** What saving throws. */
  saveError: unknown;
  loadError: unknown;
  maxConcurrent = 0;
  #atOnce = 0;

  override async load(key: string): Promise<Uint8Array | undefined> {
    if (this.loadError !== undefined) throw this.loadError;
    return await super.load(key);
  }

  override async save(key: string, data: Uint8Array): Promise<void> {
    if (key === "state") this.saves.push(JSON.parse(text(data)));
    this.maxConcurrent = Math.max(this.maxConcurrent, ++this.#atOnce);
    await this.gate;
    this.#atOnce--;
    if (this.saveError !== undefined) throw this.saveError;
    await super.save(key, data);
  }

  /** Holds all saves up until the returned function is called. */
  hold(): () => void {
    let release = () => {};
    this.gate = new Promise((resolve) => release = resolve);
    return release;
  }
}

interface Scene {
  readonly storage: TestStorage;
  readonly process: Process;
  readonly sync: SnapshotStore;
  /** `<severity> <message>` of every trace. */
  readonly traces: string[];
}

function scene(storage = new TestStorage(fakeClock()), parts: Partial<SnapshotStoreParts> = {}): Scene {
  const process = new Process(["chat/a@one", "chat/b@one"]);
  const hub = new Hub(process.clock);
  const traces: string[] = [];
  const trace = ({ severity, component, message }: TraceEntry) => {
    traces.push(`${severity} ${message}`);
    assertEquals(component, "storage");
  };
  hub.add({ emit: () => {}, trace, flush: () => Promise.resolve() });
  const coded = new CodedStorage(storage, { format: "json", isCompressed: false });
  const sync = new SnapshotStore({ storage: coded, clock: process.clock, hub, settings: defaultStorage, ...parts });
  return { storage, process, sync, traces };
}

async function loaded(storage?: TestStorage): Promise<Scene> {
  const made = scene(storage);
  await made.sync.load(made.process.state);
  await settle();
  return made;
}

/** Two failed requests: one transition. */
function tire({ process, sync }: Scene, name = "chat/a@one"): void {
  process.request(name, "failure");
  process.request(name, "failure");
  sync.mark();
}

describe("a state in a storage", () => {
  it("is written at the start and at every boundary, and read by the next process", async () => {
    const first = await loaded();
    assertEquals(first.storage.saves.map(({ breakers }) => breakers), [[]]);
    tire(first);
    await settle();
    assertEquals(first.storage.saves.length, 2);
    const second = await loaded(first.storage);
    assertEquals(second.process.look("chat/a@one"), "retry_limit for 60s");
    assertEquals([first.traces, second.traces], [[], []]);
  });

  it("is written once for boundaries of the same moment", async () => {
    const it = await loaded();
    tire(it, "chat/a@one");
    tire(it, "chat/b@one");
    await settle();
    assertEquals(it.storage.saves.map(({ breakers }) => (breakers as unknown[]).length), [0, 2]);
  });

  it("has one write under way at most, and the latest state wins: a burst makes two writes", async () => {
    const it = await loaded();
    const release = it.storage.hold();
    for (let count = 0; count < 100; count++) {
      it.process.model("chat/a@one").breakers.openModel("rate_limited", 0, 1000 * (count + 1));
      it.sync.mark();
      await settle();
    }
    assertEquals([it.storage.saves.length, it.storage.maxConcurrent], [2, 1]);
    release();
    await settle();
    assertEquals([it.storage.saves.length, it.storage.maxConcurrent], [3, 1]);
    assertEquals(it.storage.saves.at(-1), { ...it.process.written() as object, usage: [], spending: [] });
  });

  it("forgets no boundary that comes in the very moment a write ends", async () => {
    for (let turns = 0; turns < 12; turns++) {
      const it = await loaded();
      const release = it.storage.hold();
      tire(it, "chat/a@one");
      await settle();
      release();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      tire(it, "chat/b@one");
      await settle();
      assertEquals((it.storage.saves.at(-1)!.breakers as unknown[]).length, 2, `after ${turns} turns`);
    }
  });

  it("is written at the end, and not after it", async () => {
    const it = await loaded();
    it.process.request("chat/a@one", "failure"); // no transition
    await it.sync.close();
    assertEquals((it.storage.saves.at(-1)!.failures as unknown[]).length, 1);
    const count = it.storage.saves.length;
    tire(it);
    await it.sync.close();
    await settle();
    assertEquals(it.storage.saves.length, count);
  });

  it("waits at the end for the write under way, and writes what came since", async () => {
    const it = await loaded();
    const release = it.storage.hold();
    tire(it, "chat/a@one");
    await settle();
    tire(it, "chat/b@one");
    let isClosed = false;
    const closing = it.sync.close().then(() => isClosed = true);
    await settle();
    assertEquals(isClosed, false);
    release();
    await closing;
    assertEquals((it.storage.saves.at(-1)!.breakers as unknown[]).length, 2);
  });

  it("is not written before it was read, nor when nothing was", async () => {
    const it = scene();
    it.sync.mark();
    await it.sync.close();
    assertEquals(it.storage.saves, []);
  });

  it("of a mesh that is configured again goes on where it was", async () => {
    const it = await loaded();
    tire(it);
    const next = new Process(["chat/a@one"]);
    await it.sync.load(next.state);
    assertEquals(next.look("chat/a@one"), "retry_limit for 60s");
  });
});

describe("a state that processes replicate", () => {
  it("is read by a start alone, and its record has no counts", async () => {
    const standby = { provider: "one", standby: { reason: "manual", since: 0, until: null } };
    const it = scene(new TestStorage(fakeClock()), { replicated: { onUnavailable: "open" } });
    const breakers = () => it.storage.saves.at(-1)?.breakers;
    await it.sync.load(it.process.state);
    await settle();
    const others = { version: 1, saved_at: 0, breakers: [standby], failures: [] };
    await it.storage.save("state", new TextEncoder().encode(JSON.stringify(others)));
    it.sync.mark();
    await settle();
    assertEquals([breakers(), Object.keys(it.storage.saves.at(-1)!)], [[], [
      "version",
      "saved_at",
      "breakers",
      "failures",
    ]]);
    await it.storage.save("state", new TextEncoder().encode(JSON.stringify(others)));
    const next = scene(it.storage, { replicated: { onUnavailable: "open" } });
    await next.sync.load(next.process.state);
    assertEquals(next.process.look("chat/a@one"), "manual for ever");
  });

  for (const onUnavailable of ["open", "closed"] as const) {
    it(`starts ${onUnavailable === "open" ? "without a storage that is away" : "only once the storage is there"}`, async () => {
      const it = scene(new TestStorage(fakeClock()), { replicated: { onUnavailable } });
      it.storage.loadError = new ConnectorError('"test" is away', undefined, "unavailable");
      const start = it.sync.load(it.process.state);
      if (onUnavailable === "closed") return void await assertRejects(() => start, ConnectorError, "is away");
      await start;
      assertEquals(it.traces, ['warning "test" is away']);
    });
  }
});

describe("a storage that cannot be read", () => {
  it("stops the start with its error, and nothing is written over what it may hold", async () => {
    const it = scene();
    it.storage.loadError = new ConnectorError('"test" cannot be used', undefined, "forbidden");
    assertStrictEquals(await assertRejects(() => it.sync.load(it.process.state)), it.storage.loadError);
    it.sync.mark();
    await it.sync.close();
    assertEquals(it.storage.saves, []);
  });

  it("and throws something else is reported in words of ours, the cause beside", async () => {
    const it = scene();
    it.storage.loadError = new TypeError("redis://user:password@host is away");
    const error = await assertRejects(() => it.sync.load(it.process.state), ConnectorError);
    assertEquals(error.message, "Cannot read the state: the storage failed (see the error's cause)");
    assertStrictEquals(error.cause, it.storage.loadError);
  });

  it("can be tried again", async () => {
    const it = scene();
    it.storage.loadError = new Error("away");
    await assertRejects(() => it.sync.load(it.process.state));
    it.storage.loadError = undefined;
    await it.sync.load(it.process.state);
    await it.sync.close();
    assertEquals(it.storage.saves.length > 0, true);
  });
});

describe("a record with an entry that cannot be read", () => {
  it("is taken up without it, and a warning names it", async () => {
    const storage = new TestStorage(fakeClock());
    const rest = { provider: "one", standby: { reason: "manual", since: 0, until: null } };
    const record = { version: 1, saved_at: 0, breakers: [rest, { provider: 1 }], failures: [] };
    await MemoryStorage.prototype.save.call(storage, "state", new TextEncoder().encode(JSON.stringify(record)));
    const it = await loaded(storage);
    assertEquals(it.traces, [
      "warning The saved state has entries that this release cannot read, which are skipped: breakers[1].provider",
    ]);
    assertEquals(JSON.parse(text(await storage.load("state"))).breakers, [rest]);
  });
});

describe("a record that holds no state", () => {
  const copy = "state.unreadable-2026-01-01T00:00:00.000Z";
  const records: readonly [string, why: string][] = [
    ["", "it is not JSON"],
    ["{", "it is not JSON"],
    ["null", "it is damaged, or of another release"],
    ['{"version":2}', "it is damaged, or of another release"],
  ];
  for (const [record, why] of records) {
    it(`stops no start, is logged and kept aside: ${JSON.stringify(record)}`, async () => {
      const storage = new TestStorage(fakeClock());
      const bytes = new TextEncoder().encode(record);
      await MemoryStorage.prototype.save.call(storage, "state", bytes);
      const it = await loaded(storage);
      assertEquals(it.traces, [
        `warning Cannot restore the saved state: ${why}. A copy is kept as "${copy}". All models start as active`,
      ]);
      assertEquals(await storage.load(copy), bytes);
      assertEquals(JSON.parse(text(await storage.load("state"))).breakers, []);
    });
  }

  it("by the word of its storage is logged and replaced", async () => {
    const storage = new TestStorage(fakeClock());
    storage.loadError = new ConnectorError('"test" cannot read "state": it is damaged', undefined, "unreadable");
    const it = await loaded(storage);
    assertEquals(it.traces, [
      'warning "test" cannot read "state": it is damaged. No copy of it can be made. All models start as active',
    ]);
    assertEquals(storage.saves.length, 1);
  });

  it("stops no start either when there is no room to keep it", async () => {
    const storage = new TestStorage(fakeClock());
    await storage.save("state", new TextEncoder().encode("[]"));
    storage.saveError = full();
    const it = await loaded(storage);
    assertEquals(it.traces.map((line) => line.split(" ")[0]), ["warning", "error"]);
    assertEquals(it.traces[1], `error ${full().message}`);
  });
});

describe("a storage that cannot be written", () => {
  it("is logged once for each problem, and tried again at every boundary", async () => {
    const it = await loaded();
    it.storage.saveError = full();
    for (let count = 0; count < 3; count++) {
      it.sync.mark();
      await settle();
    }
    it.storage.saveError = new Error("redis://user:password@host is away");
    it.sync.mark();
    await settle();
    assertEquals(it.storage.saves.length, 5);
    assertEquals(it.traces, [
      `error ${full().message}`,
      "error Cannot save the state: the storage failed (see the error's cause)",
    ]);
  });

  it("and can be again is not a loss", async () => {
    const it = await loaded();
    it.storage.saveError = full();
    tire(it);
    await settle();
    it.storage.saveError = undefined;
    await it.sync.close();
    const next = await loaded(it.storage);
    assertEquals(next.process.look("chat/a@one"), "retry_limit for 60s");
  });

  for (const policy of ["sync-on-boundary", "immediate", "periodic"] as const) {
    it(`and can be again has the state soon, without another change: ${policy}`, async () => {
      const settings = { ...defaultStorage, policy, intervalMs: 3_600_000 };
      const it = scene(undefined, { settings });
      const { clock } = it.process;
      await it.sync.load(it.process.state);
      it.storage.saveError = full();
      tire(it);
      await clock.advance(policy === "periodic" ? 3_600_000 : 0);
      const failed = it.storage.saves.length;
      await clock.advance(3_500);
      assertEquals(it.storage.saves.length - failed, 3); // after 0.5, 1 and 2 s
      await clock.advance(600_000);
      const often = it.storage.saves.length - failed;
      assertEquals(often <= 26, true, `${often} tries in ten minutes`);
      it.storage.saveError = undefined;
      await clock.advance(30_000);
      const next = await loaded(it.storage);
      assertEquals(next.process.look("chat/a@one").split(" ")[0], "trial"); // its standby is over by now
      const writes = it.storage.saves.length;
      await clock.advance(60_000);
      assertEquals([it.storage.saves.length - writes, it.traces], [0, [`error ${full().message}`]]);
      await it.sync.close();
    });
  }

  it("is not tried again by a process that has ended", async () => {
    const it = await loaded();
    it.storage.saveError = full();
    tire(it);
    await settle();
    await assertRejects(() => it.sync.close());
    const { length } = it.storage.saves;
    await it.process.clock.advance(600_000);
    assertEquals([it.storage.saves.length, it.process.clock.pending], [length, 0]);
  });

  it("at the end rejects with the error, each time one asks: the state is lost", async () => {
    const it = await loaded();
    it.storage.saveError = full();
    for (let count = 0; count < 2; count++) {
      assertStrictEquals(await assertRejects(() => it.sync.close()), it.storage.saveError);
    }
  });

  it("since it throws at once is no different", async () => {
    const it = await loaded();
    it.storage.save = () => {
      throw full();
    };
    it.sync.mark();
    await assertRejects(() => it.sync.close(), ConnectorError, "it is full");
  });
});
