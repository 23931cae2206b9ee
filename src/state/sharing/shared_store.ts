/**
 * Shares standbys and counters between processes on one storage.
 * @module
 */
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import type { Shared } from "../../contracts/storage.ts";
import { ConnectorError, MeshError } from "../../errors.ts";
import { followWork } from "../../util/failure.ts";
import type { MeshState } from "../model/mesh_state.ts";
import { StoreReplication } from "./store_replication.ts";
import { BreakerEvents } from "./breaker_events.ts";
import type { ConversationEvents } from "./conversation_events.ts";
import type { StateStore, Tracer } from "../persistence/state_store.ts";

/** Sync interval of counters, ms: the maximum age of what is known about other processes. */
const syncMs = 100;

/** Timeout of the last sync, ms. A process that exits does not wait for an unavailable store. */
const closeTimeoutMs = 1000;

/** Maximum number of causes that are reported of one outage. */
const maxCauses = 5;

const channel = "breakers";

const leaseLostMessage =
  "The reservations of this process had expired in the shared storage, and are made again: the process was suspended, " +
  "or the storage has lost data";

/** Dependencies of a {@linkcode SharedStore}. */
interface SharedStoreParts {
  /** The facet that processes share. */
  readonly shared: Shared;
  /** Persists the state; undefined for no persistence. */
  readonly store: StateStore | undefined;
  /** Behavior of requests under a budget while the storage is unavailable. */
  readonly onUnavailable: "open" | "closed";
  readonly clock: Clock;
  readonly hub: Tracer;
  /** Whether the shared storage is in another process of this machine, which this one depends on. */
  readonly isLocal: boolean;
  /** Id of this process. */
  readonly id: string;
}

/**
 * Persists a state and shares it with other processes. Requests wait for the storage only for budgets and declared
 * limits.
 */
export class SharedStore implements StateStore {
  readonly #parts: SharedStoreParts;
  #state: MeshState | undefined;
  #breakerEvents: BreakerEvents | undefined;
  #replication: StoreReplication | undefined;
  #cancel: Cancel = () => {};
  #unsubscribe: (() => Promise<void>) | undefined;
  #conversations: ConversationEvents | undefined;
  #isSubscribed = false;
  #isUnavailable = false;
  #isPublishing = false;
  /** Causes of the outage that were reported. */
  readonly #causes = new Set<string>();

  constructor(parts: SharedStoreParts) {
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
    await this.#shareConversations(state);
    await this.#sync();
    for (const { state: model } of state.members) model.recheckBudgets(clock.monotonic());
    this.#cancel = clock.every(syncMs, () => this.#sync());
  }

  /** Schedules a write, and publishes changes of breakers. */
  mark(): void {
    this.#parts.store?.mark();
    this.#follow(this.#publish());
  }

  /** Reports and publishes remaining changes. */
  async close(): Promise<void> {
    this.#cancel();
    if (!this.#isUnavailable) await this.#atMost(closeTimeoutMs, this.#reportLast());
    await this.#unsubscribe?.().catch(() => {}); // an unavailable store drops subscriptions
    await this.#conversations?.close().catch(() => {});
    await this.#parts.store?.close().catch((error) => this.#ignoreUnavailable(error));
  }

  /** A sync may show that a budget has reached a step, and the event waits for the store's decision on the claim. */
  async #reportLast(): Promise<void> {
    await this.#replication?.sync();
    await this.#replication?.acquisitionsDecided();
  }

  /**
   * Ignores a failure to persist while the storage is unavailable. It has been traced, and other processes on the
   * storage know the state.
   */
  #ignoreUnavailable(error: unknown): void {
    const isUnavailable = ConnectorError.isInstance(error) && error.problem === "unavailable";
    if (!isUnavailable || this.#parts.onUnavailable === "closed") throw error;
  }

  async #sync(): Promise<void> {
    if (!this.#isSubscribed) await this.#subscribe();
    const replication = this.#replication ??= this.#openReplication();
    await replication.sync();
    if (this.#isSubscribed && !replication.isUnavailable) this.#setUnavailable(false);
    await this.#publish(); // retries what could not be published
    await this.#conversations?.sync().catch((error) => this.#setUnavailable(true, error));
  }

  /** Conversations are kept if a pool has affinity. Those of an earlier configuration continue. */
  async #shareConversations({ conversations }: MeshState): Promise<void> {
    if (this.#conversations?.conversations === conversations) return;
    await this.#conversations?.close().catch(() => {}); // an unavailable store drops subscriptions
    this.#conversations = undefined;
    if (conversations === undefined) return;
    const { ConversationEvents } = await import("./conversation_events.ts");
    const { shared, clock } = this.#parts;
    const follow = (work: Promise<void>) => this.#follow(work.catch((error) => this.#setUnavailable(true, error)));
    this.#conversations = new ConversationEvents(conversations, { shared, clock, follow });
  }

  #openReplication(): StoreReplication {
    const { sharedCounters } = this.#state!;
    const replication = new StoreReplication(sharedCounters, {
      ...this.#parts,
      onOutage: (cause) => this.#setUnavailable(true, cause),
      onLeaseLost: () => this.#trace("warning", leaseLostMessage),
    });
    sharedCounters.open(replication);
    return replication;
  }

  /** Subscribes to messages of other processes, and requests their state. */
  async #subscribe(): Promise<void> {
    try {
      this.#unsubscribe = await this.#parts.shared.subscribe(channel, (message) => this.#receive(message));
      this.#isSubscribed = true;
      this.#breakerEvents!.markStale();
      await this.#parts.shared.publish(channel, this.#breakerEvents!.request());
    } catch (error) {
      this.#setUnavailable(true, error);
    }
  }

  #receive(message: string): void {
    if (this.#breakerEvents!.receive(message)) this.#follow(this.#publish());
  }

  /** Publishes changes, one message at a time. Changes made meanwhile are in the next message. */
  async #publish(): Promise<void> {
    if (!this.#isSubscribed || this.#isPublishing) return;
    this.#isPublishing = true;
    try {
      for (
        let messages = this.#breakerEvents!.pending();
        messages !== undefined;
        messages = this.#breakerEvents!.pending()
      ) {
        await this.#parts.shared.publish(channel, messages.message);
        messages.done();
      }
    } catch (error) {
      this.#setUnavailable(true, error);
    } finally {
      this.#isPublishing = false;
    }
  }

  #setUnavailable(isUnavailable: boolean, cause?: unknown): void {
    if (isUnavailable) this.#warn(cause);
    if (this.#isUnavailable === isUnavailable) return;
    this.#isUnavailable = isUnavailable;
    if (isUnavailable) return;
    this.#causes.clear();
    this.#trace("info", "The shared storage is available again: local counters are merged");
    this.#parts.store?.mark();
    this.#conversations?.markStale();
    this.#follow(this.#requestAll());
  }

  /** Requests the state of all processes, since messages during the outage are lost. */
  async #requestAll(): Promise<void> {
    if (!this.#isSubscribed) return;
    this.#breakerEvents!.markStale();
    await this.#parts.shared.publish(channel, this.#breakerEvents!.request()).catch(() => {}); // the next sync detects it
    await this.#publish();
  }

  #follow(work: Promise<void>): void {
    followWork(work, { hub: this.#parts.hub, component: "storage", task: "The exchange of states" });
  }

  /** Warns of an outage, and of each further cause of it. */
  #warn(cause: unknown): void {
    const reason = MeshError.isInstance(cause) ? cause.message : "";
    const isKnown = this.#isUnavailable && (reason === "" || this.#causes.has(reason));
    if (isKnown || this.#causes.size >= maxCauses) return;
    if (reason !== "") this.#causes.add(reason);
    const consequence = this.#parts.onUnavailable === "open"
      ? "each process uses its own counters until it recovers"
      : "requests under a budget are rejected until it recovers";
    const message = `The shared storage is unavailable: ${consequence}`;
    this.#trace("warning", reason === "" ? message : `${message}. ${reason}`);
  }

  #trace(severity: "info" | "warning", message: string): void {
    this.#parts.hub.trace({ severity, component: "storage", message });
  }

  async #atMost(ms: number, work: Promise<void> | undefined): Promise<void> {
    let cancel: Cancel = () => {};
    const late = new Promise<void>((resolve) => cancel = this.#parts.clock.after(ms, resolve));
    await Promise.race([work, late]);
    cancel();
  }
}
