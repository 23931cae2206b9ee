/**
 * Several keys of one provider: each goes into standby by itself, while the others serve.
 * @module
 */
import type { FailureKind, ProviderFault } from "../../contracts/provider.ts";
import { maxCooldownMs, maxHintMs, maxStandbyMs } from "../breaker/circuit_breaker.ts";

/** What a refused call was answered with. */
export interface RejectedCall {
  readonly kind: FailureKind;
  readonly message: string;
  readonly status?: number | undefined;
  readonly fault?: ProviderFault | undefined;
  /** The wait it asks for, ms. */
  readonly retryAfterMs?: number | undefined;
}

/** Refusals that are about the key: its rate, for one model; its account or itself, for all. */
export type KeyRejectionReason = "rate_limited" | "quota_exhausted" | "auth";

/** Standby of keys where the rejection does not say it. */
export interface KeyCooldowns {
  /** A refused key, ms; doubles each time it is refused again. */
  readonly cooldownMs: number;
  /** One whose quota is exhausted, ms. */
  readonly quotaMs: number;
}

/** What a refusal means for the model. */
export interface KeyRejection {
  /** Position of the key in the list, from 1. */
  readonly position: number;
  /** How many keys there are. */
  readonly of: number;
  /** Its standby, ms. */
  readonly standbyMs: number;
  /** It was not in standby for the same reason already. */
  readonly isNews: boolean;
  /** What all keys together say, when none is left: the mildest refusal, with the soonest end. */
  readonly refusal?: RejectedCall;
}

interface KeyStandby {
  readonly kind: KeyRejectionReason;
  readonly since: number;
  readonly until: number;
  /** What it was refused with; an earlier process has not kept that. */
  readonly refusal: RejectedCall;
}

/** Standby of a rate-limited key whose rejection has no hint, ms. */
const defaultRateLimitMs = 60_000;

/** One key. Only its pool changes it. */
export class ApiKey {
  /** For every model. */
  standby: KeyStandby | undefined;
  /** For one model, by the id its provider knows it by. */
  readonly models: Map<string, KeyStandby> = new Map();
  /** Consecutive rejections. */
  consecutiveTrips = 0;

  /** @param value What goes out. */
  constructor(readonly value: string) {}

  /** Why it is not to be used for a model; the reason that lasts longest. */
  standbyFor(model: string, now: number): KeyStandby | undefined {
    const own = this.models.get(model);
    const standby = own !== undefined && own.until > (this.standby?.until ?? 0) ? own : this.standby;
    return standby !== undefined && standby.until > now ? standby : undefined;
  }

  /** Sets it aside, for one model or for all. */
  set(model: string | undefined, standby: KeyStandby): void {
    const current = model === undefined ? this.standby : this.models.get(model);
    if (current !== undefined && current.until >= standby.until) return; // a later end extends, none shortens
    if (model === undefined) this.standby = standby;
    else this.models.set(model, standby);
  }

  /** Takes it back. */
  clear(): void {
    this.standby = undefined;
    this.models.clear();
    this.consecutiveTrips = 0;
  }
}

/** The keys of one provider. Times are monotonic ms. */
export class ApiKeyPool {
  /** Whose keys they are: an entry's id. */
  readonly provider: string;
  #keys: readonly ApiKey[];

  /**
   * @param provider Whose keys they are.
   * @param values The keys, each once.
   */
  constructor(provider: string, values: readonly string[]) {
    this.provider = provider;
    this.#keys = values.map((value) => new ApiKey(value));
  }

  /** The keys, in order. */
  get keys(): readonly ApiKey[] {
    return this.#keys;
  }

  /**
   * Other keys from now on; one that was there already keeps its standbys.
   *
   * @param values The keys, each once.
   */
  replace(values: readonly string[]): void {
    const known = new Map(this.#keys.map((key) => [key.value, key]));
    this.#keys = values.map((value) => known.get(value) ?? new ApiKey(value));
  }

  /** Whether these are its keys. */
  hasSameKeys(values: readonly string[]): boolean {
    return values.length === this.#keys.length && values.every((value, place) => this.#keys[place]!.value === value);
  }

  /** A key that is not refused, for calls that are about no model; the first one when all are. */
  usable(now: number): string {
    return (this.#keys.find(({ standby }) => standby === undefined || standby.until <= now) ?? this.#keys[0]!).value;
  }

  /** When a key is to be used again for a model; undefined when it may be used now. A refused one comes last. */
  standbyUntil(key: ApiKey, model: string, now: number): number | undefined {
    const standby = key.standbyFor(model, now);
    return standby?.kind === "auth" ? standby.until + maxStandbyMs : standby?.until;
  }

  /** Whether every key is refused: then the provider is. */
  isRejected(now: number): boolean {
    return this.#keys.every(({ standby }) => standby?.kind === "auth" && standby.until > now);
  }

  /**
   * A call was answered well.
   *
   * @param key That it was made with.
   * @param model Whom it asked.
   * @param begunAt When; a standby that began since then goes on.
   */
  recordSuccess(key: ApiKey, model: string, begunAt: number): void {
    if (key.standby !== undefined && key.standby.since <= begunAt) key.standby = undefined;
    if ((key.models.get(model)?.since ?? Infinity) <= begunAt) key.models.delete(model);
    if (key.standby === undefined) key.consecutiveTrips = 0;
  }

  /**
   * Sets a key aside.
   *
   * @param key The key; one that was replaced meanwhile, too.
   * @param model Whom the call asked.
   * @param refusal What it was answered with.
   * @param at Monotonic ms, and standbys without a hint.
   * @returns Undefined for a failure that is not about the key.
   */
  reject(
    key: ApiKey,
    model: string,
    refusal: RejectedCall,
    { now, times }: { readonly now: number; readonly times: KeyCooldowns },
  ): KeyRejection | undefined {
    const { kind } = refusal;
    if (kind !== "rate_limited" && kind !== "quota_exhausted" && kind !== "auth") return undefined;
    const index = this.#keys.indexOf(key);
    const isNews = index >= 0 && key.standbyFor(model, now)?.kind !== kind;
    const standbyMs = this.#standbyMs(key, kind, refusal.retryAfterMs, { now, times });
    key.set(kind === "rate_limited" ? model : undefined, { kind, since: now, until: now + standbyMs, refusal });
    const facts = { position: index + 1, of: this.#keys.length, standbyMs, isNews };
    const standbys = this.#keys.map((one) => one.standbyFor(model, now));
    return standbys.includes(undefined) ? facts : { ...facts, refusal: mildest(standbys as KeyStandby[], now) };
  }

  /** Ends the standbys of all keys. */
  reset(): void {
    for (const key of this.#keys) key.clear();
  }

  #standbyMs(
    key: ApiKey,
    kind: KeyRejectionReason,
    hintMs: number | undefined,
    { now, times }: { readonly now: number; readonly times: KeyCooldowns },
  ): number {
    if (kind === "rate_limited") return Math.min(hintMs ?? defaultRateLimitMs, maxHintMs);
    if (kind === "quota_exhausted") return Math.min(hintMs ?? times.quotaMs, maxStandbyMs);
    const { standby } = key;
    if (standby?.kind === "auth" && standby.until > now) return standby.until - now; // several calls learn it at once
    return Math.min(times.cooldownMs * 2 ** key.consecutiveTrips++, Math.max(maxCooldownMs, times.cooldownMs));
  }
}

/** The rejection of all keys together: the one that ends soonest; `auth` only when all of them are. */
function mildest(standbys: readonly KeyStandby[], now: number): RejectedCall {
  const order: readonly KeyRejectionReason[] = ["rate_limited", "quota_exhausted", "auth"];
  const kind = order.find((one) => standbys.some((standby) => standby.kind === one))!;
  const [soonest] = standbys.filter((standby) => standby.kind === kind).sort((one, other) => one.until - other.until);
  const { refusal, until } = soonest!;
  // without a hint it is tried again after a back-off, as with one key
  const hasHint = kind !== "rate_limited" || refusal.retryAfterMs !== undefined;
  return { ...refusal, retryAfterMs: hasHint ? until - now : undefined };
}
