/**
 * The processes of a storage that several share: each writes a small record every few seconds, and reads those of the
 * others when an administrator asks.
 * @module
 */
import type { Cancel } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import type { Engine } from "../../engine/engine.ts";
import { MeshError } from "../../errors.ts";
import type { FinishedRequest } from "../../observe/hub_events.ts";
import { followWork } from "../../util/failure.ts";
import { nanoPerUsd } from "../../util/pricing.ts";
import { newId } from "../../util/request_id.ts";
import { version } from "../../version.ts";
import { type ProcessRecord, readProcessRecord } from "./process_record.ts";

const prefix = "process.";

/** Interval of records, ms. */
const beatMs = 10_000;

/** A process whose record is older has ended, ms. */
const aliveMs = 30_000;

/** Records that are older are deleted, ms: those of processes that were killed. */
const keptMs = 300_000;

/** Number of intervals over which requests per minute are counted. */
const minuteBeats = 6;

/** Maximum length of an address, characters. */
const maxAddressLength = 256;

/** Maximum number of records that are read. */
const maxProcesses = 200;

/** Maximum number of concurrent reads. */
const readsAtOnce = 10;

/** Status of a request whose client left. */
const clientLeft = 499;

/** One process among those of its storage, across configurations. */
export class Processes {
  /** Random id of this process. */
  readonly id: string = newId();
  #mesh: Engine;
  readonly #startedAt: string;
  #cancel: Cancel = () => {};
  #failure: string | undefined;
  /** The current write: while a storage is slow, there is one at a time. */
  #writing: Promise<void> | undefined;
  #requests = 0;
  #failed = 0;
  #tokensIn = 0;
  #tokensOut = 0;
  #costNanoUsd = 0;
  /** Time and number of requests at the latest records, the oldest first. */
  #beats: readonly (readonly [at: number, requests: number])[];

  /** @param mesh A mesh that is ready, and has a storage that several processes share. */
  constructor(mesh: Engine) {
    const { clock } = mesh.runtime;
    this.#mesh = mesh;
    this.#startedAt = new Date(clock.now() - (clock.monotonic() - mesh.startedAt)).toISOString();
    this.#beats = [[mesh.startedAt, 0]];
    this.use(mesh);
  }

  /** Changes to another mesh. Requests so far continue to count. */
  use(mesh: Engine): void {
    this.#mesh = mesh;
    mesh.hub.on("request_finished", (request) => this.#count(request));
    mesh.onClose(() => this.#close(mesh));
    this.stop();
    this.#cancel = mesh.runtime.clock.every(beatMs, () => this.#beat());
    const { hub } = mesh;
    followWork(this.#beat(), { hub, component: "processes", task: "The record of this process" });
  }

  /** Writes no more records. */
  stop(): void {
    this.#cancel();
  }

  /**
   * Returns the processes of the storage, the oldest first, at most 200 with this one.
   *
   * @throws {ConnectorError} If the storage fails.
   */
  async list(): Promise<readonly ProcessRecord[]> {
    const now = this.#mesh.runtime.clock.now();
    const others = (await this.#loadOthers()).filter(({ seen_at }) => now - Date.parse(seen_at) <= aliveMs);
    return [this.#toRecord(), ...others].toSorted((first, second) =>
      Date.parse(first.started_at) - Date.parse(second.started_at) || (first.id < second.id ? -1 : 1)
    );
  }

  get #storage(): Storage {
    return this.#mesh.storage!;
  }

  #count({ record: { status = 0 }, tokensIn = 0, tokensOut = 0, costNanoUsd = 0 }: FinishedRequest): void {
    this.#requests++;
    if (status >= 400 && status !== clientLeft) this.#failed++;
    this.#tokensIn += tokensIn;
    this.#tokensOut += tokensOut;
    this.#costNanoUsd += costNanoUsd;
  }

  #toRecord(): ProcessRecord {
    const { runtime: { clock }, statistics: { inFlight }, settings: { proxy } } = this.#mesh;
    const [[since, before] = [0, 0]] = this.#beats;
    const minutes = Math.max(1, clock.monotonic() - since) / 60_000;
    return {
      id: this.id,
      ...(proxy?.address !== undefined && { address: proxy.address.slice(0, maxAddressLength) }),
      version,
      started_at: this.#startedAt,
      seen_at: new Date(clock.now()).toISOString(),
      in_flight: inFlight,
      requests_per_minute: Math.round((this.#requests - before) / minutes * 10) / 10,
      requests: this.#requests,
      failed: this.#failed,
      tokens_in: this.#tokensIn,
      tokens_out: this.#tokensOut,
      cost_usd: this.#costNanoUsd / nanoPerUsd,
    };
  }

  #beat(): Promise<void> {
    return this.#writing ??= this.#write().finally(() => this.#writing = undefined);
  }

  /** Writes the record. A persistent failure is traced once. */
  async #write(): Promise<void> {
    const { hub, runtime: { clock } } = this.#mesh;
    try {
      await this.#storage.save(prefix + this.id, new TextEncoder().encode(JSON.stringify(this.#toRecord())));
      if (this.#beats.length === 1) await this.#loadOthers(); // a new process deletes what a killed one left
      this.#failure = undefined;
    } catch (error) {
      const message = MeshError.isInstance(error) ? error.message : "the storage failed";
      if (message !== this.#failure) {
        hub.trace({ severity: "warning", component: "processes", message: `The list of processes: ${message}` });
      }
      this.#failure = message;
    } finally {
      this.#beats = [...this.#beats.slice(-minuteBeats + 1), [clock.monotonic(), this.#requests]];
    }
  }

  /** Reads the records of other processes, and deletes old ones. */
  async #loadOthers(): Promise<readonly ProcessRecord[]> {
    const { runtime: { clock } } = this.#mesh;
    const keys = (await this.#storage.list(prefix)).filter((key) => key !== prefix + this.id).slice(
      0,
      maxProcesses - 1,
    );
    const records: ProcessRecord[] = [];
    for (let at = 0; at < keys.length; at += readsAtOnce) {
      const read = keys.slice(at, at + readsAtOnce).map(async (key) => {
        const bytes = await this.#storage.load(key);
        const record = bytes && readProcessRecord(bytes);
        if (record === undefined || Math.abs(clock.now() - Date.parse(record.seen_at)) <= keptMs) return record ?? [];
        await this.#storage.delete(key);
        return [];
      });
      records.push(...(await Promise.all(read)).flat());
    }
    return records;
  }

  /** The last mesh deletes the record: a process that ends is not listed any more. */
  async #close(mesh: Engine): Promise<void> {
    if (mesh !== this.#mesh) return;
    this.#cancel();
    await this.#writing;
    try {
      await mesh.storage?.delete(prefix + this.id);
    } catch {
      // others stop to list it after 30 s
    }
  }
}
