/**
 * The API keys of one provider. Each key has its own breaker, so that a rejected key is in standby while others serve.
 * @module
 */
import type { FailureKind, ProviderFault } from "../../contracts/provider.ts";
import { type BreakerOwner, CircuitBreaker, maxHintMs, maxStandbyMs } from "../breaker/circuit_breaker.ts";
import type { EndDate } from "../breaker/end_date.ts";
import { getOrCreate } from "../../util/once.ts";

/** The error response of a rejected call. */
export interface RejectedCall {
  readonly kind: FailureKind;
  readonly message: string;
  readonly status?: number | undefined;
  readonly fault?: ProviderFault | undefined;
  /** `Retry-After` of the response, ms. */
  readonly retryAfterMs?: number | undefined;
  /** The same as a time, wall-clock ms, if the provider has stated a date. */
  readonly retryAt?: number | undefined;
}

/** Failures that concern the API key: its rate limit for one model, or its account, or the key itself. */
export type KeyRejectionReason = "rate_limited" | "quota_exhausted" | "auth";

/** Standby durations for rejections without a hint, and ends that are dates. */
interface KeyCooldowns {
  /** Standby of an invalid key, ms. It doubles with each consecutive rejection. */
  readonly cooldownMs: number;
  /** Standby of a key with exhausted quota, ms, or the date on which the quota resets. */
  readonly quotaMs: number | EndDate;
  /** The date that the provider has stated, in place of the call's `retryAfterMs`. */
  readonly statedEnd?: EndDate | undefined;
}

/** Result of a rejection. */
export interface KeyRejection {
  /** Position of the key in the list, starting at 1. */
  readonly position: number;
  /** Number of keys. */
  readonly of: number;
  /** Duration of its standby, ms. */
  readonly standbyMs: number;
  /** Whether it was not already in standby for the same reason. */
  readonly isNew: boolean;
  /** When all keys are in standby, the combined rejection: the mildest kind with the earliest end. */
  readonly refusal?: RejectedCall;
}

/** A rejection that concerns the API key. */
interface KeyRejectedCall extends RejectedCall {
  readonly kind: KeyRejectionReason;
}

/** Standby of a rate-limited key without `Retry-After`, ms. */
const defaultRateLimitMs = 60_000;

/** Standby reason of each rejection, mildest first. */
export const standbyReasons = {
  rate_limited: "rate_limited",
  quota_exhausted: "quota_exhausted",
  auth: "provider_auth_failure",
} as const;

/** The breaker of one key. It is never half-open: a key serves normally once its standby has ended. */
class KeyBreaker extends CircuitBreaker {
  /**
   * The rejection that determined the end of the standby, and its time. A success of an earlier call does not clear it.
   */
  rejection: { readonly call: KeyRejectedCall; readonly at: number } | undefined;

  /** Whether it is open. */
  isOpen(now: number): boolean {
    return this.standby !== undefined && this.standby.until > now;
  }
}

/** One API key. Only its pool and the snapshot modify it. */
export class ApiKey {
  /** The key itself. */
  readonly value: string;
  /** The breaker for all models. */
  readonly breaker: KeyBreaker;
  /** Breakers for individual models, by the provider's model id. */
  readonly modelBreakers: Map<string, KeyBreaker> = new Map();
  readonly #provider: string;

  /** @param value The key itself. */
  constructor(value: string, { provider }: BreakerOwner) {
    this.value = value;
    this.#provider = provider;
    this.breaker = new KeyBreaker({ provider });
  }

  /** All breakers of the key. */
  get breakers(): readonly KeyBreaker[] {
    return [this.breaker, ...this.modelBreakers.values()];
  }

  /** Returns the breaker for one model, or for all. */
  breakerFor(model: string | undefined): KeyBreaker {
    if (model === undefined) return this.breaker;
    return getOrCreate(this.modelBreakers, model, () => new KeyBreaker({ provider: this.#provider, model }));
  }

  /** Returns the open breaker that applies to a model; of two, the one with the longer standby. */
  openBreaker(model: string, now: number): KeyBreaker | undefined {
    const own = this.modelBreakers.get(model);
    const longest = (own?.standby?.until ?? 0) > (this.breaker.standby?.until ?? 0) ? own! : this.breaker;
    return longest.isOpen(now) ? longest : undefined;
  }
}

/** The API keys of one provider. Times are monotonic ms. */
export class ApiKeyPool {
  /** The provider's id in the configuration. */
  readonly provider: string;
  #keys: readonly ApiKey[];

  /** @param provider The provider's id in the configuration. */
  constructor(provider: string, values: readonly string[]) {
    this.provider = provider;
    this.#keys = values.map((value) => new ApiKey(value, this));
  }

  /** The keys, in order. */
  get keys(): readonly ApiKey[] {
    return this.#keys;
  }

  /** Replaces the keys. A key that remains keeps its standbys. */
  replace(values: readonly string[]): void {
    const byValue = new Map(this.#keys.map((key) => [key.value, key]));
    this.#keys = values.map((value) => byValue.get(value) ?? new ApiKey(value, this));
  }

  /** Whether the pool has exactly these keys. */
  hasSameKeys(values: readonly string[]): boolean {
    return values.length === this.#keys.length && values.every((value, index) => this.#keys[index]!.value === value);
  }

  /** Returns a key for calls that concern no model: the first that is not in standby, else the first. */
  usable(now: number): string {
    return (this.#keys.find(({ breaker }) => !breaker.isOpen(now)) ?? this.#keys[0]!).value;
  }

  /** Returns when a key can be used for a model; undefined when it can be used now. Invalid keys sort last. */
  standbyUntil(key: ApiKey, model: string, now: number): number | undefined {
    const { standby } = key.openBreaker(model, now) ?? {};
    return standby?.reason === standbyReasons.auth ? standby.until + maxStandbyMs : standby?.until;
  }

  /** Whether every key is rejected as invalid; then the provider is. */
  isRejected(now: number): boolean {
    return this.#keys.every(({ breaker }) => breaker.isOpen(now) && breaker.standby?.reason === standbyReasons.auth);
  }

  /**
   * Records a success, which clears rejections from before the call.
   *
   * @param key The API key of the call.
   * @param model The provider's model id.
   * @param begunAt When the call began, monotonic ms.
   */
  recordSuccess(key: ApiKey, model: string, begunAt: number): void {
    for (const breaker of [key.breaker, key.modelBreakers.get(model)]) {
      if ((breaker?.rejection?.at ?? Infinity) <= begunAt) breaker!.close();
    }
  }

  /**
   * Puts a key in standby.
   *
   * @param key The key. It may have been replaced in the meantime.
   * @param model The provider's id of the model called.
   * @returns Undefined for a failure that does not concern the key.
   */
  reject(
    key: ApiKey,
    model: string,
    { call, at }: {
      readonly call: RejectedCall;
      /** Monotonic ms, and standby durations for rejections without a hint. */
      readonly at: { readonly now: number; readonly times: KeyCooldowns };
    },
  ): KeyRejection | undefined {
    if (!isAboutKey(call)) return undefined;
    const { now } = at;
    const index = this.#keys.indexOf(key);
    const isNew = index >= 0 && key.openBreaker(model, now)?.rejection?.call.kind !== call.kind;
    open(key.breakerFor(call.kind === "rate_limited" ? model : undefined), call, at);
    const standbyMs = (key.openBreaker(model, now)?.standby?.until ?? now) - now;
    const facts = { position: index + 1, of: this.#keys.length, standbyMs, isNew: isNew };
    const breakers = this.#keys.map((key) => key.openBreaker(model, now));
    return breakers.includes(undefined) ? facts : { ...facts, refusal: lowestSeverity(breakers as KeyBreaker[], now) };
  }

  /** Ends the standbys of all keys. */
  reset(): void {
    for (const breaker of this.#keys.flatMap(({ breakers }) => breakers)) breaker.close();
  }
}

function isAboutKey(call: RejectedCall): call is KeyRejectedCall {
  return call.kind in standbyReasons;
}

function open(
  breaker: KeyBreaker,
  call: KeyRejectedCall,
  { now, times }: { readonly now: number; readonly times: KeyCooldowns },
): void {
  const { cooldownMs, quotaMs, statedEnd } = times;
  breaker.halfOpenIfDue(now);
  const before = breaker.standby;
  if (call.kind === "auth" && before?.reason === standbyReasons.auth) return; // concurrent calls report it more than once
  const reason = standbyReasons[call.kind];
  if (call.kind === "auth") breaker.openForCooldown(reason, now, cooldownMs);
  else if (call.kind === "quota_exhausted") breaker.open(reason, now, statedEnd ?? call.retryAfterMs ?? quotaMs);
  else breaker.open(reason, now, statedEnd ?? Math.min(call.retryAfterMs ?? defaultRateLimitMs, maxHintMs));
  if (breaker.standby !== before) breaker.rejection = { call, at: now };
}

/** Returns the combined rejection of all keys: the one that ends first; `auth` only when all keys are invalid. */
function lowestSeverity(breakers: readonly KeyBreaker[], now: number): RejectedCall {
  const kinds = Object.keys(standbyReasons) as KeyRejectionReason[];
  const kind = kinds.find((kind) => breakers.some(({ rejection }) => rejection?.call.kind === kind))!;
  const [soonest] = breakers.filter(({ rejection }) => rejection?.call.kind === kind)
    .sort((first, second) => first.standby!.until - second.standby!.until);
  const { call } = soonest!.rejection!;
  // without a hint, the call is retried after a backoff, as with a single key
  const hasHint = kind !== "rate_limited" || call.retryAfterMs !== undefined;
  const { until, end } = soonest!.standby!;
  return { ...call, retryAfterMs: hasHint ? until - now : undefined, retryAt: end?.at };
}
