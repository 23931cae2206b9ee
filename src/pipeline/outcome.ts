/**
 * Nobody served: which row of the error table that is. Chosen over all candidates, tried ones and resting ones alike.
 * @module
 */
import type { ProviderFault } from "../contracts/provider.ts";
import { type FailedAttempt, type MeshError, NoActiveModelError, ProviderError, RateLimitError } from "../errors.ts";
import type { Member } from "../registry/registry.ts";
import type { RouteDeps } from "./request.ts";
import type { RotatePlan } from "./rotate.ts";
import type { Miss, Trip } from "./trip.ts";

/**
 * The error of a request that no candidate served.
 *
 * @param plan What was asked, and who could have taken it.
 * @param trip Who was tried.
 * @param deps For the time.
 */
export function errorOf<T>({ capable, pool }: RotatePlan<T>, trip: Trip, { runtime }: RouteDeps): MeshError {
  const now = runtime.clock.monotonic();
  for (const { state } of capable) state.settle(now);
  const kinds = new Set(capable.flatMap((member) => whyNot(member, trip) ?? []));
  const retryAfterMs = soonest(capable, now);
  const [kind] = kinds.size === 1 ? kinds : [];
  if (kind === "rate_limited") {
    const message = `Every model of the pool "${pool.name}" is rate-limited${inSeconds(retryAfterMs)}`;
    return new RateLimitError(message, { code: "rate_limit_exceeded", retryAfterMs });
  }
  if (kind === "quota_exhausted") {
    const message = `The quota of every model of the pool "${pool.name}" is exhausted`;
    return new RateLimitError(message, { code: "insufficient_quota", retryAfterMs });
  }
  if (trip.misses.length > 0) return answeredError(trip.misses);
  const reasons = Object.fromEntries(capable.map(({ state }) => [state.name, state.reason ?? "unknown"]));
  const list = Object.entries(reasons).map(([name, reason]) => `${name} (${reason})`).join(", ");
  return new NoActiveModelError(
    `Every model of the pool "${pool.name}" is in standby${inSeconds(retryAfterMs)}: ${list}`,
    { retryAfterMs, reasons },
  );
}

/** Why a candidate did not serve; undefined for one that was spared because its provider was ruled out. */
function whyNot({ model, state }: Member, trip: Trip): string | undefined {
  const miss = trip.misses.find(({ member }) => member.model === model);
  if (miss !== undefined) return miss.failure.kind;
  return state.status === "standby" ? state.reason : undefined;
}

function answeredError(misses: readonly Miss[]): ProviderError {
  const attempts: FailedAttempt[] = misses.map(({ member, failure }) => ({
    model: member.model.name,
    provider: member.model.home.entry.id,
    kind: failure.kind,
    ...(failure.status === undefined ? {} : { status: failure.status }),
  }));
  const { model, provider } = attempts.at(-1)!;
  const { fault } = misses[0]!.failure;
  if (fault !== undefined && misses.every(({ failure }) => failure.kind === "request")) {
    const { error } = fault;
    return new ProviderError(error.message, {
      code: error.code ?? "invalid_value",
      status: statusOfFault(fault),
      type: error.type === "" ? "invalid_request_error" : error.type,
      param: error.param,
      provider: attempts[0]!.provider,
      model: attempts[0]!.model,
      attempts,
    });
  }
  const tried = attempts.map(({ model, kind, status }) =>
    `${model} (${status === undefined ? kind : `${kind}, ${status}`})`
  );
  const refused = misses.every(({ failure }) => failure.kind === "auth");
  return new ProviderError(
    refused
      ? `Every provider refused the key configured for it: ${tried.join(", ")}`
      : `Every model that was tried failed: ${[tried.join(", "), ...hintsOf(misses)].join(". ")}`,
    {
      code: refused ? "upstream_auth_error" : "all_attempts_failed",
      status: 502,
      type: "server_error",
      provider,
      model,
      attempts,
    },
  );
}

/** What is known where no provider said anything itself, in words of ours: what to do about it stands nowhere else. */
function hintsOf(misses: readonly Miss[]): Set<string> {
  const unanswered = misses.filter(({ failure }) => failure.fault === undefined);
  return new Set(unanswered.map(({ failure }) => failure.message));
}

function soonest(members: readonly Member[], now: number): number | undefined {
  const ends = members.flatMap(({ state }) => state.retryAt ?? []);
  return ends.length === 0 ? undefined : Math.max(0, Math.min(...ends) - now);
}

function inSeconds(ms: number | undefined): string {
  return ms === undefined ? "" : `; the first is back in ${Math.ceil(ms / 1000)} s`;
}

/** A fault of the request that came inside an answer under 200 is answered as what it is: by its own code, else 400. */
function statusOfFault({ status, error }: ProviderFault): number {
  if (status >= 400) return status;
  const inner = Number(error.code);
  return inner === 413 || inner === 422 ? inner : 400;
}
