/**
 * Persists the counters that the worker processes of one proxy share, so that they outlive the processes.
 * @module
 */
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import type { CodedStorage } from "../../storage/coded_storage.ts";
import { MeshError } from "../../errors.ts";
import { isObject } from "../../util/is_object.ts";
import { RetryTimer } from "../../util/retry_timer.ts";
import { findConnectorProblem, lastWrite, writeRetry } from "../persistence/_failure.ts";
import type { StateStore, Tracer } from "../persistence/state_store.ts";
import { RecordLock } from "../persistence/record_lock.ts";
import type { LocalShared, SavedSum } from "./shared_sums.ts";

/** Key of the record. */
const key = "sums";

/** How to wait for a write of another process, ms. */
const locking = { timeoutMs: 5_000, retryIntervalMs: 50 };

/** What persists the sums of {@linkcode withSavedSums}. */
interface SavedSumsParts {
  readonly storage: Storage & Pick<CodedStorage, "title">;
  readonly shared: LocalShared;
  /** Interval of writes when counters have changed, ms. */
  readonly intervalMs: number;
  readonly clock: Clock;
  /** Receives traces of failures. */
  readonly hub: Tracer;
}

/** Wraps a store: restores the counters before it loads, and persists them after it closes. */
export function withSavedSums(store: StateStore, parts: SavedSumsParts): StateStore {
  return new SavedSums(parts).around(store);
}

/**
 * Restores the persisted counters before any process counts. The first process writes them periodically, and each
 * process at its end, so that the last write has the final totals. A failed read or write is retried after a backoff,
 * and nothing is written before the record has been read.
 */
class SavedSums {
  readonly #parts: SavedSumsParts;
  readonly #lock: RecordLock;
  #cancel: Cancel = () => {};
  #written = "[]";
  #failure: string | undefined;
  #isRead = false;
  #isClosed = false;
  #last: Promise<void> = Promise.resolve();
  readonly #retries: RetryTimer;

  constructor(parts: SavedSumsParts) {
    this.#parts = parts;
    this.#lock = new RecordLock({ storage: parts.storage, key, clock: parts.clock, locking });
    this.#retries = new RetryTimer(parts.clock, { ...writeRetry, retry: () => this.#save() });
  }

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
          const late = await lastWrite(() => this.#save(), { ...this.#parts, settings: { locking } });
          if (late !== undefined) this.#trace(late.message);
          this.#isClosed = true;
          this.#retries.reset();
        }
      },
    };
  }

  async #load(): Promise<void> {
    const { shared, clock, intervalMs } = this.#parts;
    this.#cancel();
    this.#isRead = this.#isClosed = false;
    await this.#reportingFailure("read", () => this.#read());
    if (shared.isFirst) this.#cancel = clock.every(intervalMs, () => this.#save());
  }

  /** Restores the counters. They add to what has been counted if the record could not be read earlier. */
  async #read(): Promise<void> {
    const { storage, shared } = this.#parts;
    const bytes = await storage.load(key).catch((error) => {
      this.#isRead = findConnectorProblem(error) === "unreadable"; // a damaged record is replaced
      throw error;
    });
    this.#isRead = true;
    if (bytes !== undefined) await shared.seed(sumsIn(JSON.parse(new TextDecoder().decode(bytes))));
  }

  /** Saves run one after the other, since both would hold the lock of this process. */
  #save(): Promise<void> {
    return this.#last = this.#last.then(() => this.#saveNow());
  }

  async #saveNow(): Promise<void> {
    if (!this.#isRead) await this.#reportingFailure("read", () => this.#read());
    if (this.#isRead) await this.#reportingFailure("save", () => this.#lock.run((isOurs) => this.#write(isOurs)));
  }

  async #write(isOurs: () => boolean): Promise<boolean> {
    const { storage, shared } = this.#parts;
    const json = JSON.stringify(await shared.sums());
    if (json === this.#written) return true;
    if (!isOurs()) return false;
    await storage.save(key, new TextEncoder().encode(json));
    this.#written = json;
    return true;
  }

  /** Runs a task, traces its failure once, and schedules a retry. */
  async #reportingFailure(action: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#failure = undefined;
      this.#retries.reset();
    } catch (error) {
      const reason = MeshError.isInstance(error) ? error.message : "the record is damaged, or the storage failed";
      const message = `Cannot ${action} the counters of the worker processes: ${reason}`;
      if (message !== this.#failure) this.#trace(message);
      this.#failure = message;
      if (!this.#isClosed) this.#retries.schedule();
    }
  }

  #trace(message: string): void {
    this.#parts.hub.trace({ severity: "error", component: "storage", message });
  }
}

/** Parses persisted counters, and skips invalid ones. */
function sumsIn(value: unknown): SavedSum[] {
  if (!Array.isArray(value)) return [];
  return value.filter((sum): sum is SavedSum =>
    isObject(sum) && typeof sum.key === "string" && Number.isSafeInteger(sum.value) && Number.isFinite(sum.expiresAt)
  );
}
