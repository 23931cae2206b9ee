/**
 * Counts that the processes of one proxy share, kept in a storage that they share as well: so they outlive all of them.
 * @module
 */
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import { MeshError } from "../../errors.ts";
import { isObject } from "../../util/is_object.ts";
import type { StateStore, Tracer } from "../persistence/state_store.ts";
import { RecordLock } from "../persistence/record_lock.ts";
import type { KeptSum, LocalShared } from "./shared_sums.ts";

/** The record that holds them. */
const key = "sums";

/** How another process's write is waited for, ms. */
const locking = { timeoutMs: 5_000, retryIntervalMs: 50 };

/** What a {@linkcode KeptSums} is made of. */
interface KeptSumsParts {
  readonly storage: Storage;
  readonly shared: LocalShared;
  /** How often they are written where they change, ms. */
  readonly intervalMs: number;
  readonly clock: Clock;
  /** Gets what goes wrong. */
  readonly hub: Tracer;
}

/**
 * Gives the owner of the counts what was kept, before any process counts. The first process writes them from time to
 * time, each of them at its end: the last one writes what all have counted.
 */
export class KeptSums {
  readonly #parts: KeptSumsParts;
  readonly #lock: RecordLock;
  #cancel: Cancel = () => {};
  #written = "[]";
  #failure: string | undefined;

  constructor(parts: KeptSumsParts) {
    this.#parts = parts;
    this.#lock = new RecordLock({ storage: parts.storage, key, clock: parts.clock, locking });
  }

  /** A store that has the counts from before, and keeps them. */
  around(store: StateStore): StateStore {
    return {
      get storage() {
        return store.storage;
      },
      load: async (state) => {
        await this.#load();
        await store.load(state);
      },
      mark: () => store.mark(),
      close: async () => {
        this.#cancel();
        try {
          await store.close(); // reports what this process has counted
        } finally {
          await this.#save();
        }
      },
    };
  }

  async #load(): Promise<void> {
    const { storage, shared, clock, intervalMs } = this.#parts;
    this.#cancel();
    await this.#reported("read", async () => {
      const bytes = await storage.load(key);
      if (bytes !== undefined) await shared.seed(sumsIn(JSON.parse(new TextDecoder().decode(bytes))));
    });
    if (shared.isFirst) this.#cancel = clock.every(intervalMs, () => this.#save());
  }

  #save(): Promise<void> {
    const { storage, shared } = this.#parts;
    return this.#reported("save", () =>
      this.#lock.run(async (isOurs) => {
        const text = JSON.stringify(await shared.sums());
        if (text === this.#written) return true;
        if (!isOurs()) return false;
        await storage.save(key, new TextEncoder().encode(text));
        this.#written = text;
        return true;
      }));
  }

  /** What fails is traced once; the next write makes up for it. */
  async #reported(doing: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#failure = undefined;
    } catch (error) {
      const reason = MeshError.isInstance(error) ? error.message : "the record is damaged, or the storage failed";
      const message = `Cannot ${doing} what the workers have counted: ${reason}`;
      if (message !== this.#failure) this.#parts.hub.trace({ severity: "error", component: "storage", message });
      this.#failure = message;
    }
  }
}

/** What makes no sense is left out. */
function sumsIn(value: unknown): KeptSum[] {
  if (!Array.isArray(value)) return [];
  return value.filter((sum): sum is KeptSum =>
    isObject(sum) && typeof sum.key === "string" && Number.isSafeInteger(sum.value) && Number.isFinite(sum.expiresAt)
  );
}
