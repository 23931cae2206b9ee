/**
 * Keeps the state of a mesh in a record of a storage: when it is read and written, and by how many at once.
 * @module
 */
import type { StorageSettings } from "../../config/settings/storage.ts";
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import { ConnectorError, type ConnectorProblem, MeshError } from "../../errors.ts";
import type { CodedStorage } from "../../storage/coded_storage.ts";
import { SnapshotMapper } from "./snapshot_mapper.ts";
import type { MeshSnapshot } from "./snapshot.ts";
import type { MeshState } from "../mesh_state.ts";
import { leftOutOf } from "./snapshot_codec.ts";
import { copyUnreadable, unreadableBy } from "./_unreadable.ts";
import { RecordLock } from "./record_lock.ts";
import type { StateStore, Tracer } from "./state_store.ts";

/** What a {@linkcode SnapshotStore} is made of. */
export interface SnapshotStoreParts {
  /** Where the state is kept. */
  readonly storage: CodedStorage;
  /** When, and whether under a lock. */
  readonly settings: Pick<StorageSettings, "policy" | "intervalMs" | "locking">;
  /** The mesh's. */
  readonly clock: Clock;
  /** Gets what goes wrong. */
  readonly hub: Tracer;
  /**
   * Processes exchange standbys and counts by other means, and the record is for those that start: it is read once, and
   * has no counts. While the storage is unavailable, a start waits for it (`closed`) or goes on without (`open`).
   */
  readonly replicated?: { readonly onUnavailable: "open" | "closed" };
}

/** The record that holds the state. */
const stateKey = "state";

const laterMessage = "Another process has the lock of the saved state: it is saved once that is free";

/**
 * One process's part in a record that holds a state. Whenever it writes, it merges what others have written first;
 * under a lock, no process writes in between, and nothing is lost. At most one write is under way and no request waits for
 * it. What fails is traced once and made up for by the next write; {@linkcode SnapshotStore.close} throws it.
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
  /** What this process wrote last, or tried to. */
  #written: string | undefined;
  /** What cannot be read is copied already, and not written over yet. */
  #isCopied = false;
  /** What could not be read of the record when it was read last. */
  #leftOut: string | undefined;

  constructor(parts: SnapshotStoreParts) {
    this.#parts = parts;
    const { storage, clock, settings: { locking } } = parts;
    if (locking !== undefined) this.#lock = new RecordLock({ storage, key: stateKey, clock, locking });
  }

  get storage(): CodedStorage {
    return this.#parts.storage;
  }

  /**
   * Gives a state what was kept, and keeps it from now on. A record that cannot be read is traced and copied; the
   * state begins anew then, with what the record's backup says, if it has one.
   *
   * @throws {ConnectorError} When the storage cannot be used, or the record is of another key.
   */
  async load(state: MeshState): Promise<void> {
    this.#stop?.();
    this.#isRead = false;
    if (this.#mapper !== undefined) await this.write(); // what the mesh had before it was configured again
    const { clock, replicated } = this.#parts;
    const mapper = new SnapshotMapper(state, clock, { hasUsage: replicated === undefined });
    mapper.restore({ version: 1, saved_at: clock.now(), breakers: [], failures: [], usage: [], spending: [] });
    await this.#restore(mapper);
    await this.#start(mapper, state);
  }

  /**
   * Keeps a state that goes on with what another store of this process has kept until now.
   *
   * @param known What the other store says of the record.
   * @throws {ConnectorError} When the storage cannot be used.
   */
  async adopt(state: MeshState, known: MeshSnapshot | undefined): Promise<void> {
    const mapper = new SnapshotMapper(state, this.#parts.clock);
    const counts = mapper.snapshot();
    const states = state.mapper instanceof SnapshotMapper ? state.mapper.snapshot() : counts;
    mapper.restore({ ...counts, ...states, spending: [] }); // spent and reserved sums are there already
    mapper.setKnown(known ?? counts);
    await this.#start(mapper, state);
  }

  /** Writes the state a last time, for another store of this process to go on: what the record says then. */
  async release(): Promise<MeshSnapshot | undefined> {
    await this.close().catch(() => {}); // it was traced; the other one makes up for it
    return this.#mapper?.known;
  }

  /** A breaker was opened or closed. Returns at once. */
  mark(): void {
    if (this.#mapper === undefined || this.#isClosed) return;
    this.#hasChanged = true;
    if (this.#parts.settings.policy !== "periodic") this.#syncing ??= this.#syncAll();
  }

  /** Writes the state now, and waits for it. What fails is traced. */
  async write(): Promise<void> {
    this.#hasChanged = true;
    await this.#syncing;
    if (this.#hasChanged) await (this.#syncing = this.#syncAll());
  }

  /**
   * Writes the state a last time.
   *
   * @throws {ConnectorError} When the storage does not take it: the state is lost.
   */
  async close(): Promise<void> {
    this.#stop?.();
    const isFirst = this.#mapper !== undefined && !this.#isClosed;
    this.#isClosed = true;
    if (isFirst) await this.write();
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

  /** What is counted is worth writing, too. Models that come later are listened to when they come. */
  #listen(mapper: SnapshotMapper, state: MeshState): void {
    const listenTo = ({ state: model }: MeshState["members"][number]) => {
      model.onCount = () => this.mark();
    };
    state.members.forEach(listenTo);
    mapper.onMember = listenTo;
  }

  /**
   * A storage that does not take the first write will not take any: a start says so. One that is full may have room
   * again; another process's lock is waited for later on.
   */
  async #begin(): Promise<void> {
    if (this.#lock !== undefined) this.#lock.isPatient = false;
    await this.write();
    if (this.#lock !== undefined) this.#lock.isPatient = true;
    const failure = this.#failure;
    if (problemOf(failure) === "locked") void this.write();
    if (problemOf(failure) !== "forbidden") return; // another try may do
    this.#mapper = this.#failure = undefined; // there is nothing to keep, and nothing more to report at the end
    throw failure;
  }

  async #turn(): Promise<void> {
    await this.#syncing;
    await (this.#syncing = this.#hasChanged ? this.#syncAll() : this.#poll());
  }

  async #syncAll(): Promise<void> {
    do {
      await Promise.resolve(); // changes come in groups; one write is enough for all
      this.#hasChanged = false;
      await this.#reported(() => this.#lock?.run((isOurs) => this.#sync(isOurs)) ?? this.#sync());
    } while (this.#hasChanged && this.#failure === undefined && this.#parts.settings.policy !== "periodic");
    this.#syncing = undefined; // here, and not when the promise is settled: a change in between would be forgotten
  }

  /** Nothing is to be written: what others have written still counts. */
  async #poll(): Promise<void> {
    await this.#reported(() => this.#mergeStored());
    this.#syncing = undefined;
  }

  /** False when the lock was lost meanwhile, and nothing is written. */
  async #sync(isOurs: () => boolean = () => true): Promise<boolean> {
    await this.#mergeStored();
    const snapshot = this.#mapper!.snapshot();
    const text = JSON.stringify(snapshot);
    if (!isOurs()) return false;
    this.#written = text; // also when it fails: it may be there all the same
    await this.#parts.storage.save(stateKey, new TextEncoder().encode(text));
    this.#mapper!.setKnown(snapshot);
    this.#isCopied = false;
    return true;
  }

  /** What others have written. What cannot be read goes aside, and is written anew. */
  async #mergeStored(): Promise<void> {
    const reason = await this.#read((text) => {
      const stored = JSON.parse(text);
      if (text === this.#written) this.#mapper!.setKnown(stored);
      else this.#hasChanged = this.#traceLeftOut(this.#mapper!.mergeStored(stored)) || this.#hasChanged;
    });
    if (reason === undefined || this.#isCopied) return;
    this.#trace("warning", `${reason}. ${await this.#copyUnreadable()}. It is written anew`);
    this.#hasChanged = true;
  }

  async #restore(mapper: SnapshotMapper): Promise<void> {
    const restore = (text: string) => void this.#traceLeftOut(mapper.restore(JSON.parse(text)));
    const reason = await this.#read(restore).catch((error) => this.#ignoreUnavailable(errorOf(error, "read")));
    if (reason === undefined) return;
    const isBack = await this.#readBackup(restore);
    const aside = await this.#copyUnreadable().catch((error) => errorOf(error, "keep").message); // nothing is written until it is
    this.#trace("warning", `${reason}. ${aside}. ${isBack ? "Its backup is used" : "All models begin as active"}`);
  }

  /** Traces once what could not be read of a record; whether there was anything. */
  #traceLeftOut(leftOut: readonly string[]): boolean {
    const message = leftOutOf(leftOut);
    if (message !== undefined && message !== this.#leftOut) this.#trace("warning", message);
    this.#leftOut = message;
    return message !== undefined;
  }

  async #readBackup(restore: (text: string) => void): Promise<boolean> {
    try {
      const bytes = await this.#parts.storage.load(`${stateKey}.backup`);
      if (bytes !== undefined) restore(new TextDecoder().decode(bytes));
      return bytes !== undefined;
    } catch {
      return false; // it is damaged, too
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
   * @returns What is the matter with it, when it cannot be read.
   */
  async #read(use: (text: string) => void): Promise<string | undefined> {
    if (this.#parts.replicated !== undefined && this.#isRead) return undefined;
    try {
      const bytes = await this.#parts.storage.load(stateKey);
      this.#isRead = true;
      if (bytes !== undefined) use(new TextDecoder().decode(bytes));
      return undefined;
    } catch (error) {
      return unreadableBy(error);
    }
  }

  #ignoreUnavailable(error: MeshError): undefined {
    if (problemOf(error) !== "unavailable" || this.#parts.replicated?.onUnavailable !== "open") throw error;
    this.#trace("warning", error.message);
  }

  /** A problem that stays is traced once. */
  async #reported(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.#failure = undefined;
    } catch (error) {
      const failure = errorOf(error, "save");
      if (problemOf(failure) === "locked" && this.#lock?.isPatient === false) this.#trace("info", laterMessage);
      else if (failure.message !== this.#failure?.message) this.#trace("error", failure.message);
      this.#failure = failure;
      this.#hasChanged = true;
    }
  }

  #trace(severity: "info" | "warning" | "error", message: string): void {
    this.#parts.hub.trace({ severity, component: "storage", message });
  }
}

function problemOf(error: MeshError | undefined): ConnectorProblem | undefined {
  return ConnectorError.isInstance(error) ? error.problem : undefined;
}

/** Our connectors say what is the matter; the words of others may quote anything and are not passed on. */
function errorOf(error: unknown, doing: string): MeshError {
  if (MeshError.isInstance(error)) return error;
  return new ConnectorError(`Cannot ${doing} the state: the storage failed (see the error's cause)`, error);
}
