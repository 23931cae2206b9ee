/**
 * Processes, as far as their memory goes, that keep a state in one record.
 * @module
 */
import { assertEquals } from "@std/assert";
import { SnapshotStore } from "../../src/state/persistence/snapshot_store.ts";
import type { StorageSettings } from "../../src/config/settings/storage.ts";
import type { TraceEntry } from "../../src/contracts/events.ts";
import type { Storage } from "../../src/contracts/storage.ts";
import { Hub } from "../../src/observe/hub.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import type { MeshState } from "../../src/state/model/mesh_state.ts";
import type { ModelState } from "../../src/state/model/model_state.ts";
import { CodedStorage } from "../../src/storage/coded_storage.ts";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import { addMetered } from "./_tracked.ts";

/** One process: a model in a pool, with a budget, a limit and a keeper. */
export class Instance {
  readonly traces: string[] = [];
  readonly reported: string[] = [];
  readonly state: MeshState;
  readonly store: SnapshotStore;
  readonly model: ModelState;
  readonly clock: FakeClock;
  readonly #add: (pool: string) => ModelState;

  constructor(
    storage: Storage,
    clock: FakeClock,
    policy: StorageSettings["policy"],
    isLocked: boolean = policy !== "sync-on-boundary",
  ) {
    this.clock = clock;
    const hub = new Hub(clock);
    const trace = ({ severity, message }: TraceEntry) => void this.traces.push(`${severity} ${message}`);
    hub.add({ emit: () => {}, trace, flush: () => Promise.resolve() });
    const made = addMetered(clock, (transition) => {
      this.reported.push(`${transition.to} ${transition.reason}`);
      this.store.mark();
    });
    this.state = made.state;
    this.#add = made.add;
    this.model = made.add("chat");
    const settings = {
      policy,
      intervalMs: 5000,
      ...(isLocked ? { locking: { timeoutMs: 30_000, retryIntervalMs: 1_000 } } : {}),
    };
    this.store = new SnapshotStore({ storage: coded(storage), settings, clock, hub });
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
    const permit = model.admit({ input: 1, output: 1 }, now);
    assertEquals(permit.confirm(this.clock), undefined); // nothing is shared
    permit.take();
    permit.release("success", now, { tokens: 10, costNanoUsd: nano });
  }

  fail(): void {
    const now = this.clock.monotonic();
    const permit = this.model.admit({ input: 1, output: 1 }, now);
    assertEquals(permit.confirm(this.clock), undefined); // nothing is shared
    permit.take()?.fail(true);
    permit.release("failure", now, { status: 500 });
  }

  look(): string {
    this.model.refresh(this.clock.monotonic());
    return this.model.status === "active" ? "active" : `${this.model.reason}`;
  }
}

/** Two processes on one record, by one clock. */
export interface TwoInstances {
  readonly clock: FakeClock;
  readonly storage: MemoryStorage;
  readonly one: Instance;
  readonly other: Instance;
  /** Ends both, the first one first. */
  close(): Promise<void>;
}

/**
 * Starts two processes.
 *
 * @param policy When they write.
 * @param clock Their time; waits for the lock are skipped unless it is given.
 */
export async function startTwo(
  policy: StorageSettings["policy"],
  clock: FakeClock = fakeClock({ skipSleeps: true }),
): Promise<TwoInstances> {
  const storage = new MemoryStorage(clock);
  const one = await new Instance(storage, clock, policy, true).start();
  const other = await new Instance(storage, clock, policy, true).start();
  const close = async () => {
    await one.store.close();
    await other.store.close();
  };
  return { clock, storage, one, other, close };
}

function coded(storage: Storage): CodedStorage {
  return new CodedStorage(storage, { format: "json", isCompressed: false });
}

/** What the record `state` says. */
export async function readRecord(storage: Storage): Promise<{
  spending: { budget: string; days: { start: number; spent: number; reserved: number }[] }[];
  usage: { pool: string; requests: number; tokens: number; nano_usd: number }[];
  failures: { failures: number }[];
  breakers: unknown[];
}> {
  return JSON.parse(new TextDecoder().decode(await storage.load("state")));
}

/** What it says that was spent of a budget today and before, nano-dollars. */
export async function readSpent(storage: Storage, budget = "all"): Promise<number> {
  const { spending } = await readRecord(storage);
  const { days = [] } = spending.find((one) => one.budget === budget) ?? {};
  return days.reduce((sum, { spent, reserved }) => sum + spent + reserved, 0);
}
