/**
 * Keeps the state of a mesh in a storage, so that a new process continues the standbys of the last one.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import { ConnectorError, MeshError } from "../../errors.ts";
import { SnapshotMapper } from "./snapshot_mapper.ts";
import type { MeshState } from "../mesh_state.ts";
import { leftOutOf } from "./snapshot_codec.ts";
import type { StateStore, Tracer } from "./state_store.ts";

/** What a {@linkcode StateSync} is made of. */
export interface StateSyncParts {
  /** Where the state is kept. */
  readonly storage: Pick<Storage, "load" | "save">;
  /** The mesh's. */
  readonly clock: Clock;
  /** Told what goes wrong. */
  readonly hub: Tracer;
}

/** The record that holds the state. */
const stateKey = "state";

/** Where a record goes that holds none, for the operator; the next one replaces it. */
const unreadableKey = "state.unreadable";

/**
 * Reads the state at the start and writes it at boundaries. At most one write is under way, and the latest state wins:
 * a burst of boundaries makes two writes. No request ever waits for one. A failed write is traced and made up for at
 * the next boundary; {@linkcode StateSync.close} throws it, since nothing comes after. Where several processes share a
 * storage, such as a site's tabs, standbys of another one are merged before its record is replaced.
 */
export class StateSync implements StateStore {
  readonly #parts: StateSyncParts;
  #mapper: SnapshotMapper | undefined;
  #writing: Promise<void> | undefined;
  #written: Uint8Array | undefined;
  #hasChanged = false;
  #isClosed = false;
  #failure: MeshError | undefined;

  /** @param parts Storage, clock and hub. */
  constructor(parts: StateSyncParts) {
    this.#parts = parts;
  }

  /**
   * Gives a state what was kept and writes it from now on. A record that holds no state is traced and copied; the
   * state is left as it is then.
   *
   * @param state The mesh's.
   * @throws {ConnectorError} When the storage cannot be used at all.
   */
  async load(state: MeshState): Promise<void> {
    await this.#writing;
    const bytes = await this.#read();
    const archive = new SnapshotMapper(state, this.#parts.clock, { hasUsage: false });
    if (bytes !== undefined) await this.#restore(archive, bytes);
    this.#mapper = archive;
    this.mark();
  }

  /** A boundary: the state is worth writing. Returns at once. */
  mark(): void {
    if (this.#mapper === undefined || this.#isClosed) return;
    this.#hasChanged = true;
    this.#writing ??= this.#writeAll();
  }

  /**
   * Writes the state a last time.
   *
   * @throws {ConnectorError} When the storage does not take it: the state is lost.
   */
  async close(): Promise<void> {
    this.mark();
    this.#isClosed = true;
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #read(): Promise<Uint8Array | undefined> {
    try {
      return await this.#parts.storage.load(stateKey) ?? undefined;
    } catch (error) {
      if (ConnectorError.isInstance(error) && error.problem === "unreadable") return this.#startFresh(error.message);
      throw errorOf(error, "read");
    }
  }

  async #restore(archive: SnapshotMapper, bytes: Uint8Array): Promise<void> {
    try {
      const leftOut = leftOutOf(archive.restore(JSON.parse(new TextDecoder().decode(bytes))));
      if (leftOut !== undefined) this.#trace("warning", leftOut);
      this.#written = bytes; // known: what is closed before the first write is not restored by it
    } catch (error) {
      const reason = MeshError.isInstance(error) ? error.message : "Cannot take up the saved state: it is no JSON";
      this.#startFresh(`${reason}. It is kept as "${unreadableKey}"`);
      await this.#save(unreadableKey, bytes);
    }
  }

  #startFresh(reason: string): undefined {
    this.#trace("warning", `${reason}. All models begin as active`);
  }

  async #writeAll(): Promise<void> {
    while (this.#hasChanged) {
      await Promise.resolve(); // transitions come in groups; one write is enough for all
      this.#hasChanged = false;
      await this.#mergeStored();
      this.#written = new TextEncoder().encode(JSON.stringify(this.#mapper!.snapshot()));
      await this.#save(stateKey, this.#written);
    }
    this.#writing = undefined; // here, and not when the promise is settled: a boundary in between would be forgotten
  }

  async #mergeStored(): Promise<void> {
    try {
      const bytes = await this.#parts.storage.load(stateKey);
      const isOwn = bytes === undefined || isSame(bytes, this.#written);
      if (!isOwn) this.#mapper!.merge(JSON.parse(new TextDecoder().decode(bytes)));
    } catch {
      // what cannot be read is about to be written over; a storage that is out of order says so then
    }
  }

  /** A problem that stays is traced once. */
  async #save(key: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#parts.storage.save(key, bytes);
      this.#failure = undefined;
    } catch (error) {
      const failure = errorOf(error, "save");
      if (failure.message !== this.#failure?.message) this.#trace("error", failure.message);
      this.#failure = failure;
    }
  }

  #trace(severity: "warning" | "error", message: string): void {
    this.#parts.hub.trace({ severity, component: "storage", message });
  }
}

function isSame(one: Uint8Array, other: Uint8Array | undefined): boolean {
  return one.length === other?.length && one.every((byte, place) => byte === other[place]);
}

/** Our connectors say what is the matter; the words of others may quote anything and are not passed on. */
function errorOf(error: unknown, doing: string): MeshError {
  if (MeshError.isInstance(error)) return error;
  return new ConnectorError(`Cannot ${doing} the state: the storage failed (see the error's cause)`, error);
}
