/**
 * What goes wrong at the vendors, and when.
 * @module
 */
import { Chance } from "./chance.ts";
import { hour, minute, second } from "./_times.ts";
import type { ModelPlan, ProviderPlan } from "./scenario.ts";

/** How a call goes wrong. */
export type TroubleKind =
  | "refused" // no connection
  | "broken" // the connection ends before the response
  | "fails" // 500 or 503
  | "limited" // 429 with a hint
  | "crowded" // 429 without one
  | "auth" // 401
  | "quota" // the account has nothing left
  | "unknown_model" // 404
  | "hangs" // no response at all
  | "slow" // twenty times the usual time
  | "empty" // a response that says nothing
  | "cut" // a stream that breaks off; a non-streaming response that cannot be read
  | "silent"; // a stream that stops saying anything

/** A time in which calls go wrong. */
export interface Trouble {
  readonly kind: TroubleKind;
  /** Undefined: all of them. */
  readonly provider?: string;
  /** Undefined: all of the provider's. */
  readonly model?: string;
  /** Monotonic ms. */
  readonly from: number;
  readonly to: number;
  /** The share of calls that go wrong. */
  readonly share: number;
  /** The wait the vendor asks for, ms. */
  readonly hintMs?: number;
  readonly status: number;
}

/** What troubles are made for. */
export interface TroubleWorld {
  readonly seed: number;
  readonly horizonMs: number;
  readonly isStorm: boolean;
  readonly providers: readonly ProviderPlan[];
  readonly models: readonly ModelPlan[];
}

const kinds: readonly TroubleKind[] = [
  "refused",
  "broken",
  "fails",
  "fails",
  "limited",
  "crowded",
  "auth",
  "quota",
  "unknown_model",
  "hangs",
  "slow",
  "empty",
  "cut",
  "silent",
];

/** A total outage that is asked through all the same, from this moment on, ms. */
export const stormFrom: number = 2 * minute;

/** How long it takes, ms. */
export const stormMs: number = 90 * second;

/** All that goes wrong in a world. */
export function troubles(world: TroubleWorld): Trouble[] {
  const chance = new Chance(world.seed, "troubles");
  const planned = Array.from({ length: chance.whole(0, 10) }, () => trouble(world, chance));
  if (!world.isStorm) return planned;
  const kind = chance.pick(["refused", "broken", "fails", "auth", "crowded"] as const);
  return [{ kind, from: stormFrom, to: stormFrom + stormMs, share: 1, status: readStatus(kind, chance) }, ...planned];
}

function trouble({ horizonMs, providers, models }: TroubleWorld, chance: Chance): Trouble {
  const kind = chance.pick(kinds);
  const from = chance.between(0, horizonMs * 0.9);
  const longest = Math.min(horizonMs / 2, chance.pick([30 * second, 5 * minute, hour, 12 * hour]));
  const where = chance.next();
  const place = where < 0.15
    ? {}
    : where < 0.5
    ? { provider: chance.pick(providers).id }
    : (({ name, provider }) => ({ model: name, provider }))(chance.pick(models));
  return {
    kind,
    ...place,
    from,
    to: from + chance.between(second, longest),
    share: chance.pick([1, 1, 0.6, 0.25]),
    ...createHint(kind, chance),
    status: readStatus(kind, chance),
  };
}

function createHint(kind: TroubleKind, chance: Chance): { hintMs?: number } {
  if (kind === "limited") return { hintMs: Math.round(chance.pick([200, 3 * second, 45 * second, 20 * minute])) };
  return kind === "quota" && chance.happens(0.5) ? { hintMs: 3 * hour } : {};
}

function readStatus(kind: TroubleKind, chance: Chance): number {
  const known: Partial<Record<TroubleKind, number>> = { limited: 429, crowded: 429, auth: 401, unknown_model: 404 };
  if (kind === "quota") return chance.pick([402, 429]);
  return known[kind] ?? chance.pick([500, 502, 503, 529]);
}

/**
 * The trouble a call runs into.
 *
 * @param planned The scenario's.
 * @param call Whose call, when, and chance for troubles that come now and then.
 */
export function troubleAt(
  planned: readonly Trouble[],
  call: { readonly model: ModelPlan; readonly now: number; readonly chance: Chance },
): Trouble | undefined {
  const { model, now, chance } = call;
  return planned.find((one) =>
    one.from <= now && now < one.to && (one.provider ?? model.provider) === model.provider &&
    (one.model ?? model.name) === model.name && chance.happens(one.share) &&
    // a list that lacks the model has the same reason: the events do not show which of the two is over
    (one.kind !== "unknown_model" || model.absences === undefined)
  );
}
