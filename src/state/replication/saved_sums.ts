/**
 * Persists the counters that the worker processes of one proxy share, so that they outlive the processes.
 * @module
 */
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import { MeshError } from "../../errors.ts";
import { isObject } from "../../util/is_object.ts";
import type { StateStore, Tracer } from "../persistence/state_store.ts";
import { RecordLock } from "../persistence/record_lock.ts";
import type { LocalShared, SavedSum } from "./shared_sums.ts";

/** Key of the record. */
const key = "sums";

/** How to wait for a write of another process, ms. */
const locking = { timeoutMs: 5_000, retryIntervalMs: 50 };

/** Dependencies of {@linkcode SavedSums}. */
interface SavedSumsParts {
  readonly storage: Storage;
  readonly shared: LocalShared;
  /** Interval of writes when counters have changed, ms. */
  readonly intervalMs: number;
  readonly clock: Clock;
  /** Receives traces of failures. */
  readonly hub: Tracer;
}

/**
 * Restores the persisted counters before any process counts. The first process writes them periodically, and each
 * process at its end, so that the last write has the final totals.
 */
export class SavedSums {
  readonly #parts: SavedSumsParts;
  readonly #lock: RecordLock;
  #cancel: Cancel = () => {};
  #written = "[]";
  #failure: string | undefined;

  constructor(parts: SavedSumsParts) {
    this.#parts = parts;
    this.#lock = new RecordLock({ storage: parts.storage, key, clock: parts.clock, locking });
  }

  /** Wraps a store: restores the counters before it loads, and persists them after it closes. */
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
          await store.close(); // reports the counters of this process
        } finally {
          await this.#save();
        }
      },
    };
  }

  async #load(): Promise<void> {
    const { storage, shared, clock, intervalMs } = this.#parts;
    this.#cancel();
    await this.#reportingFailure("read", async () => {
      const bytes = await storage.load(key);
      if (bytes !== undefined) await shared.seed(sumsIn(JSON.parse(new TextDecoder().decode(bytes))));
    });
    if (shared.isFirst) this.#cancel = clock.every(intervalMs, () => this.#save());
  }

  #save(): Promise<void> {
    const { storage, shared } = this.#parts;
    return this.#reportingFailure("save", () =>
      this.#lock.run(async (isOurs) => {
        const json = JSON.stringify(await shared.sums());
        if (json === this.#written) return true;
        if (!isOurs()) return false;
        await storage.save(key, new TextEncoder().encode(json));
        this.#written = json;
        return true;
      }));
  }

  /** Runs a task and traces its failure, once. The next write retries. */
  async #reportingFailure(action: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#failure = undefined;
    } catch (error) {
      const reason = MeshError.isInstance(error) ? error.message : "the record is damaged, or the storage failed";
      const message = `Cannot ${action} the counters of the worker processes: ${reason}`;
      if (message !== this.#failure) this.#parts.hub.trace({ severity: "error", component: "storage", message });
      this.#failure = message;
    }
  }
}

/** Parses persisted counters, and skips invalid ones. */
function sumsIn(value: unknown): SavedSum[] {
  if (!Array.isArray(value)) return [];
  return value.filter((sum): sum is SavedSum =>
    isObject(sum) && typeof sum.key === "string" && Number.isSafeInteger(sum.value) && Number.isFinite(sum.expiresAt)
  );
}
