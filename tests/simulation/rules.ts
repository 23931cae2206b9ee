/**
 * What a mesh must never do, whatever happens to it. Each rule looks at facts seen from outside and says what is wrong.
 * @module
 */
import { MeshError, type RoutingRecord, StreamInterruptedError } from "../../mod.ts";
import { type Book, type Entry, isAbout, type Place } from "./book.ts";
import { wired } from "./features.ts";
import { isFaulty, type Journey } from "./journeys.ts";
import type { BudgetScopes } from "./budget_scopes.ts";
import type { ModelPlan } from "./scenario.ts";
import { textFor } from "./_answers.ts";
import type { VendorCounts } from "./_vendor_counts.ts";

/** What the rules look at. */
export interface Facts {
  readonly book: Book;
  readonly budgetScopes: BudgetScopes;
  readonly models: ReadonlyMap<string, ModelPlan>;
  readonly counts: ReadonlyMap<string, VendorCounts>;
  /** Requests that are not over, by number. */
  readonly open: ReadonlyMap<number, Journey>;
  /** Reloads so far. */
  readonly reloads: number;
  /** Whether a model is in a pool: one that its provider lists may not be yet. */
  readonly isMember: (pool: string, model: string) => boolean;
  /** Monotonic ms. */
  readonly now: number;
  /** Wall clock, ms. */
  readonly wall: number;
}

/** Reasons that come with the request that spends a limit, which still goes to the model. */
const spentByRequest: ReadonlySet<string> = new Set(["request_limit", "quota_window"]);

/** A model as a member of a journey's pool. */
export function getPlace({ pool }: Journey, { name, provider }: ModelPlan): Place {
  return { pool: pool.name, model: name, provider };
}

/** No request is sent to a model in standby. */
export function standbyRule(journey: Journey, model: ModelPlan, isRetry: boolean, facts: Facts): string | undefined {
  if (journey.reloads < facts.reloads || isRetry && !wired.has("retries_heed_standby")) return undefined;
  const entry = facts.book.standby(getPlace(journey, model)).find((one) =>
    !isWithinLimit(one, journey, isRetry, facts)
  );
  if (entry === undefined) return undefined;
  return `request ${journey.arrival.id} ${isRetry ? "was sent again" : "went"} to ${model.name} in ` +
    `${journey.pool.name}, expected none since ${entry.key} has been in standby (${entry.reason}) since ${entry.at} ms`;
}

/** Requests admitted in the turn in which the last one spent the limit are sent a moment later: as many as it allows. */
function isWithinLimit(entry: Entry, { pool }: Journey, isRetry: boolean, { now }: Facts): boolean {
  if (isRetry) return spentByRequest.has(entry.reason);
  if (!spentByRequest.has(entry.reason) || entry.at !== now) return false;
  entry.sentAtOnce = (entry.sentAtOnce ?? 0) + 1;
  return entry.sentAtOnce <= Number(pool.rules.request_limit ?? 1);
}

/** One request at a time to a half-open model, while another model could take the next one. */
export function trialRule(journey: Journey, model: ModelPlan, facts: Facts): string | undefined {
  for (const trial of facts.book.trials(getPlace(journey, model))) {
    const other = [...facts.open.values()].find((one) =>
      one !== journey && one.reloads === journey.reloads && isTrial(one, trial)
    ); // a reload begins the trial anew
    if (other === undefined) continue;
    const free = candidates(journey, facts).find((one) =>
      !journey.asked.slice(0, -1).includes(one.name) && one !== model &&
      facts.book.isProven(getPlace(journey, one)) && hasRoom(journey, one, facts)
    );
    if (free === undefined) continue;
    return `request ${journey.arrival.id} went to ${model.name} in ${journey.pool.name}, with ${trial.key} on trial ` +
      `since ${trial.at} ms and request ${other.arrival.id} under way to it; expected ${free.name}, which is free`;
  }
  return undefined;
}

/** Whether a request is under way that will decide whether a half-open breaker closes. */
function isTrial({ asks, pool, underWay }: Journey, { key, order }: Entry): boolean {
  return [...underWay].some(({ model: { name, provider } }) =>
    asks.get(name)!.order >= order && isAbout(key, { pool: pool.name, model: name, provider })
  );
}

/** A provider that refused the key, or whose account is empty, is not asked for another model by the same request. */
export function ruledOutRule({ arrival, refusedBy }: Journey, { name, provider }: ModelPlan): string | undefined {
  if (!refusedBy.has(provider)) return undefined;
  return `request ${arrival.id} went to ${name}, expected not to: ${provider} refused it before`;
}

/** Errors are of the family, the client's own abort is passed on, and only a vendor's failure breaks off a stream. */
export function errorRule(journey: Journey, error: unknown, client: AbortSignal): string | undefined {
  const { arrival, isCommitted, lastTrouble } = journey;
  if (client.aborted && error === client.reason) return undefined;
  if (!MeshError.isInstance(error)) {
    const stack = error instanceof Error ? error.stack : undefined; // takes long to make: only for who wants to see it
    return `request ${arrival.id} failed with ${stack ?? error}, expected a MeshError`;
  }
  if (!isCommitted || lastTrouble !== undefined && StreamInterruptedError.isInstance(error)) return undefined;
  return `the stream of request ${arrival.id} broke off with ${error}, expected an end: its vendor did nothing wrong`;
}

/** A request goes unanswered only when no model is left that could be asked. */
export function responseRule(journey: Journey, record: RoutingRecord, facts: Facts): string | undefined {
  if (journey.reloads < facts.reloads || journey.client?.aborted) return undefined;
  const outcomes = record.fallback_chain.map(({ outcome }) => outcome);
  if (["ok", "empty", "aborted", "stream_interrupted"].some((end) => outcomes.includes(end)) || isFaulty(journey)) {
    return undefined;
  }
  const spared = candidates(journey, facts).find((model) =>
    !journey.asked.includes(model.name) && hasRoom(journey, model, facts) && !isAwaited(journey, model, facts)
  );
  if (spared === undefined) return undefined;
  return `request ${journey.arrival.id} went unanswered in ${journey.pool.name} after ` +
    `${journey.asked.join(", ") || "nobody"} (${
      outcomes.join(", ")
    }), expected that ${spared.name} is asked: it is active`;
}

/** A request does not wait for its first model while one has room for it, since none before it waits for that one either. */
export function idleRule(journey: Journey, facts: Facts): string | undefined {
  const { arrival, pool, asked, underWay, reloads, client } = journey;
  if (asked.length > 0 || underWay.size > 0 || reloads < facts.reloads || client?.aborted) return undefined;
  const free = candidates(journey, facts).find((model) =>
    facts.book.isProven(getPlace(journey, model)) && hasRoom(journey, model, facts)
  );
  return free && `request ${arrival.id} waits in ${pool.name}, expected none: ${free.name} has room`;
}

/** Models that may be asked by their states and by what the request has met so far. */
function candidates(journey: Journey, facts: Facts): ModelPlan[] {
  const { pool, ruledOut, home } = journey;
  if (pool.scope === "same_model" && home !== undefined) return [];
  return pool.models.map((name) => facts.models.get(name)!).filter((model) =>
    facts.isMember(pool.name, model.name) && facts.book.standby(getPlace(journey, model)).length === 0 &&
    !ruledOut.has(model.provider) &&
    (pool.scope === "any" || home === undefined || home === model.provider)
  );
}

/** Whether neither limits nor money nor spacing can keep a request from a model, however a mesh may reckon. */
function hasRoom(journey: Journey, model: ModelPlan, { counts, budgetScopes, open, now, wall }: Facts): boolean {
  return counts.get(model.name)!.hasAmpleRoom({ now, wall }) &&
    budgetScopes.isAmple(journey, model, { wall, open: open.size }) &&
    journey.pool.minDeltaMs === undefined && !isReserved(journey, model, open);
}

/** Whether requests under way may have reserved what the pool still allows a model. */
function isReserved({ pool }: Journey, { name }: ModelPlan, open: Facts["open"]): boolean {
  const isLimited = ["token_limit", "budget_limit"].some((limit) => limit in pool.rules);
  return isLimited &&
    [...open.values()].some((other) =>
      other.pool === pool &&
      (other.asked.at(-1) === name || [...other.underWay].some(({ model }) => model.name === name))
    );
}

/** Whether a request of a pool with a queue may have been admitted to a model a moment ago, and is not sent yet. */
function isAwaited(journey: Journey, { name }: ModelPlan, { open }: Facts): boolean {
  return [...open.values()].some((other) =>
    other !== journey && other.pool.queue !== undefined && other.underWay.size === 0 && other.pool.models.includes(name)
  );
}

/** A response is the right one, and of the model asked last; an empty or hedged one may be an earlier model's. */
export function servedRule({ arrival, asked, pool }: Journey, by: string, text: string): string | undefined {
  if (text === "" && asked.includes(by)) return undefined;
  if (by !== asked.at(-1) && (pool.hedge === undefined || !asked.includes(by))) {
    return `request ${arrival.id} was answered by ${by}, expected ${asked.at(-1)}`;
  }
  if (text.replace(".", "") === textFor(arrival)) return undefined;
  return `request ${arrival.id} got ${JSON.stringify(text)}, expected "${textFor(arrival)}"`;
}

/** The record names where the request has been, and no fewer calls than there were. Hedges are in the order of their ends. */
export function recordRule(journey: Journey, record: RoutingRecord): string | undefined {
  const toList = (names: readonly string[]) => (record.hedged ? names.toSorted() : names).join(", ");
  const reported = toList(record.fallback_chain.map(({ model }) => model));
  const asked = toList(journey.asked);
  if (reported !== asked) return `the record of request ${journey.arrival.id} tells of ${reported}, expected ${asked}`;
  const { attempts } = record;
  if (attempts <= journey.sends && journey.sends <= 2 * attempts) return undefined;
  return `the record of request ${journey.arrival.id} tells of ${attempts} attempts, expected ${journey.sends}`;
}
