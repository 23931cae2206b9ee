/**
 * Providers with several API keys, and which key each call used.
 * @module
 */
import type { Stage } from "./_failover.ts";
import { type Scenery, scenery } from "./_transitions.ts";
import { type Behaviour, ok, type ReceivedRequest, type Script, status, type Upstream } from "./upstream.ts";

/** API keys of the provider `a`, in order. */
export const keys = ["canary-first-0123456789", "canary-second-0123456789", "canary-third-0123456789"] as const;

/** Returns the position of a request's API key, starting at 1; 0 for an unknown one. */
export function keyIn({ headers }: Pick<ReceivedRequest, "headers">): number {
  return keys.findIndex((key) => headers.authorization === `Bearer ${key}`) + 1;
}

/** Returns the key positions of all requests so far, such as `1 2 1`. */
export function keysSeen({ requests }: Upstream): string {
  return requests.filter(({ method }) => method === "POST").map(keyIn).join(" ");
}

/** Script of a provider that succeeds, except with some API keys, by position. */
export function byKey(plays: Readonly<Record<number, Behaviour>>): Script {
  return (request) => plays[keyIn(request)] ?? ok({ text: "from a" });
}

/** Rejects an API key. */
export const refuse: Behaviour = status(401, { error: { code: "invalid_api_key" } });

/** Reports an exhausted quota. */
export const broke: Behaviour = status(429, { error: { code: "insufficient_quota", type: "insufficient_quota" } });

/** Reports a rate limit. */
export function limited(seconds?: number): Behaviour {
  return status(429, seconds === undefined ? {} : { headers: { "retry-after": String(seconds) } });
}

/** Options of a {@linkcode keyed} stage. */
export interface KeyedOptions extends Scenery {
  /** Number of API keys of the provider `a`. @default 2 */
  readonly count?: number;
}

/**
 * Starts a provider `a` with several API keys, and `b` as its fallback with one; with the pools `chat` and `other`.
 *
 * @param a Script of `a`.
 * @param options Settings.
 */
export function keyed(a: Script, { count = 2, provider, ...options }: KeyedOptions = {}): Promise<Stage> {
  return scenery({ a, b: ok({ text: "from b" }) }, {
    ...options,
    provider: { api_key: keys.slice(0, count), ...provider },
  });
}
