/**
 * Transitions of models and providers: what `poolStatus()` returns, and which events are emitted.
 * @module
 */
import { assertEquals } from "@std/assert";
import type { MeshEvent } from "../../mod.ts";
import type { Cancel } from "../../src/contracts/runtime.ts";
import { FakeClock } from "../../src/runtime/test.ts";
import { type Cast, type Stage, stage, type StageOptions } from "./_failover.ts";
import { until } from "./patience.ts";
import { type Behaviour, json, type Script } from "./upstream.ts";

/** Price: one dollar per request. */
export const dollar = { pricing: { input: 0, output: 0, per_request: 1 } };

/** Price: free of charge. */
export const free = { pricing: { input: 0, output: 0 } };

/** A healthy provider's list of models. */
export const listed: Behaviour = json({ object: "list", data: [] });

/** Options of a {@linkcode scenery}. */
export interface Scenery {
  /** Providers by model name, in order of priority; by default, one model per provider with its name. */
  readonly models?: Readonly<Record<string, string>>;
  /** Settings of the pool `chat`. */
  readonly pool?: Readonly<Record<string, unknown>>;
  /** Settings of the provider `a`. */
  readonly provider?: Readonly<Record<string, unknown>>;
  /** Settings of every model. */
  readonly model?: Readonly<Record<string, unknown>>;
  /** Settings of single models, which override those. */
  readonly of?: Readonly<Record<string, object>>;
  /** Additional sections. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Initial wall clock, ms since 1970; 2026-01-01T18:00Z by default. */
  readonly now?: number;
}

/**
 * Starts providers with two pools, `chat` with settings and `other` without. The state of a model shows in one of them,
 * that of a provider in both.
 *
 * @param scenery Settings.
 */
export function scenery(cast: Cast, scenery: Scenery = {}): Promise<Stage> {
  return stage(cast, (urls) => configured(urls, scenery));
}

/** Returns the same as options of a proxy. */
export function configured(urls: Readonly<Record<string, string>>, scenery: Scenery): StageOptions {
  const { pool = {}, provider = {}, model = {}, of = {}, config = {}, now = Date.UTC(2026, 0, 1, 18) } = scenery;
  const models = scenery.models ?? Object.fromEntries(Object.keys(urls).map((id) => [id, id]));
  const names = Object.keys(models);
  const plain = { models: names, strategy: "priority", model_priority: names, retry: { max_attempts: 0 } };
  const entryOf = (id: string) => ({
    connector: "openai.compatible.v1",
    base_url: urls[id],
    api_key: `key-of-${id}-0123456789`,
    discovery: { enumerate_models: false }, // no provider is asked for its models
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
 * Script of a provider with different behaviours for probes and for requests.
 *
 * @param probe Behaviour of its list of models.
 * @param chat Behaviour of chat requests.
 */
export function probed(probe: Behaviour, chat: Behaviour): Script {
  return ({ method }) => method === "GET" ? probe : chat;
}

/** Status of a model in a pool, without its name. */
export interface SeenState {
  readonly status: string;
  readonly reason?: string;
  readonly since?: string;
  readonly retryAt?: string;
}

/** Returns the status of a model in a pool. */
export function readModelStatus(scene: Pick<Stage, "proxy">, model = "a", pool = "chat"): SeenState {
  const { models } = scene.proxy.mesh.poolStatus()[pool]!;
  const { name: _name, provider: _provider, ...state } = models.find(({ name }) => name === model)!;
  return state;
}

/** Returns events of state and health, oldest first, without common members. */
export function changes(records: Stage["proxy"]["records"]): unknown[] {
  const others = ["rotation", "outage", "budget"];
  return records.filter((record): record is MeshEvent => record.type === "event" && !others.includes(record.event))
    .map(({ type: _type, id: _id, timestamp: _timestamp, ...change }) => change);
}

/** The owner of a state, as in events. */
export type EventOwner = { readonly pool: string; readonly model: string; readonly provider: string } | {
  readonly provider: string;
};

/** The model `a` in the pool `chat`. */
export const modelA: EventOwner = { pool: "chat", model: "a", provider: "a" };

/** The provider `a`. */
export const providerA: EventOwner = { provider: "a" };

/** Event of a deactivation, for a number of seconds or indefinitely. */
export function deactivationEvent(whose: EventOwner, reason: string, seconds?: number, metadata: object = {}): unknown {
  const rest = seconds === undefined ? {} : { standby_ms: seconds * 1000 };
  return { event: "deactivation", ...whose, from: "active", to: "standby", reason, metadata: { ...rest, ...metadata } };
}

/** Event of a recovery. */
export function recoveryEvent(whose: EventOwner, reason: string): unknown {
  return { event: "recovery", ...whose, from: "standby", to: "active", reason, metadata: {} };
}

/** Event of a change of a provider's health. */
export function healthEvent(from: string, to: string, reason: string): unknown {
  return { event: "health", provider: "a", from, to, reason, metadata: {} };
}

/**
 * Asserts that a model is in standby from now on, and until when.
 *
 * @param reason Reason.
 * @param seconds Duration; undefined if indefinite.
 * @param where Name and pool of the model; `a` in `chat` by default.
 */
export function assertInStandby(
  scene: Stage,
  reason: string,
  seconds: number | undefined,
  where: readonly [model?: string, pool?: string] = [],
): void {
  const now = scene.clock.now();
  const retryAt = seconds === undefined ? {} : { retryAt: formatIso(now + seconds * 1000) };
  assertEquals<unknown>(readModelStatus(scene, ...where), {
    status: "standby",
    reason,
    since: formatIso(now),
    ...retryAt,
  });
}

/** ISO 8601. */
export function formatIso(wall: number): string {
  return new Date(wall).toISOString();
}

/** A clock that counts running periodic tasks, since probes use real sockets. */
class ProbeClock extends FakeClock {
  /** Number of running periodic tasks. */
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
 * Advances to the next probe of the provider `a`, and waits for the end of all probes.
 *
 * @param ms Time until the probe; not shorter, else time passes while it is in flight.
 */
export async function probeAfter({ clock, upstreams }: Stage, ms: number): Promise<void> {
  const probes = () => upstreams.a!.requests.filter(({ method }) => method === "GET").length;
  const before = probes();
  await clock.advance(ms);
  await until(() => (clock as ProbeClock).underWay === 0);
  assertEquals(probes(), before + 1);
}
