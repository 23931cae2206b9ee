/**
 * Several keys of one provider: each goes into standby by itself, while the others serve.
 * @module
 */
import type { FailureKind, ProviderFault } from "../../contracts/provider.ts";
import { type BreakerOwner, CircuitBreaker, maxHintMs, maxStandbyMs } from "../breaker/circuit_breaker.ts";

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
interface KeyCooldowns {
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

/** A rejection that is about the key. */
interface KeyRejectedCall extends RejectedCall {
  readonly kind: KeyRejectionReason;
}

/** Standby of a rate-limited key whose rejection has no hint, ms. */
const defaultRateLimitMs = 60_000;

/** Why a key is in standby, in the words of breakers; the mildest rejection first. */
export const reasonOf = {
  rate_limited: "rate_limited",
  quota_exhausted: "quota_exhausted",
  auth: "provider_auth_failure",
} as const;

/** The breaker of one key. It is never half-open: a key whose standby is over serves as before. */
class KeyBreaker extends CircuitBreaker {
  /** What the end of its standby is from, and when that was. A success of an earlier call does not disprove it. */
  rejection: { readonly call: KeyRejectedCall; readonly at: number } | undefined;

  /** Whether it is open. */
  isOpen(now: number): boolean {
    return this.standby !== undefined && this.standby.until > now;
  }
}

/** One key. Only its pool and its snapshot change it. */
export class ApiKey {
  /** For every model. */
  readonly breaker: KeyBreaker;
  /** For one model, by the id its provider knows it by. */
  readonly modelBreakers: Map<string, KeyBreaker> = new Map();
  readonly #provider: string;

  /**
   * @param value What is sent.
   * @param owner Its provider.
   */
  constructor(readonly value: string, { provider }: BreakerOwner) {
    this.#provider = provider;
    this.breaker = new KeyBreaker({ provider });
  }

  /** All its breakers. */
  get breakers(): readonly KeyBreaker[] {
    return [this.breaker, ...this.modelBreakers.values()];
  }

  /** The breaker for one model, or for all. */
  breakerFor(model: string | undefined): KeyBreaker {
    if (model === undefined) return this.breaker;
    const known = this.modelBreakers.get(model);
    if (known !== undefined) return known;
    const made = new KeyBreaker({ provider: this.#provider, model });
    this.modelBreakers.set(model, made);
    return made;
  }

  /** The open breaker that keeps it from a model; of two the one whose standby lasts longer. */
  openBreaker(model: string, now: number): KeyBreaker | undefined {
    const own = this.modelBreakers.get(model);
    const longest = (own?.standby?.until ?? 0) > (this.breaker.standby?.until ?? 0) ? own! : this.breaker;
    return longest.isOpen(now) ? longest : undefined;
  }
}

/** The keys of one provider. Times are monotonic ms. */
export class ApiKeyPool {
  /** Whose keys they are: an entry's id. */
  readonly provider: string;
  #keys: readonly ApiKey[];

  /** @param provider Whose keys they are. */
  constructor(provider: string, values: readonly string[]) {
    this.provider = provider;
    this.#keys = values.map((value) => new ApiKey(value, this));
  }

  /** The keys, in order. */
  get keys(): readonly ApiKey[] {
    return this.#keys;
  }

  /** Other keys from now on; one that was there already keeps its standbys. */
  replace(values: readonly string[]): void {
    const known = new Map(this.#keys.map((key) => [key.value, key]));
    this.#keys = values.map((value) => known.get(value) ?? new ApiKey(value, this));
  }

  /** Whether these are its keys. */
  hasSameKeys(values: readonly string[]): boolean {
    return values.length === this.#keys.length && values.every((value, index) => this.#keys[index]!.value === value);
  }

  /** A key that is not refused, for calls that are about no model; the first one when all are. */
  usable(now: number): string {
    return (this.#keys.find(({ breaker }) => !breaker.isOpen(now)) ?? this.#keys[0]!).value;
  }

  /** When a key is to be used again for a model; undefined when it may be used now. A refused one comes last. */
  standbyUntil(key: ApiKey, model: string, now: number): number | undefined {
    const { standby } = key.openBreaker(model, now) ?? {};
    return standby?.reason === reasonOf.auth ? standby.until + maxStandbyMs : standby?.until;
  }

  /** Whether every key is refused: then the provider is. */
  isRejected(now: number): boolean {
    return this.#keys.every(({ breaker }) => breaker.isOpen(now) && breaker.standby?.reason === reasonOf.auth);
  }

  /**
   * A call succeeded: rejections from before it are over.
   *
   * @param key The key it was made with.
   * @param begunAt When it began, monotonic ms.
   */
  recordSuccess(key: ApiKey, model: string, begunAt: number): void {
    for (const breaker of [key.breaker, key.modelBreakers.get(model)]) {
      if ((breaker?.rejection?.at ?? Infinity) <= begunAt) breaker!.close();
    }
  }

  /**
   * Puts a key into standby.
   *
   * @param key The key; one that was replaced meanwhile, too.
   * @param model The id of the model that was called.
   * @param call What it was answered with.
   * @param at Monotonic ms, and standbys without a hint.
   * @returns Undefined for a failure that is not about the key.
   */
  reject(
    key: ApiKey,
    model: string,
    call: RejectedCall,
    at: { readonly now: number; readonly times: KeyCooldowns },
  ): KeyRejection | undefined {
    if (!isAboutKey(call)) return undefined;
    const { now } = at;
    const index = this.#keys.indexOf(key);
    const isNews = index >= 0 && key.openBreaker(model, now)?.rejection?.call.kind !== call.kind;
    open(key.breakerFor(call.kind === "rate_limited" ? model : undefined), call, at);
    const standbyMs = (key.openBreaker(model, now)?.standby?.until ?? now) - now;
    const facts = { position: index + 1, of: this.#keys.length, standbyMs, isNews };
    const breakers = this.#keys.map((one) => one.openBreaker(model, now));
    return breakers.includes(undefined) ? facts : { ...facts, refusal: mildest(breakers as KeyBreaker[], now) };
  }

  /** Ends the standbys of all keys. */
  reset(): void {
    for (const breaker of this.#keys.flatMap(({ breakers }) => breakers)) breaker.close();
  }
}

function isAboutKey(call: RejectedCall): call is KeyRejectedCall {
  return call.kind in reasonOf;
}

function open(
  breaker: KeyBreaker,
  call: KeyRejectedCall,
  { now, times: { cooldownMs, quotaMs } }: { readonly now: number; readonly times: KeyCooldowns },
): void {
  breaker.halfOpenIfDue(now);
  const before = breaker.standby;
  if (call.kind === "auth" && before?.reason === reasonOf.auth) return; // several calls report it at once
  const reason = reasonOf[call.kind];
  if (call.kind === "auth") breaker.openForCooldown(reason, now, cooldownMs);
  else if (call.kind === "quota_exhausted") breaker.open(reason, now, call.retryAfterMs ?? quotaMs);
  else breaker.open(reason, now, Math.min(call.retryAfterMs ?? defaultRateLimitMs, maxHintMs));
  if (breaker.standby !== before) breaker.rejection = { call, at: now };
}

/** The rejection of all keys together: the one that ends soonest; `auth` only when all of them are. */
function mildest(breakers: readonly KeyBreaker[], now: number): RejectedCall {
  const kinds = Object.keys(reasonOf) as KeyRejectionReason[];
  const kind = kinds.find((one) => breakers.some(({ rejection }) => rejection?.call.kind === one))!;
  const [soonest] = breakers.filter(({ rejection }) => rejection?.call.kind === kind)
    .sort((one, other) => one.standby!.until - other.standby!.until);
  const { call } = soonest!.rejection!;
  // without a hint it is tried again after a back-off, as with one key
  const hasHint = kind !== "rate_limited" || call.retryAfterMs !== undefined;
  return { ...call, retryAfterMs: hasHint ? soonest!.standby!.until - now : undefined };
}
