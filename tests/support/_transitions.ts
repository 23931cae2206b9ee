/**
 * Transitions of models and providers, seen from outside: what `poolStatus()` returns and which events are emitted.
 * @module
 */
import { assertEquals } from "@std/assert";
import type { MeshEvent } from "../../mod.ts";
import type { Cancel } from "../../src/contracts/runtime.ts";
import { FakeClock } from "../../src/runtime/test.ts";
import { type Cast, type Stage, stage, type StageOptions } from "./_failover.ts";
import { until } from "./patience.ts";
import { type Behaviour, json, type Script } from "./upstream.ts";

/** One dollar a request, whatever it says; all the same for every model. */
export const dollar = { pricing: { input: 0, output: 0, per_request: 1 } };

/** Nothing a request. */
export const free = { pricing: { input: 0, output: 0 } };

/** What a provider lists when it is well. */
export const listed: Behaviour = json({ object: "list", data: [] });

/** What a {@linkcode scenery} is made of. */
export interface Scenery {
  /** Model name to provider, in order of priority; one model of each provider's name unless said. */
  readonly models?: Readonly<Record<string, string>>;
  /** Settings of the pool `chat`. */
  readonly pool?: Readonly<Record<string, unknown>>;
  /** Settings of the provider `a`. */
  readonly provider?: Readonly<Record<string, unknown>>;
  /** Settings of every model. */
  readonly model?: Readonly<Record<string, unknown>>;
  /** Settings of single models, over those. */
  readonly of?: Readonly<Record<string, object>>;
  /** Further sections. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Wall clock at the start, ms since 1970; six in the evening of 2026-01-01 unless said. */
  readonly now?: number;
}

/**
 * Providers under two pools, `chat` with settings and `other` without: what holds for a model shows in one of them,
 * what holds for a provider in both.
 *
 * @param cast The providers.
 * @param scenery Settings.
 */
export function scenery(cast: Cast, scenery: Scenery = {}): Promise<Stage> {
  return stage(cast, (urls) => configured(urls, scenery));
}

/** The same, as options of a proxy. */
export function configured(urls: Readonly<Record<string, string>>, scenery: Scenery): StageOptions {
  const { pool = {}, provider = {}, model = {}, of = {}, config = {}, now = Date.UTC(2026, 0, 1, 18) } = scenery;
  const models = scenery.models ?? Object.fromEntries(Object.keys(urls).map((id) => [id, id]));
  const names = Object.keys(models);
  const plain = { models: names, strategy: "priority", model_priority: names, retry: { max_attempts: 0 } };
  const entryOf = (id: string) => ({
    connector: "openai.compatible.v1",
    base_url: urls[id],
    api_key: `key-of-${id}-0123456789`,
    discovery: { enumerate_models: false }, // one without a model is not asked for its list
    ...(id === "a" ? provider : {}),
  });
  return {
    clock: new ProbeClock({ now, skipSleeps: true }),
    config: {
      providers: Object.fromEntries(Object.keys(urls).map((id) => [id, entryOf(id)])),
      models: Object.fromEntries(
        names.map((name) => [
          name,
          { provider: models[name], capabilities: ["chat-completion"], ...model, ...of[name] },
        ]),
      ),
      pools: { chat: { ...plain, ...pool }, other: plain },
      ...config,
    },
  };
}

/**
 * A provider with one behaviour for probes and another one for requests.
 *
 * @param probe How it lists its models.
 * @param chat How it answers.
 */
export function probed(probe: Behaviour, chat: Behaviour): Script {
  return ({ method }) => method === "GET" ? probe : chat;
}

/** A model's line in a pool, but for its name. */
export interface SeenState {
  readonly status: string;
  readonly reason?: string;
  readonly since?: string;
  readonly retryAt?: string;
}

/** A model's line in the status of a pool. */
export function stateOf(scene: Pick<Stage, "proxy">, model = "a", pool = "chat"): SeenState {
  const { models } = scene.proxy.mesh.poolStatus()[pool]!;
  const { name: _name, provider: _provider, ...state } = models.find(({ name }) => name === model)!;
  return state;
}

/** Events of state and of health, oldest first, without what every record has. */
export function changes(records: Stage["proxy"]["records"]): unknown[] {
  const others = ["rotation", "outage", "budget"];
  return records.filter((record): record is MeshEvent => record.type === "event" && !others.includes(record.event))
    .map(({ type: _type, id: _id, timestamp: _timestamp, ...change }) => change);
}

/** Whose state changed, as events say it. */
export type Whose = { readonly pool: string; readonly model: string; readonly provider: string } | {
  readonly provider: string;
};

/** A model's own state in the pool `chat`. */
export const modelA: Whose = { pool: "chat", model: "a", provider: "a" };

/** The whole provider's. */
export const providerA: Whose = { provider: "a" };

/** The event of a deactivated model or provider: for so many seconds, or until it is reset. */
export function asideEvent(whose: Whose, reason: string, seconds?: number, metadata: object = {}): unknown {
  const rest = seconds === undefined ? {} : { standby_ms: seconds * 1000 };
  return { event: "deactivation", ...whose, from: "active", to: "standby", reason, metadata: { ...rest, ...metadata } };
}

/** The event of one that recovers. */
export function backEvent(whose: Whose, reason: string): unknown {
  return { event: "recovery", ...whose, from: "standby", to: "active", reason, metadata: {} };
}

/** The event of a provider whose health has changed. */
export function healthEvent(from: string, to: string, reason: string): unknown {
  return { event: "health", provider: "a", from, to, reason, metadata: {} };
}

/**
 * Asserts that a model is in standby since now, and until when.
 *
 * @param scene Where.
 * @param reason Why.
 * @param seconds For how long; undefined: until it is reset.
 * @param where Its name and pool; `a` of `chat` unless said.
 */
export function assertInStandby(
  scene: Stage,
  reason: string,
  seconds: number | undefined,
  where: readonly [model?: string, pool?: string] = [],
): void {
  const now = scene.clock.now();
  const retryAt = seconds === undefined ? {} : { retryAt: isoOf(now + seconds * 1000) };
  assertEquals<unknown>(stateOf(scene, ...where), { status: "standby", reason, since: isoOf(now), ...retryAt });
}

/** ISO 8601. */
export function isoOf(wall: number): string {
  return new Date(wall).toISOString();
}

/** A clock that knows whether what it calls again and again is under way: probes go over real sockets. */
class ProbeClock extends FakeClock {
  /** Repeated tasks that have begun and are not over. */
  underWay = 0;

  /** Calls `task` each time the clock has been advanced by `ms`. */
  override every(ms: number, task: () => Promise<void>): Cancel {
    return super.every(ms, async () => {
      this.underWay++;
      await task().finally(() => this.underWay--);
    });
  }
}

/**
 * Lets time pass up to the next probe of the provider `a`, and all probes come to their end.
 *
 * @param scene Where.
 * @param ms When it is due: no sooner, or time passes while it is under way.
 */
export async function probeAfter({ clock, upstreams }: Stage, ms: number): Promise<void> {
  const probes = () => upstreams.a!.requests.filter(({ method }) => method === "GET").length;
  const before = probes();
  await clock.advance(ms);
  await until(() => (clock as ProbeClock).underWay === 0);
  assertEquals(probes(), before + 1);
}
