/**
 * Lives through one simulated world: days of requests, outages and recoveries in some milliseconds.
 * @module
 */
import { ModelMesh } from "../../mod.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import type { ChatCompletion, ChatCompletionRequest } from "../../src/contracts/openai.ts";
import type { RoutedRequest } from "../../src/pipeline/request.ts";
import { SnapshotMapper } from "../../src/state/persistence/snapshot_mapper.ts";
import { readSnapshot } from "../../src/state/persistence/snapshot_codec.ts";
import { FakeClock, settle } from "../../src/runtime/test.ts";
import { Chance } from "./chance.ts";
import { createDocument } from "./_config.ts";
import { Engines } from "./_engines.ts";
import { moneyRule } from "./_hedges.ts";
import { loadModules } from "./_load_modules.ts";
import type { Journey } from "./journeys.ts";
import { leftRule, toQueued } from "./_queues.ts";
import { Referee } from "./referee.ts";
import { createScenario, type Scenario } from "./scenario.ts";
import { dateRule, statusRule } from "./_status_rule.ts";
import { hour, minute, second } from "./_times.ts";
import type { Act } from "./_acts.ts";
import type { Arrival } from "./_traffic.ts";
import { chat } from "../../src/pipeline/operations/chat.ts";
import { Vendors } from "./vendors.ts";
import { raise } from "../support/raise.ts";

/** What became of a world. */
export interface SimulationEnd {
  /** What was wrong; undefined: nothing. */
  readonly violation?: string;
  /** Requests made. */
  readonly requests: number;
  /** Those of them that were answered. */
  readonly answered: number;
  /** Calls that vendors got. */
  readonly sends: number;
  /** Deactivations and recoveries. */
  readonly changes: number;
}

/** When worlds begin: an ordinary day, before a leap day, before the year's end. */
const beginnings = [Date.UTC(2026, 0, 1), Date.UTC(2026, 5, 15, 13), Date.UTC(2028, 1, 28, 21), Date.UTC(2026, 11, 31)];

/** A world takes some milliseconds of real time, ms. */
const maxRunMs = 30_000;

/**
 * Lives through the world of a seed. The same seed is the same world, down to the millisecond.
 *
 * @param seed Which.
 * @param options `follow` gets everything that happens, one line each.
 *
 * @example
 * ```ts
 * const { violation } = await simulate(42, { trace: console.log });
 * ```
 */
export async function simulate(
  seed: number,
  { trace }: { readonly trace?: (line: string) => void } = {},
): Promise<SimulationEnd> {
  await loadModules();
  const failed = (violation: string): SimulationEnd => ({ violation, requests: 0, answered: 0, sends: 0, changes: 0 });
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  let onFault = (_event: PromiseRejectionEvent | ErrorEvent) => {};
  const stuck = new Promise<SimulationEnd>((resolve) => {
    const message = `timers go on setting new ones: the world is not over after ${maxRunMs} ms of real time`;
    watchdog = setTimeout(() => resolve(failed(message)), maxRunMs);
    onFault = (event) => {
      event.preventDefault();
      const fault = "reason" in event ? event.reason : event.error;
      resolve(failed(`an error that nobody noticed: ${fault?.stack ?? fault}`));
    };
  });
  addEventListener("unhandledrejection", onFault);
  addEventListener("error", onFault);
  return await Promise.race([new World(createScenario(seed), trace).live(), stuck]).finally(() => {
    clearTimeout(watchdog);
    removeEventListener("unhandledrejection", onFault);
    removeEventListener("error", onFault);
  });
}

class World {
  readonly #scenario: Scenario;
  readonly #clock: FakeClock;
  readonly #referee: Referee;
  readonly #vendors: Vendors;
  readonly #engines: Engines;
  /** Clients of requests that are not over. */
  readonly #clients = new Set<AbortController>();
  readonly #chance: Chance;
  readonly #arrivals: Arrival[];
  /** Wall clock, ms. */
  readonly #begunAt: number;
  #answered = 0;

  constructor(scenario: Scenario, trace: ((line: string) => void) | undefined) {
    const chance = new Chance(scenario.seed, "world");
    const clock = new FakeClock({ now: chance.pick(beginnings) });
    const referee = new Referee({ scenario, clock, ...(trace === undefined ? {} : { trace }) });
    this.#scenario = scenario;
    this.#chance = chance;
    this.#clock = clock;
    this.#begunAt = clock.now();
    this.#referee = referee;
    this.#arrivals = [...scenario.arrivals];
    this.#vendors = new Vendors({ scenario, clock, watch: referee, arrivalOf: (id) => this.#arrivals[id]! });
    referee.counts = this.#vendors.counts;
    const { fetch } = this.#vendors;
    const { runtime } = getEngine(new ModelMesh({ clock, fetch, random: chance.next, env: {} }));
    const sink = { emit: referee.record, trace: () => {}, flush: () => Promise.resolve() };
    const onReload = () => void referee.reloads++;
    referee.pools = () => this.#engines.mesh.registry.pools;
    referee.isMember = (pool, model) =>
      this.#engines.mesh.registry.pool(pool)?.members.some(({ model: { name } }) => name === model) ?? false;
    this.#engines = new Engines({ runtime, sink, onReload, config: () => createDocument(scenario, this.#vendors) });
  }

  async live(): Promise<SimulationEnd> {
    await this.#engines.start();
    const { arrivals, acts } = this.#scenario;
    const steps = [
      ...arrivals.map((arrival) => ({ at: arrival.at, take: () => this.#begin(arrival) })),
      ...acts.map((act) => ({ at: act.at, take: () => this.#act(act) })),
    ].sort((one, other) => one.at - other.at);
    for (const { at, take } of steps) {
      const now = this.#clock.monotonic();
      if (at > now) await this.#until(at); // what comes at one time begins in one turn
      else if (at < now) await settle(); // came while the process was stopped
      if (this.#isSpoilt) break;
      await take();
    }
    if (!this.#isSpoilt) await this.#drain();
    if (!this.#isSpoilt && this.#chance.happens(0.7)) await this.#heal(); // else closed while much is still set
    await this.#close();
    const { violation, book, sends } = this.#referee;
    const requests = this.#arrivals.length;
    return { requests, answered: this.#answered, sends, changes: book.changes, ...(violation && { violation }) };
  }

  get #isSpoilt(): boolean {
    return this.#referee.violation !== undefined;
  }

  async #until(at: number): Promise<void> {
    const waitMs = at - this.#clock.monotonic();
    if (waitMs > 0) await this.#clock.advance(waitMs);
    this.#referee.tick();
    if (waitMs > 0 && this.#chance.happens(0.3)) this.#look();
  }

  /** Before anybody asks the mesh for its states: that alone would end what is over. */
  #look(): void {
    const now = this.#clock.monotonic();
    const { mesh } = this.#engines;
    for (const { name, members } of mesh.registry.pools) {
      for (const { state: { retryAt = Infinity, name: model } } of members) {
        if (retryAt >= now) continue;
        this.#referee.hold("recoveries in time", `${model} in ${name} rests, expected to be back since ${retryAt} ms`);
      }
    }
    for (const wrong of dateRule(mesh.poolStatus())) this.#referee.hold("windows end at their dates", wrong);
    for (const wrong of statusRule(mesh.poolStatus(), this.#referee, this.#clock)) {
      this.#referee.hold("every change of state has its event", wrong);
    }
  }

  #act(act: Act): void | Promise<void> {
    if (act.kind === "stop") return this.#stop(act.ms);
    if (act.kind === "wall") {
      this.#referee.note(() => `the wall clock is set by ${act.ms} ms`);
      return this.#clock.jumpWallTime(act.ms);
    }
    if (act.kind === "sleep") {
      this.#referee.note(() => `the machine sleeps for ${act.ms} ms`);
      this.#clock.jumpWallTime(act.ms);
      return this.#vendors.breakConnections();
    }
    if (act.kind === "reload") {
      this.#referee.note(() => "the configuration is read again");
      return void this.#engines.reload().catch((error) => this.#referee.hold("reloads", `failed: ${error}`));
    }
    if (act.kind === "leave") {
      this.#referee.note(() => "all clients leave");
      return this.#clients.forEach(leave);
    }
    this.#referee.note(() => `an operator says ${act.kind} ${act.target}`);
    this.#engines.act(act.kind, act.target);
    if (act.kind === "activate") this.#referee.takenBack(act.target);
  }

  #begin(arrival: Arrival): void {
    this.#request(arrival).catch(raise);
  }

  /** What was due meanwhile is done late. */
  async #stop(ms: number): Promise<void> {
    this.#referee.note(() => `the process is stopped for ${ms} ms`);
    await settle(); // no request is between two of its steps
    this.#clock.stop(ms);
    this.#referee.stopped(ms);
    await this.#clock.advance(0);
  }

  async #request(arrival: Arrival): Promise<void> {
    const journey = this.#referee.arrived(arrival);
    const client = new AbortController();
    this.#clients.add(client);
    journey.client = client.signal;
    const { leavesAfterMs = Infinity } = arrival;
    const cancel = leavesAfterMs === Infinity ? () => {} : this.#clock.after(leavesAfterMs, () => leave(client));
    try {
      await this.#engines.serve((mesh) => this.#converse(mesh, journey, client.signal));
    } catch (error) {
      this.#referee.failed(journey, error, client.signal);
    } finally {
      cancel();
      this.#clients.delete(client);
    }
    await settle();
    this.#referee.left(journey);
  }

  async #converse(mesh: Engine, journey: Journey, client: AbortSignal): Promise<void> {
    const { arrival } = journey;
    const cancels = arrival.id % 2 === 0; // a client leaves a stream by its signal, or by reading no further
    const wire = new AbortController();
    client.addEventListener("abort", () => journey.isCommitted && cancels ? undefined : wire.abort(client.reason));
    const answer = await mesh.perform(toRoutedRequest(arrival, wire.signal));
    journey.isCommitted = true;
    let text = "";
    if (answer.kind === "complete") text = answer.response.body.choices[0]?.message.content ?? "";
    else if (answer.kind === "stream") {
      const { stream } = answer;
      if (cancels) client.addEventListener("abort", () => stream.cancel());
      for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) {
        text += chunk.value.choices[0]?.delta.content ?? "";
      }
    }
    this.#answered++;
    client.throwIfAborted();
    const costNanoUsd = answer.kind === "complete" ? answer.costNanoUsd : undefined;
    this.#referee.answered(journey, { by: answer.routing.model ?? "nobody", text, costNanoUsd });
  }

  /** Nothing new arrives: what is under way ends. */
  async #drain(): Promise<void> {
    for (let left = 60; left > 0 && this.#referee.open.size > 0; left--) {
      await this.#clock.advance(minute);
      this.#referee.tick();
      if (this.#isSpoilt) return;
    }
    const hanging = [...this.#referee.open.keys()];
    if (hanging.length > 0) this.#referee.hold("no request hangs", `${hanging.join(", ")} are not over after an hour`);
    await settle();
    const { underWay } = this.#vendors;
    if (underWay > 0) {
      this.#referee.hold("no call outlives its request", `${underWay} calls are under way, expected none`);
    }
    this.#referee.hold("money", moneyRule(this.#money()));
    this.#referee.hold("queues", leftRule(this.#referee.pools()));
    for (const { name, members } of this.#engines.mesh.registry.pools) {
      for (const { state: { inFlight, name: model } } of members) {
        if (inFlight === 0) continue;
        this.#referee.hold("in-flight counts", `${model} in ${name} counts ${inFlight} requests in flight, expected 0`);
      }
    }
  }

  #money(): Parameters<typeof moneyRule>[0] {
    const day = (wallTimeMs: number) => Math.floor(wallTimeMs / (24 * hour));
    const isToday = day(this.#clock.now()) === day(this.#begunAt) &&
      !this.#scenario.acts.some(({ kind }) => kind === "wall" || kind === "sleep");
    return { budgets: this.#engines.mesh.listBudgets(), recorded: this.#referee.recorded, isToday };
  }

  /** Nothing goes wrong any more: a day later every pool answers. */
  async #heal(): Promise<void> {
    this.#vendors.isHealed = true;
    const setBackMs = this.#scenario.acts.reduce(
      (sum, act) => act.kind === "wall" ? sum + Math.max(0, -act.ms) : sum,
      0,
    );
    await this.#until(this.#clock.monotonic() + 25 * hour + setBackMs); // calendar windows last as much longer
    this.#look();
    for (const { name } of this.#scenario.pools) {
      const before = this.#answered;
      for (let tries = 0; tries < 3 && this.#answered === before && !this.#isSpoilt; tries++) {
        if (tries > 0) await this.#until(this.#clock.monotonic() + 61 * minute); // maintenance may have just begun
        const arrival = lastArrival(this.#arrivals.length, name, this.#clock.monotonic());
        this.#arrivals.push(arrival);
        this.#begin(arrival);
        await this.#drain();
      }
      if (this.#answered > before || this.#isSpoilt) continue;
      this.#referee.hold("all is well again", `${name} does not answer although nothing is wrong, expected an answer`);
    }
  }

  /** What a store would be given is what the next process can read. */
  #save(): void {
    const { state, runtime: { clock } } = this.#engines.mesh;
    const written = JSON.parse(JSON.stringify(new SnapshotMapper(state, clock).snapshot()));
    const { leftOut } = readSnapshot(written);
    if (leftOut.length > 0) this.#referee.hold("what is written can be read", `${leftOut.join(", ")} cannot`);
  }

  async #close(): Promise<void> {
    this.#save();
    await this.#engines.close();
    await settle();
    const { pending } = this.#clock;
    if (this.#isSpoilt || pending === 0) return;
    this.#referee.hold("no timer is left after close()", `${pending} timers are set, expected none`);
  }
}

function leave(client: AbortController): void {
  client.abort(new DOMException("The client left", "AbortError"));
}

function toRoutedRequest(arrival: Arrival, signal: AbortSignal): RoutedRequest<ChatCompletionRequest, ChatCompletion> {
  const { id, pool, stream, session, maxTokens, letters, timeoutMs } = arrival;
  return {
    id: `request-${id}`,
    operation: chat,
    delivery: stream ? "stream" : "sync",
    model: pool,
    body: {
      model: pool,
      messages: [{ role: "user", content: "x".repeat(letters) }],
      seed: id,
      stream,
      ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    },
    signal,
    timeoutMs,
    ...(session === undefined ? {} : { session }),
    ...toQueued(arrival),
  };
}

function lastArrival(id: number, pool: string, at: number): Arrival {
  const timeoutMs = 600 * second;
  return { at, id, pool, stream: false, maxTokens: 4, letters: 10, written: 4, timeoutMs, isFaulty: false };
}
