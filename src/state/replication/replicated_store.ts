/**
 * What several processes on one storage know of each other: standbys, and what was counted.
 * @module
 */
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import type { Shared } from "../../contracts/storage.ts";
import { ConnectorError } from "../../errors.ts";
import type { MeshState } from "../mesh_state.ts";
import { CounterReplication } from "./counter_replication.ts";
import { BreakerEvents } from "./breaker_events.ts";
import type { StateStore, Tracer } from "../persistence/state_store.ts";

/** How often counts are exchanged, ms: what another process counted is known that late. */
const syncMs = 100;

/** Longest wait for the last counts to be reported, ms: a process that ends does not wait for a store that is unavailable. */
const closeTimeoutMs = 1000;

const channel = "breakers";

/** What a {@linkcode ReplicatedStore} is made of. */
interface ReplicatedStoreParts {
  /** What the storage lets several processes agree on. */
  readonly shared: Shared;
  /** Keeps the state beyond all of them; undefined: nothing does. */
  readonly store: StateStore | undefined;
  /** What becomes of requests under a budget while the storage is unavailable. */
  readonly onUnavailable: "open" | "closed";
  readonly clock: Clock;
  readonly hub: Tracer;
  /** What is shared is in another process of this machine, without which this one ends. */
  readonly isLocal: boolean;
  /** Distinguishes this process from the others. */
  readonly id: string;
}

/** Keeps a state, and shares it with other processes on the storage. Requests wait for it for money and declared limits alone. */
export class ReplicatedStore implements StateStore {
  readonly #parts: ReplicatedStoreParts;
  #state: MeshState | undefined;
  #breakerEvents: BreakerEvents | undefined;
  #replication: CounterReplication | undefined;
  #cancel: Cancel = () => {};
  #unsubscribe: (() => Promise<void>) | undefined;
  #isSubscribed = false;
  #isUnavailable = false;
  #isPublishing = false;

  constructor(parts: ReplicatedStoreParts) {
    this.#parts = parts;
  }

  get storage(): StateStore["storage"] {
    return this.#parts.store?.storage;
  }

  /** Restores a state, and shares it from now on. */
  async load(state: MeshState): Promise<void> {
    const { clock, store, id } = this.#parts;
    this.#cancel();
    await store?.load(state);
    this.#state = state;
    this.#breakerEvents = new BreakerEvents(state, clock, id);
    this.#replication = undefined;
    await this.#sync();
    for (const { state: model } of state.members) model.recheckBudgets(clock.monotonic());
    this.#cancel = clock.every(syncMs, () => this.#sync());
  }

  /** The state has changed: what is new in it is published. */
  mark(): void {
    this.#parts.store?.mark();
    void this.#publish();
  }

  /** Publishes what is left. */
  async close(): Promise<void> {
    this.#cancel();
    if (!this.#isUnavailable) await this.#atMost(closeTimeoutMs, this.#replication?.sync());
    await this.#unsubscribe?.().catch(() => {}); // a store that is unavailable forgets who listened
    await this.#parts.store?.close().catch((error) => this.#ignoreUnavailable(error));
  }

  /** That a state is not kept since the store is unavailable was traced already, and others on it know what matters. */
  #ignoreUnavailable(error: unknown): void {
    const isUnavailable = ConnectorError.isInstance(error) && error.problem === "unavailable";
    if (!isUnavailable || this.#parts.onUnavailable === "closed") throw error;
  }

  async #sync(): Promise<void> {
    if (!this.#isSubscribed) await this.#subscribe();
    const replication = this.#replication ??= this.#openReplication();
    await replication.sync();
    if (this.#isSubscribed && !replication.isUnavailable) this.#setUnavailable(false);
    await this.#publish(); // what could not be published
  }

  #openReplication(): CounterReplication {
    const { replicator } = this.#state!;
    const replication = new CounterReplication(replicator, {
      ...this.#parts,
      onOutage: () => this.#setUnavailable(true),
    });
    replicator.open(replication);
    return replication;
  }

  /** Receives what others publish from now on, and requests what they know. */
  async #subscribe(): Promise<void> {
    try {
      this.#unsubscribe = await this.#parts.shared.subscribe(channel, (message) => this.#receive(message));
      this.#isSubscribed = true;
      this.#breakerEvents!.markStale();
      await this.#parts.shared.publish(channel, this.#breakerEvents!.request());
    } catch {
      this.#setUnavailable(true);
    }
  }

  #receive(message: string): void {
    if (this.#breakerEvents!.receive(message)) void this.#publish();
  }

  /** One message at a time: what changes meanwhile is in the next one. */
  async #publish(): Promise<void> {
    if (!this.#isSubscribed || this.#isPublishing) return;
    this.#isPublishing = true;
    try {
      for (let news = this.#breakerEvents!.pending(); news !== undefined; news = this.#breakerEvents!.pending()) {
        await this.#parts.shared.publish(channel, news.message);
        news.done();
      }
    } catch {
      this.#setUnavailable(true);
    } finally {
      this.#isPublishing = false;
    }
  }

  #setUnavailable(isUnavailable: boolean): void {
    if (this.#isUnavailable === isUnavailable) return;
    this.#isUnavailable = isUnavailable;
    const { hub, onUnavailable } = this.#parts;
    if (isUnavailable) {
      const consequence = onUnavailable === "open"
        ? "each process counts by itself until it recovers"
        : "requests under a budget are refused until it recovers";
      hub.trace({
        severity: "warning",
        component: "storage",
        message: `The shared storage is unavailable: ${consequence}`,
      });
      return;
    }
    const message = "The shared storage is available again: what was counted meanwhile is added";
    hub.trace({ severity: "info", component: "storage", message });
    this.#parts.store?.mark();
    void this.#requestAll();
  }

  /** Messages of the time in between are lost: every process publishes everything anew. */
  async #requestAll(): Promise<void> {
    if (!this.#isSubscribed) return;
    this.#breakerEvents!.markStale();
    await this.#parts.shared.publish(channel, this.#breakerEvents!.request()).catch(() => {}); // the next turn notices it
    await this.#publish();
  }

  async #atMost(ms: number, work: Promise<void> | undefined): Promise<void> {
    let cancel: Cancel = () => {};
    const late = new Promise<void>((resolve) => cancel = this.#parts.clock.after(ms, resolve));
    await Promise.race([work, late]);
    cancel();
  }
}
