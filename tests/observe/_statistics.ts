/**
 * Statistics under test, and shorthands for their input.
 * @module
 */
import type { StatsMetrics } from "../../src/contracts/events.ts";
import type { StandbyReason } from "../../src/contracts/rotation.ts";
import { type RequestPath, Statistics } from "../../src/observe/statistics.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import type { BreakerOwner } from "../../src/state/breaker/circuit_breaker.ts";

/** A minute, ms. */
export const minute = 60_000;

/** `ok`, or what failed, at `<model>@<provider>`; each took 100 ms. */
export type Step = readonly [at: string, outcome: string];

/** A request in pool `chat`: the attempt that was `ok` answered it, else it was last at the last one. */
export function path(...steps: readonly Step[]): RequestPath {
  const fallback_chain = steps.map(([at, outcome]) => ({ ...listNames(at), outcome, ms: 100 }));
  const end = fallback_chain.find(({ outcome }) => outcome === "ok") ?? fallback_chain.at(-1);
  return { pool: "chat", model: end?.model ?? null, provider: end?.provider ?? null, fallback_chain };
}

/** The two names of `<model>@<provider>`. */
export function listNames(at: string): { readonly model: string; readonly provider: string } {
  const [model = "", provider = ""] = at.split("@");
  return { model, provider };
}

/** `[<pool>/][<model>]@<provider>` of an owner. */
function getOwner(text: string): BreakerOwner {
  const [, pool, model, provider = ""] = /^(?:(.+)\/)?(.+)?@(.+)$/.exec(text)!;
  return { ...(pool === undefined ? {} : { pool }), ...(model === undefined ? {} : { model }), provider };
}

/** Statistics and the clock they go by. */
export class Bench {
  readonly clock: FakeClock = fakeClock();
  readonly statistics: Statistics = new Statistics(this.clock);

  /** @param members `<pool>/<model>@<provider>` each. */
  constructor(...members: readonly string[]) {
    this.statistics.setMembers(members.map((member) => getOwner(member) as Required<BreakerOwner>));
  }

  /** A standby begins. */
  standby(owner: string, reason: StandbyReason = "retry_limit"): void {
    this.statistics.addTransition({ owner: getOwner(owner), to: "standby", reason });
  }

  /** A standby ends. */
  active(owner: string, reason: StandbyReason = "retry_limit"): void {
    this.statistics.addTransition({ owner: getOwner(owner), to: "active", reason });
  }

  /** Some metrics of `<scope> <id>`. */
  look<Name extends keyof StatsMetrics>(record: string, ...names: readonly Name[]): (number | null)[] {
    const found = this.statistics.records().find(({ scope, id }) => `${scope} ${id}` === record);
    return names.map((name) => found?.[name] ?? null);
  }

  /** Requests in all, answered and failed. */
  requests(record: string): string {
    return this.look(record, "requests_total", "requests_success", "requests_failed").join(" ");
  }
}
