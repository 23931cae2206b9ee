/**
 * Watches one simulated world and holds the mesh to the rules.
 * @module
 */
import type { MeshEvent, RoutingRecord, UsageReport } from "../../mod.ts";
import type { Pool } from "../../src/registry/registry.ts";
import type { FakeClock } from "../../src/runtime/test.ts";
import { Book } from "./book.ts";
import { HedgeRules } from "./_hedges.ts";
import { lengthRule, waitRule } from "./_queues.ts";
import { createJourney, type Journey, noteCall, noteEnd } from "./journeys.ts";
import { BudgetScopes, getCost } from "./budget_scopes.ts";
import {
  errorRule,
  type Facts,
  getPlace,
  idleRule,
  recordRule,
  responseRule,
  ruledOutRule,
  servedRule,
  standbyRule,
  trialRule,
} from "./rules.ts";
import type { ModelPlan, Scenario } from "./scenario.ts";
import { Storm } from "./_storm.ts";
import type { Arrival } from "./_traffic.ts";
import type { CallEnd, VendorCall, VendorWatch } from "./vendors.ts";
import type { Overrun, VendorCounts } from "./_vendor_counts.ts";

/** What a referee knows of its world. */
export interface RefereeParts {
  readonly scenario: Scenario;
  readonly clock: FakeClock;
  /** Gets everything that happens, one line each. */
  readonly trace?: (line: string) => void;
}

/** A response that was read to its end. */
export interface Responded {
  /** The model's name. */
  readonly by: string;
  readonly text: string;
  /** Nano-dollars, where the mesh says. */
  readonly costNanoUsd: number | undefined;
}

/** Sees everything, and remembers the first thing that was wrong. */
export class Referee implements VendorWatch {
  /** What was wrong, and when. */
  violation: string | undefined;
  readonly book: Book;
  readonly open: Map<number, Journey> = new Map();
  readonly models: ReadonlyMap<string, ModelPlan>;
  /** The vendors' counts, once there are vendors. */
  counts: ReadonlyMap<string, VendorCounts> = new Map();
  /** Whether a model is in a pool, once there is a mesh. */
  isMember: Facts["isMember"] = () => true;
  /** The pools of the mesh, once there is one. */
  pools: () => readonly Pool[] = () => [];
  /** Calls over the network so far. */
  sends = 0;
  /** Reloads so far. */
  reloads = 0;
  /** Cost of all requests that are over, as recorded, nano-dollars. */
  recorded = 0;
  readonly #parts: RefereeParts;
  readonly #budgetScopes: BudgetScopes;
  readonly #storm: Storm;
  readonly #hedges = new HedgeRules();
  /** The end of the latest time in which the process was stopped, monotonic ms. */
  #stoppedUntil = 0;
  /** Time for which the process was stopped so far, ms. */
  #stoppedMs = 0;

  /** @param parts The world. */
  constructor(parts: RefereeParts) {
    const { scenario } = parts;
    this.#parts = parts;
    this.book = new Book(new Set(scenario.models.flatMap(({ name, absences }) => absences ? name : [])));
    this.#budgetScopes = new BudgetScopes(scenario);
    this.#storm = new Storm(scenario, this.book);
    this.models = new Map(scenario.models.map((model) => [model.name, model]));
  }

  /** Remembers what is wrong, if something is. */
  hold(rule: string, wrong: string | undefined): void {
    if (wrong === undefined) return;
    this.note(() => `VIOLATION of "${rule}": ${wrong}`);
    this.violation ??= `${rule}: at ${this.#now} ms ${wrong}`;
  }

  /** Sends a line to the follower of the world. */
  note(line: () => string): void {
    this.#parts.trace?.(`${String(this.#now).padStart(11)} ms  ${line()}`);
  }

  /** An operator took a model or a provider back. */
  takenBack(target: string): void {
    this.#budgetScopes.takenBack(target);
  }

  /** The process was stopped until now, for `ms`. */
  stopped(ms: number): void {
    this.#stoppedUntil = this.#now;
    this.#stoppedMs += ms;
  }

  /** A request is on its way. */
  arrived(arrival: Arrival): Journey {
    const pool = this.#parts.scenario.pools.find(({ name }) => name === arrival.pool)!;
    const journey = createJourney(arrival, pool, {
      startedAt: this.#now,
      stoppedMs: this.#stoppedMs,
      reloads: this.reloads,
    });
    this.open.set(arrival.id, journey);
    this.#storm.arrived(this.#now);
    this.#hedges.arrived(journey);
    this.note(() => `request ${arrival.id} to ${arrival.pool}${arrival.stream ? ", streamed" : ""}`);
    return journey;
  }

  /** The mesh emits an event. */
  readonly record = (record: MeshEvent | RoutingRecord): void => {
    if (record.type === "routing") return this.#routed(record);
    const { event, pool, model, provider, reason } = record;
    this.note(() => `${event} of ${[pool, model, provider].filter((name) => name !== undefined).join("/")}: ${reason}`);
    this.hold("events alternate", this.book.take(record, this.#now));
    const isListedAgain = event === "recovery" && reason === "model_not_found" && this.models.get(model!)?.absences;
    if (isListedAgain) this.book.settle(record);
    this.hold("attempts under an outage", this.#storm.look(this.#now));
  };

  called(call: VendorCall): void {
    const journey = this.open.get(call.arrival.id);
    if (journey === undefined) return this.hold("calls", `a call for request ${call.arrival.id}, which is over`);
    const { model } = call;
    const facts = this.#facts;
    const { wall, now } = facts;
    const isRetry = noteCall(journey, call, { order: this.book.changes, wall, now });
    this.hold("hedges", this.#hedges.called(journey, call, { now, isRetry }));
    this.note(() => `  request ${call.arrival.id} asks ${model.name}${isRetry ? " again" : ""}`);
    this.hold("nothing to standby", standbyRule(journey, model, isRetry, facts));
    if (isRetry) return;
    this.hold("ruled out for the request", ruledOutRule(journey, model));
    if (journey.reloads === this.reloads) this.hold("one at a time on trial", trialRule(journey, model, facts));
    const spent = this.#budgetScopes.spentFor(journey, model, facts.wall);
    if (spent !== undefined) {
      this.hold("budgets", `request ${call.arrival.id} went to ${model.name}: ${spent} is spent`);
    }
  }

  sent({ arrival }: VendorCall): void {
    this.sends++;
    this.#storm.sent(this.#now);
    const journey = this.open.get(arrival.id);
    if (journey !== undefined) journey.sends++;
  }

  overrun({ arrival, model }: VendorCall, overrun: Overrun): void {
    const limit = `${overrun} of ${model.limits[overrun]}`;
    this.hold("limits", `request ${arrival.id} overran ${model.name}: expected to be within its ${limit}`);
  }

  ended(call: VendorCall, end: CallEnd): void {
    const { arrival, model, trouble } = call;
    this.note(() => `  ${model.name} ${end} request ${arrival.id}${trouble === undefined ? "" : ` (${trouble.kind})`}`);
    const journey = this.open.get(arrival.id);
    if (end === "left") this.#budgetScopes.givenUp++;
    if (journey === undefined) return;
    noteEnd(journey, call, end);
    if (end === "served") this.book.doubt(getPlace(journey, model), journey.asks.get(model.name)!.order);
  }

  used(provider: string, { model, costUsd }: UsageReport): void {
    this.note(() => `  ${provider} is told that ${model} cost ${costUsd ?? "nobody knows how many"} USD`);
  }

  /** A request is answered, and its response read to the end. */
  answered(journey: Journey, { by, text, costNanoUsd }: Responded): void {
    const { arrival } = journey;
    const model = this.models.get(by)!;
    this.note(() => `request ${arrival.id} is answered by ${by}`);
    this.hold("right answer", servedRule(journey, by, text));
    this.#over(journey);
    // an engine that has taken over meanwhile has its own trial
    const { order, wall } = journey.asks.get(by)!;
    if (text !== "" && journey.reloads === this.reloads) this.book.prove(getPlace(journey, model), order);
    if (arrival.oddUsage !== undefined) {
      this.#budgetScopes.givenUp++; // taken for what the mesh estimates, which is no more than it reserved
      return;
    }
    const cost = journey.served.reduce((sum, served) => sum + getCost(journey, served), 0);
    const isHedged = this.#hedges.isHedged(journey); // the other call counts as it was reserved
    if (costNanoUsd !== undefined && (isHedged ? costNanoUsd < cost : costNanoUsd !== cost)) {
      this.hold("cost", `request ${arrival.id} cost ${costNanoUsd} nano-dollars, expected ${cost}`);
    }
    const passed = this.#budgetScopes.pay(journey, model, wall);
    if (passed !== undefined) this.hold("budgets", `request ${arrival.id} took more than is left of ${passed}`);
  }

  /** A request came to nothing. */
  failed(journey: Journey, error: unknown, client: AbortSignal): void {
    this.note(() => `request ${journey.arrival.id} fails: ${error}`);
    this.#over(journey);
    this.hold("errors", errorRule(journey, error, client));
  }

  /** A request is over since a moment. */
  left({ arrival, underWay }: Journey): void {
    const [call] = underWay;
    if (call === undefined) return;
    this.hold("no call outlives its request", `${call.model.name} still works on request ${arrival.id}, which is over`);
  }

  /** Time has passed. */
  tick(): void {
    this.hold("attempts under an outage", this.#storm.look(this.#now));
    this.hold("queues", lengthRule(this.pools()));
    for (const journey of this.open.values()) {
      this.#lateRule(journey);
      this.hold("no needless waits", idleRule(journey, this.#facts));
    }
  }

  #routed(record: RoutingRecord): void {
    const journey = [...this.open.values()].find(({ arrival }) => `request-${arrival.id}` === record.request_id);
    if (journey === undefined) return this.hold("records", `a record of ${record.request_id}, which is over`);
    this.recorded += Math.round((record.cost_usd ?? 0) * 1e9);
    this.hold("hedges", this.#hedges.routed(journey, record));
    this.hold("queues", waitRule(journey, record, this.#stoppedMs - journey.stoppedMs));
    this.hold("queues", lengthRule(this.pools()));
    this.hold("records", recordRule(journey, record));
    this.hold("answered if anybody could", responseRule(journey, record, this.#facts));
  }

  #over(journey: Journey): void {
    this.open.delete(journey.arrival.id);
    this.#lateRule(journey);
  }

  #lateRule({ arrival, startedAt, isCommitted }: Journey): void {
    const end = Math.max(startedAt + arrival.timeoutMs, this.#stoppedUntil) + 1;
    if (isCommitted || this.#now <= end) return;
    this.hold("deadlines", `request ${arrival.id} is not over, expected at ${end} ms by its ${arrival.timeoutMs} ms`);
  }

  get #now(): number {
    return this.#parts.clock.monotonic();
  }

  get #facts(): Facts {
    const { book, models, counts, open, reloads, isMember } = this;
    return {
      book,
      models,
      counts,
      open,
      reloads,
      isMember,
      budgetScopes: this.#budgetScopes,
      now: this.#now,
      wall: this.#parts.clock.now(),
    };
  }
}
