/**
 * Persists the state of a mesh in a record of a storage.
 * @module
 */
import type { StorageSettings } from "../../config/settings/storage.ts";
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import type { MeshError } from "../../errors.ts";
import type { CodedStorage } from "../../storage/coded_storage.ts";
import { SnapshotMapper } from "./snapshot_mapper.ts";
import type { MeshSnapshot } from "./snapshot.ts";
import type { MeshState } from "../model/mesh_state.ts";
import { describeLeftOut } from "./snapshot_codec.ts";
import { RetryTimer } from "../../util/retry_timer.ts";
import { findConnectorProblem, lastWrite, toStorageError, writeRetry } from "./_failure.ts";
import { copyUnreadable, unreadableReason } from "./_unreadable.ts";
import { RecordLock } from "./record_lock.ts";
import type { StateStore, Tracer } from "./state_store.ts";

/** Dependencies of a {@linkcode SnapshotStore}. */
export interface SnapshotStoreParts {
  /** The storage of the record. */
  readonly storage: CodedStorage;
  /** When to write, and whether to lock. */
  readonly settings: Pick<StorageSettings, "policy" | "intervalMs" | "locking">;
  readonly clock: Clock;
  /** Receives traces of failures. */
  readonly hub: Tracer;
  /**
   * Set when a shared storage replicates standbys and counters. The record then serves process starts only: it is read
   * once and has no counters. While the storage is unavailable, a start waits for it (`closed`) or continues without it
   * (`open`).
   */
  readonly replicated?: { readonly onUnavailable: "open" | "closed" };
}

/** Key of the record. */
const stateKey = "state";

const laterMessage = "Another process holds the lock of the saved state: it is saved once the lock is released";

/**
 * Persists the state of one process in a record. Before each write it merges what other processes have written; under a
 * lock, no process writes in between and nothing is lost. At most one write is in flight, and no request waits for it.
 * A failed write is traced once, and retried with the next change or after a backoff, whichever comes first;
 * {@linkcode SnapshotStore.close} throws the failure of the last one.
 */
export class SnapshotStore implements StateStore {
  readonly #parts: SnapshotStoreParts;
  readonly #lock: RecordLock | undefined;
  #mapper: SnapshotMapper | undefined;
  #syncing: Promise<void> | undefined;
  #hasChanged = false;
  #isClosed = false;
  #isRead = false;
  #stop: Cancel | undefined;
  #failure: MeshError | undefined;
  readonly #retries: RetryTimer;
  /** The record that this process wrote last, or tried to write. */
  #written: string | undefined;
  /** Whether an unreadable record has been copied, and not been replaced yet. */
  #isCopied = false;
  /** The invalid entries of the record when it was last read. */
  #invalidEntries: string | undefined;

  constructor(parts: SnapshotStoreParts) {
    this.#parts = parts;
    const { storage, clock, settings: { locking } } = parts;
    this.#retries = new RetryTimer(clock, { ...writeRetry, retry: () => this.#syncing ??= this.#syncAll() });
    if (locking !== undefined) this.#lock = new RecordLock({ storage, key: stateKey, clock, locking });
  }

  get storage(): CodedStorage {
    return this.#parts.storage;
  }

  /**
   * Restores the persisted state, and persists it from now on. An unreadable record is traced and copied, and its
   * backup is restored instead, if there is one.
   *
   * @throws {ConnectorError} When the storage cannot be used, or the record is encrypted with another key.
   */
  async load(state: MeshState): Promise<void> {
    this.#stop?.();
    this.#retries.reset();
    this.#isRead = false;
    if (this.#mapper !== undefined) await this.write(); // the state before the mesh was reconfigured
    const { clock, replicated } = this.#parts;
    const mapper = new SnapshotMapper(state, clock, { hasUsage: replicated === undefined });
    mapper.restore({ version: 1, saved_at: clock.now(), breakers: [], failures: [], usage: [], spending: [] });
    await this.#restore(mapper);
    await this.#start(mapper, state);
  }

  /**
   * Persists a state that continues from another store of this process.
   *
   * @param base The record as the other store knows it.
   * @throws {ConnectorError} When the storage cannot be used.
   */
  async adopt(state: MeshState, base: MeshSnapshot | undefined): Promise<void> {
    const mapper = new SnapshotMapper(state, this.#parts.clock);
    const counts = mapper.snapshot();
    const states = state.mapper instanceof SnapshotMapper ? state.mapper.snapshot() : counts;
    mapper.restore({ ...counts, ...states, spending: [] }); // sums are shared already
    mapper.setKnown(base ?? counts);
    await this.#start(mapper, state);
  }

  /** Writes the state a last time, so that another store of this process can continue. Returns the record. */
  async release(): Promise<MeshSnapshot | undefined> {
    await this.close().catch(() => {}); // traced; the other store writes it
    return this.#mapper?.base;
  }

  /** Schedules a write after a change of state. Returns immediately. */
  mark(): void {
    if (this.#mapper === undefined || this.#isClosed) return;
    this.#hasChanged = true;
    if (this.#parts.settings.policy !== "periodic") this.#syncing ??= this.#syncAll();
  }

  /** Writes the state now, and waits for it. Failures are traced. */
  async write(): Promise<void> {
    this.#hasChanged = true;
    await this.#syncing;
    if (this.#hasChanged) await (this.#syncing = this.#syncAll());
  }

  /**
   * Writes the state a last time.
   *
   * @throws {ConnectorError} When the write fails and the state is lost.
   */
  async close(): Promise<void> {
    this.#stop?.();
    const isFirst = this.#mapper !== undefined && !this.#isClosed;
    this.#isClosed = true;
    const late = isFirst ? await lastWrite(() => this.write(), this.#parts) : undefined;
    this.#failure ??= late;
    this.#retries.reset();
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #start(mapper: SnapshotMapper, state: MeshState): Promise<void> {
    const { clock, replicated, settings: { policy, intervalMs } } = this.#parts;
    this.#mapper = mapper;
    if (replicated !== undefined) return this.mark();
    if (policy === "immediate" || policy === "periodic") this.#listen(mapper, state);
    await this.#begin();
    if (policy === "periodic") this.#stop = clock.every(intervalMs, () => this.#turn());
  }

  /** Schedules a write when a counter has changed, including counters of models created later. */
  #listen(mapper: SnapshotMapper, state: MeshState): void {
    const listenTo = ({ state: model }: MeshState["members"][number]) => {
      model.onCount = () => this.mark();
    };
    state.members.forEach(listenTo);
    mapper.onMember = listenTo;
  }

  /**
   * Makes the first write, which fails if the storage is not writable. A full storage may have room later, and a lock
   * of another process is waited for later.
   */
  async #begin(): Promise<void> {
    if (this.#lock !== undefined) this.#lock.waitsForOwner = false;
    await this.write();
    if (this.#lock !== undefined) this.#lock.waitsForOwner = true;
    const failure = this.#failure;
    if (findConnectorProblem(failure) === "locked") this.mark();
    if (findConnectorProblem(failure) !== "forbidden") return; // a retry may succeed
    this.#retries.reset();
    this.#mapper = this.#failure = undefined; // nothing is persisted, and `close` has nothing to report
    throw failure;
  }

  async #turn(): Promise<void> {
    await this.#syncing;
    await (this.#syncing = this.#hasChanged ? this.#syncAll() : this.#poll());
  }

  async #syncAll(): Promise<void> {
    do {
      await Promise.resolve(); // one write for all changes of this turn
      this.#hasChanged = false;
      await this.#reported(() => this.#lock?.run((isOurs) => this.#sync(isOurs)) ?? this.#sync());
    } while (this.#hasChanged && this.#failure === undefined && this.#parts.settings.policy !== "periodic");
    this.#syncing = undefined; // before the promise settles, else a change in between is lost
  }

  /** Merges what other processes have written when this process has nothing to write. */
  async #poll(): Promise<void> {
    await this.#reported(() => this.#mergeStored());
    this.#syncing = undefined;
  }

  /** Merges and writes. Returns false, without writing, when the lock was lost. */
  async #sync(isOurs: () => boolean = () => true): Promise<boolean> {
    await this.#mergeStored();
    const snapshot = this.#mapper!.snapshot();
    const json = JSON.stringify(snapshot);
    if (!isOurs()) return false;
    this.#written = json; // also on failure: it may have been written
    await this.#parts.storage.save(stateKey, new TextEncoder().encode(json));
    this.#mapper!.setKnown(snapshot);
    this.#isCopied = false;
    return true;
  }

  /** Merges what other processes have written. An unreadable record is copied and replaced. */
  async #mergeStored(): Promise<void> {
    const reason = await this.#read((json) => {
      const stored = JSON.parse(json);
      if (json === this.#written) this.#mapper!.setKnown(stored);
      else this.#hasChanged = this.#traceInvalidEntries(this.#mapper!.mergeStored(stored)) || this.#hasChanged;
    });
    if (reason === undefined || this.#isCopied) return;
    this.#trace("warning", `${reason}. ${await this.#copyUnreadable()}. It is rewritten`);
    this.#hasChanged = true;
  }

  async #restore(mapper: SnapshotMapper): Promise<void> {
    const restore = (json: string) => void this.#traceInvalidEntries(mapper.restore(JSON.parse(json)));
    const reason = await this.#read(restore).catch((error) => this.#ignoreUnavailable(toStorageError(error, "read")));
    if (reason === undefined) return;
    const end = await this.#readBackup(restore) ? "The backup is restored" : "All models start as active";
    const copied = await this.#copyUnreadable().catch((error) => toStorageError(error, "keep").message);
    this.#trace("warning", `${reason}. ${copied}. ${end}`);
  }

  /** Traces the invalid entries of a record, once. Returns whether there are any. */
  #traceInvalidEntries(leftOut: readonly string[]): boolean {
    const message = describeLeftOut(leftOut);
    if (message !== undefined && message !== this.#invalidEntries) this.#trace("warning", message);
    this.#invalidEntries = message;
    return message !== undefined;
  }

  async #readBackup(restore: (json: string) => void): Promise<boolean> {
    try {
      const bytes = await this.#parts.storage.load(`${stateKey}.backup`);
      if (bytes !== undefined) restore(new TextDecoder().decode(bytes));
      return bytes !== undefined;
    } catch {
      return false; // damaged as well
    }
  }

  async #copyUnreadable(): Promise<string> {
    const { storage, clock } = this.#parts;
    const result = await copyUnreadable(storage, stateKey, clock.now());
    this.#isCopied = true;
    return result;
  }

  /**
   * Reads the record, if there is one.
   *
   * @returns The reason, when it cannot be read.
   */
  async #read(use: (json: string) => void): Promise<string | undefined> {
    if (this.#parts.replicated !== undefined && this.#isRead) return undefined;
    try {
      const bytes = await this.#parts.storage.load(stateKey);
      this.#isRead = true;
      if (bytes !== undefined) use(new TextDecoder().decode(bytes));
      return undefined;
    } catch (error) {
      return unreadableReason(error);
    }
  }

  #ignoreUnavailable(error: MeshError): undefined {
    if (findConnectorProblem(error) !== "unavailable" || this.#parts.replicated?.onUnavailable !== "open") throw error;
    this.#trace("warning", error.message);
  }

  /** Runs a task and traces its failure. A persistent failure is traced once. */
  async #reported(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.#failure = undefined;
      this.#retries.reset();
    } catch (error) {
      const failure = toStorageError(error, "save");
      if (findConnectorProblem(failure) === "locked" && this.#lock?.waitsForOwner === false) {
        this.#trace("info", laterMessage);
      } else if (failure.message !== this.#failure?.message) this.#trace("error", failure.message);
      this.#failure = failure;
      this.#hasChanged = true;
      if (!this.#isClosed) this.#retries.schedule();
    }
  }

  #trace(severity: "info" | "warning" | "error", message: string): void {
    this.#parts.hub.trace({ severity, component: "storage", message });
  }
}
