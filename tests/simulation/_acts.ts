/**
 * What an operator and the machine's clock do to a mesh now and then.
 * @module
 */
import { Chance } from "./chance.ts";
import { wired } from "./features.ts";
import { hour, minute, second } from "./_times.ts";
import type { Arrival } from "./_traffic.ts";
import type { ModelPlan, ProviderPlan } from "./scenario.ts";

/**
 * The wall clock is set; the machine sleeps, and every connection with it breaks; the process is stopped, while time goes
 * on; an operator sets something aside or takes it back, or reloads; all clients leave.
 */
export type Act =
  | { readonly kind: "reload"; readonly at: number }
  | { readonly kind: "leave"; readonly at: number }
  | { readonly kind: "wall"; readonly at: number; readonly ms: number }
  | { readonly kind: "sleep"; readonly at: number; readonly ms: number }
  | { readonly kind: "stop"; readonly at: number; readonly ms: number }
  | { readonly kind: "deactivate" | "activate"; readonly at: number; readonly target: string };

interface ActWorld {
  readonly seed: number;
  readonly horizonMs: number;
  readonly providers: readonly ProviderPlan[];
  readonly models: readonly ModelPlan[];
  readonly arrivals: readonly Arrival[];
}

/** All acts of a world in order. */
export function acts({ seed, horizonMs, providers, models, arrivals }: ActWorld): Act[] {
  const chance = new Chance(seed, "acts");
  const planned: Act[] = [];
  for (let jumps = chance.happens(0.3) ? chance.whole(1, 3) : 0; jumps > 0; jumps--) {
    const ms = chance.pick([-1, 1]) * chance.pick([second, minute, 3 * hour, 26 * hour]);
    planned.push({ kind: "wall", at: Math.round(chance.between(0, horizonMs)), ms });
  }
  const targets = [...providers.map(({ id }) => id), ...models.flatMap(({ name, absences }) => absences ? [] : name)];
  for (let left = wired.has("manual") && chance.happens(0.4) ? chance.whole(1, 4) : 0; left > 0; left--) {
    const target = chance.pick(targets);
    const at = Math.round(chance.between(0, horizonMs * 0.9));
    planned.push({ kind: "deactivate", at, target });
    planned.push({ kind: "activate", at: Math.round(chance.between(at, horizonMs)), target });
  }
  const later = new Chance(seed, "later acts");
  for (const kind of ["reload", "leave"] as const) {
    // an engine that has taken over does not know what was in standby of a model that is not listed meanwhile
    const isPossible = kind !== "reload" || providers.every(({ isListing }) => !isListing);
    const times = later.happens(0.3) && isPossible ? later.whole(1, 4) : 0;
    // while requests are under way
    for (let left = times; left > 0; left--) {
      planned.push({ kind, at: Math.round(later.pick(arrivals).at + later.skewed(300, 2)) });
    }
  }
  const pauses = new Chance(seed, "pauses");
  for (
    const [kind, lengths] of [["sleep", [minute, hour, 9 * hour, 40 * hour]], ["stop", [second, 20 * second]]] as const
  ) {
    for (let left = pauses.happens(0.2) ? pauses.whole(1, 3) : 0; left > 0; left--) {
      const at = Math.round(pauses.pick(arrivals).at + pauses.skewed(300, 2));
      planned.push({ kind, at, ms: pauses.pick(lengths) });
    }
  }
  return planned.sort((one, other) => one.at - other.at);
}
