/**
 * Every state of a mesh as its events report it: what an observer who sees nothing else believes.
 * @module
 */
import type { MeshEvent } from "../../mod.ts";

/** Something in standby, or half-open. */
export interface Entry {
  /** Pool, model and provider, as far as it is about them. */
  readonly key: string;
  readonly reason: string;
  /** When its standby began or ended, monotonic ms. */
  readonly at: number;
  /** When its first standby began, monotonic ms. */
  readonly since: number;
  readonly state: "standby" | "trial";
  /** Its place among all changes. */
  readonly order: number;
  /** The trial may be over. */
  isDoubtful?: boolean;
  /** Requests sent in the moment in which one of them spent a limit. */
  sentAtOnce?: number;
}

/** A model in a pool. */
export interface Place {
  readonly pool: string;
  readonly model: string;
  readonly provider: string;
}

/** Each of these goes on beside other standbys of its owner, and ends by itself. */
const holds: ReadonlySet<string> = new Set(["health_probe", "maintenance_window", "manual"]);

/** Keeps book of deactivations and recoveries. */
export class Book {
  /** By key and, for a hold, its reason. */
  readonly #entries = new Map<string, Entry>();
  /** Deactivations and recoveries so far. */
  changes = 0;
  /** Models that their providers list: to be missing from a list goes on beside other standbys. */
  readonly #listed: ReadonlySet<string>;

  /** @param listed Names of models that their providers list. */
  constructor(listed: ReadonlySet<string> = new Set()) {
    this.#listed = listed;
  }

  /**
   * Takes an event in.
   *
   * @param event Of any kind.
   * @param now Monotonic ms.
   * @returns What is wrong with it.
   */
  take(event: MeshEvent, now: number): string | undefined {
    if (event.event !== "deactivation" && event.event !== "recovery") return undefined;
    const order = ++this.changes;
    const key = toBookKey(event);
    if (event.event === "recovery" && event.reason === "manual") return this.#takeBack(key);
    const place = this.#placeOf(key, event.reason);
    const known = this.#entries.get(place);
    const isInStandby = known?.state === "standby";
    if (event.event === "recovery") {
      this.#entries.set(place, { key, reason: event.reason, order, at: now, since: now, state: "trial" });
      return isInStandby ? undefined : `a recovery of ${key}, which was not in standby`;
    }
    this.#entries.set(place, {
      key,
      reason: event.reason,
      order,
      at: now,
      since: isInStandby ? known.since : now,
      state: "standby",
    });
    if (event.pool !== undefined && event.model !== undefined) this.#endTrials(event);
    if (isInStandby && known.reason === event.reason) return `a second deactivation of ${key} for ${event.reason}`;
    return undefined;
  }

  /** A recovery needs no trial. */
  settle(event: MeshEvent): void {
    this.#entries.delete(this.#placeOf(toBookKey(event), event.reason));
  }

  /** An operator ends all its standbys, once. */
  #takeBack(key: string): string | undefined {
    const inStandby = [...this.#entries].filter(([, entry]) => entry.key === key && entry.state === "standby");
    for (const [place] of inStandby) this.#entries.delete(place);
    return inStandby.length > 0 ? undefined : `a recovery of ${key}, which was not in standby`;
  }

  /** What keeps a model from being asked. */
  standby(place: Place): Entry[] {
    return this.#of(place).filter(({ state }) => state === "standby");
  }

  /** What a model has yet to prove. */
  trials(place: Place): Entry[] {
    return this.#of(place).filter(({ state, isDoubtful }) => state === "trial" && isDoubtful !== true);
  }

  /** Whether a model has nothing to prove, for sure. */
  isProven(place: Place): boolean {
    return this.#of(place).length === 0;
  }

  /** A request that began after so many changes may have succeeded: it is unknown whether the breaker is still half-open. */
  doubt(place: Place, beganAfter: number): void {
    for (const entry of this.trials(place)) if (entry.order <= beganAfter) entry.isDoubtful = true;
  }

  /** It has succeeded: trials that were under way then are passed. */
  prove(place: Place, beganAfter: number): void {
    for (const { key, reason, order, state } of this.#of(place)) {
      if (state === "trial" && order <= beganAfter) this.#entries.delete(this.#placeOf(key, reason));
    }
  }

  #placeOf(key: string, reason: string): string {
    const isSeparate = holds.has(reason) || reason === "model_not_found" && this.#listed.has(key.split("/")[1]!);
    return isSeparate ? `${key} ${reason}` : key;
  }

  #of({ pool, model, provider }: Place): Entry[] {
    const keys = [toBookKey({ pool, model, provider }), toBookKey({ model, provider }), toBookKey({ provider })];
    return [...this.#entries.values()].filter(({ key }) => keys.includes(key));
  }

  /** A failed trial request opens the model's breaker in its pool; others that were half-open then may not be any more. */
  #endTrials({ pool, model, provider }: MeshEvent): void {
    const keys = [toBookKey({ pool, model, provider }), toBookKey({ model, provider }), toBookKey({ provider })];
    for (const entry of this.#entries.values()) {
      if (keys.includes(entry.key) && entry.state === "trial") entry.isDoubtful = true;
    }
  }
}

/** Whether an entry's key means a model in a pool. */
export function isAbout(key: string, { pool, model, provider }: Place): boolean {
  return [toBookKey({ pool, model, provider }), toBookKey({ model, provider }), toBookKey({ provider })].includes(key);
}

function toBookKey({ pool = "*", model = "*", provider }: { pool?: string; model?: string; provider: string }): string {
  return `${pool}/${model}/${provider}`;
}
