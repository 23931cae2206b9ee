/**
 * What several processes on one storage know of each other: who is set aside, and what was counted.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { Shared } from "../contracts/storage.ts";
import { ConnectorError } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { MeteredState } from "../state/metered_state.ts";
import type { SharedLedger } from "../state/shared_ledger.ts";
import { SharedRests } from "./shared_rests.ts";
import type { StateKeeper } from "./state_keeper.ts";

/** How often counts are told and heard, ms: what another process counted is known that late. */
const syncMs = 100;

/** Longest wait for the last counts to be told, ms: a process that ends does not wait for a store that is away. */
const farewellMs = 1000;

const channel = "rests";

/** What a {@linkcode SharedState} is made of. */
export interface SharedStateParts {
  /** What the storage lets several processes agree on. */
  readonly shared: Shared;
  /** Keeps the state beyond all of them. */
  readonly keeper: StateKeeper;
  /** What becomes of requests under a budget while the storage is away. */
  readonly onUnavailable: "open" | "closed";
  readonly clock: Clock;
  readonly hub: Hub;
  /** Tells this process from the others. */
  readonly id: string;
}

/** Keeps a state, and shares it with whoever else is on the storage. No request ever waits for it but for money. */
export class SharedState implements StateKeeper {
  readonly #parts: SharedStateParts;
  #state: MeshState | undefined;
  #rests: SharedRests | undefined;
  #ledger: SharedLedger | undefined;
  #cancel: Cancel = () => {};
  #unsubscribe: (() => Promise<void>) | undefined;
  #isListening = false;
  #isAway = false;
  #isTelling = false;

  /** @param parts Store, keeper, clock and hub. */
  constructor(parts: SharedStateParts) {
    this.#parts = parts;
  }

  /** Gives a state what was kept, and shares it from now on. */
  async load(state: MeshState): Promise<void> {
    const { clock, keeper, id } = this.#parts;
    this.#cancel();
    await keeper.load(state);
    this.#state = state;
    this.#rests = new SharedRests(state, clock, id);
    this.#ledger = undefined;
    await this.#turn();
    for (const { state: model } of state.members) if (model instanceof MeteredState) model.recheck(clock.monotonic());
    this.#cancel = clock.every(syncMs, () => this.#turn());
  }

  /** The state has changed: what is new in it is told. */
  mark(): void {
    this.#parts.keeper.mark();
    void this.#tell();
  }

  /** Tells what is left to tell. */
  async close(): Promise<void> {
    this.#cancel();
    if (!this.#isAway) await this.#atMost(farewellMs, this.#ledger?.sync());
    await this.#unsubscribe?.().catch(() => {}); // a store that is away forgets who listened
    await this.#parts.keeper.close().catch((error) => this.#excuse(error));
  }

  /** That a state is not kept since the store is away was told already, and others on it know what matters. */
  #excuse(error: unknown): void {
    const isAway = ConnectorError.isInstance(error) && error.problem === "unavailable";
    if (!isAway || this.#parts.onUnavailable === "closed") throw error;
  }

  async #turn(): Promise<void> {
    if (!this.#isListening) await this.#listen();
    const counts = this.#counts;
    await counts?.sync();
    if (this.#isListening && !counts?.isAway) this.#noteAway(false);
    await this.#tell(); // what could not be told
  }

  /** The mesh's counting, once there is a model that counts. */
  get #counts(): SharedLedger | undefined {
    if (this.#ledger !== undefined) return this.#ledger;
    const { shared, onUnavailable } = this.#parts;
    this.#ledger = this.#state?.members.find(({ state }) => state.ledger !== undefined)?.state.ledger;
    this.#ledger?.open({ shared, onUnavailable, onAway: () => this.#noteAway(true) });
    return this.#ledger;
  }

  /** Hears the others from now on, and asks what they know. */
  async #listen(): Promise<void> {
    try {
      this.#unsubscribe = await this.#parts.shared.subscribe(channel, (message) => this.#hear(message));
      this.#isListening = true;
      this.#rests!.forget();
      await this.#parts.shared.publish(channel, this.#rests!.question());
    } catch {
      this.#noteAway(true);
    }
  }

  #hear(message: string): void {
    if (this.#rests!.hear(message)) void this.#tell();
  }

  /** One message at a time: what changes meanwhile is in the next one. */
  async #tell(): Promise<void> {
    if (!this.#isListening || this.#isTelling) return;
    this.#isTelling = true;
    try {
      for (let news = this.#rests!.news(); news !== undefined; news = this.#rests!.news()) {
        await this.#parts.shared.publish(channel, news.message);
        news.done();
      }
    } catch {
      this.#noteAway(true);
    } finally {
      this.#isTelling = false;
    }
  }

  #noteAway(isAway: boolean): void {
    if (this.#isAway === isAway) return;
    this.#isAway = isAway;
    const { hub, onUnavailable } = this.#parts;
    if (isAway) {
      const consequence = onUnavailable === "open"
        ? "each process counts by itself until it is back"
        : "requests under a budget are refused until it is back";
      hub.trace({ severity: "warning", component: "storage", message: `The shared storage is away: ${consequence}` });
      return;
    }
    const message = "The shared storage is back: what was counted meanwhile is added";
    hub.trace({ severity: "info", component: "storage", message });
    this.#parts.keeper.mark();
    void this.#askAgain();
  }

  /** Messages of the time in between are lost: everything is told anew, by everybody. */
  async #askAgain(): Promise<void> {
    if (!this.#isListening) return;
    this.#rests!.forget();
    await this.#parts.shared.publish(channel, this.#rests!.question()).catch(() => {}); // the next turn tells it is away
    await this.#tell();
  }

  async #atMost(ms: number, work: Promise<void> | undefined): Promise<void> {
    let cancel: Cancel = () => {};
    const late = new Promise<void>((resolve) => cancel = this.#parts.clock.after(ms, resolve));
    await Promise.race([work, late]);
    cancel();
  }
}
