/**
 * Providers with several keys, and what of them each call came with.
 * @module
 */
import type { Stage } from "./_failover.ts";
import { type Scenery, scenery } from "./_transitions.ts";
import { type Behaviour, ok, type ReceivedRequest, type Script, status, type Upstream } from "./upstream.ts";

/** The keys of the provider `a`, in order. */
export const keys = ["canary-first-0123456789", "canary-second-0123456789", "canary-third-0123456789"] as const;

/** Place of the key that a call came with, from 1; 0 for none of them. */
export function keyIn({ headers }: Pick<ReceivedRequest, "headers">): number {
  return keys.findIndex((key) => headers.authorization === `Bearer ${key}`) + 1;
}

/** Places of the keys of all calls so far, such as `1 2 1`. */
export function keysSeen({ requests }: Upstream): string {
  return requests.filter(({ method }) => method === "POST").map(keyIn).join(" ");
}

/** A provider that answers well but for some keys, by place. */
export function byKey(plays: Readonly<Record<number, Behaviour>>): Script {
  return (request) => plays[keyIn(request)] ?? ok({ text: "from a" });
}

/** Refuses a key. */
export const refuse: Behaviour = status(401, { error: { code: "invalid_api_key" } });

/** The account has nothing left. */
export const broke: Behaviour = status(429, { error: { code: "insufficient_quota", type: "insufficient_quota" } });

/** Too much for now. */
export function limited(seconds?: number): Behaviour {
  return status(429, seconds === undefined ? {} : { headers: { "retry-after": String(seconds) } });
}

/** What a {@linkcode keyed} stage is made of. */
export interface KeyedOptions extends Scenery {
  /** How many keys the provider `a` has; two unless said. */
  readonly count?: number;
}

/**
 * A provider `a` with several keys, and `b` behind it with one; pools `chat` and `other` over them.
 *
 * @param a How `a` answers.
 * @param options Settings.
 */
export function keyed(a: Script, { count = 2, provider, ...options }: KeyedOptions = {}): Promise<Stage> {
  return scenery({ a, b: ok({ text: "from b" }) }, {
    ...options,
    provider: { api_key: keys.slice(0, count), ...provider },
  });
}
