/**
 * The specification's table of states and transitions, from active to standby: for each line what is not yet enough,
 * what is, what `poolStatus()` says then, which event is emitted, and that it recovers when its time is over.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Cast, Stage } from "../support/_failover.ts";
import {
  assertInStandby,
  changes,
  deactivationEvent,
  dollar,
  free,
  healthEvent,
  listed,
  modelA,
  probeAfter,
  probed,
  providerA,
  readModelStatus,
  recoveryEvent,
  type Scenery,
  scenery,
} from "../support/_transitions.ts";
import { ok, reset, status } from "../support/upstream.ts";

const b = ok({ text: "from b" });
const bad = status(500);
const fromA = ok({ text: "from a" });
const usage = { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 };
const hundred = ok({ text: "from a", usage });
/** From six in the evening of the first of January. */
const toMidnight = 6 * 3600;
const toFebruary = 30 * 86_400 + toMidnight;

/** One line of the table. */
interface Line extends Scenery {
  readonly trigger: string;
  readonly condition: string;
  readonly cast: Cast;
  /** All that is not yet enough; left out where there is no before. */
  readonly almost?: (scene: Stage) => Promise<unknown>;
  /** What is. */
  readonly enough: (scene: Stage) => Promise<unknown>;
  /** What is in standby by it. */
  readonly whose: "model" | "provider";
  readonly reason: string;
  /** For how long; undefined: until an operator ends it. */
  readonly seconds: number | undefined;
  readonly metadata?: object;
  /** What is emitted before it is. */
  readonly reported?: readonly unknown[];
}

const ask = (times: number) => (scene: Stage) => scene.askTimes(times);
const nothing = () => Promise.resolve();

/** Requests with no failure in a row that would count by itself. */
const half = [fromA, bad, fromA, bad, fromA, bad];

const byFailures: readonly Line[] = [
  {
    trigger: "requests",
    condition: "retry_limit failures in a row",
    cast: { a: bad, b },
    pool: { deactivation: { retry_limit: 2 } },
    almost: ask(1),
    enough: ask(1),
    whose: "model",
    reason: "retry_limit",
    seconds: 60,
  },
  {
    trigger: "requests",
    condition: "error_rate_threshold reached, once the window has error_rate_min_requests",
    cast: { a: half, b },
    pool: { deactivation: { error_rate_threshold: 0.5, error_rate_min_requests: 6 }, recovery: { cooldown: "90s" } },
    almost: ask(5),
    enough: ask(1),
    whose: "model",
    reason: "error_rate",
    seconds: 90,
    metadata: { error_rate: 0.5, requests: 6 },
  },
  {
    trigger: "requests",
    condition: "error_rate_threshold reached by what is left in the window after it slid",
    cast: { a: [fromA, fromA, fromA, fromA, bad, fromA, bad, fromA], b },
    pool: { deactivation: { error_rate_threshold: 0.5, error_rate_min_requests: 4, error_rate_window: "30s" } },
    almost: async (scene) => {
      await scene.askTimes(4);
      await scene.clock.advance(31_000); // the four successes are forgotten
      await scene.askTimes(3);
    },
    enough: ask(1),
    whose: "model",
    reason: "error_rate",
    seconds: 60,
    metadata: { error_rate: 0.5, requests: 4 },
  },
  {
    trigger: "requests",
    condition: "a code of error_codes counts toward retry_limit",
    cast: { a: status(422), b },
    pool: { deactivation: { error_codes: [422] } },
    almost: ask(2),
    enough: ask(1),
    whose: "model",
    reason: "error_code",
    seconds: 60,
  },
];

const limits: readonly { readonly key: string; readonly value: number; readonly requests: number }[] = [
  { key: "request_limit", value: 3, requests: 3 },
  { key: "token_limit", value: 200, requests: 2 },
  { key: "budget_limit", value: 4, requests: 4 },
];

const windows = [["daily", toMidnight], ["monthly", toFebruary]] as const;

const byUsage: readonly Line[] = limits.flatMap(({ key, value, requests }): Line[] => {
  const line = { cast: { a: hundred, b }, model: dollar, almost: ask(requests - 1), enough: ask(1) };
  const trigger = "requests";
  return [
    {
      ...line,
      trigger,
      condition: `${key} reached: rests for the cooldown`,
      pool: { deactivation: { [key]: value }, recovery: { cooldown: "45s" } },
      whose: "model",
      reason: key,
      seconds: 45,
    },
    ...windows.map(([quota_window, seconds]): Line => ({
      ...line,
      trigger,
      condition: `${key} reached within the ${quota_window} quota_window: rests until it ends`,
      pool: { deactivation: { [key]: value, quota_window } },
      whose: "model",
      reason: "quota_window",
      seconds,
      metadata: { limit: key },
    })),
  ];
});

const byBudget: readonly Line[] = windows.flatMap(([window, seconds]): Line[] => {
  const budget = { [`${window}_limit`]: 2 };
  const line = { trigger: "budget", cast: { a: fromA, b }, model: dollar, almost: ask(1), enough: ask(1), seconds };
  return [
    {
      ...line,
      condition: `the provider's ${window} budget is spent`,
      provider: { budget },
      whose: "provider",
      reason: "provider_budget",
    },
    {
      ...line,
      condition: `the pool's ${window} budget is spent, and somebody is free`,
      of: { b: free },
      pool: { budget },
      whose: "model",
      reason: "budget_limit",
    },
  ];
});

const unanswered = { a: reset(), b };
const twoModels = { a: "a", a2: "a", b: "b" };

const byProvider: readonly Line[] = [
  {
    trigger: "provider",
    condition: "provider_deactivation on_auth_failure: a refused key",
    cast: { a: status(401), b },
    models: twoModels,
    pool: { provider_deactivation: "on_auth_failure" },
    almost: nothing,
    enough: ask(1),
    whose: "provider",
    reason: "provider_auth_failure",
    seconds: 60,
  },
  {
    trigger: "provider",
    condition: "provider_deactivation on_api_outage: 5 calls unanswered over two models",
    cast: unanswered,
    models: twoModels,
    pool: { provider_deactivation: "on_api_outage", deactivation: { retry_limit: 10 } },
    almost: ask(2),
    enough: ask(1),
    whose: "provider",
    reason: "provider_outage",
    seconds: 60,
  },
  {
    trigger: "provider",
    condition: "provider_deactivation on_api_outage: 5 calls unanswered of its only model",
    cast: unanswered,
    pool: { provider_deactivation: ["on_auth_failure", "on_api_outage"], deactivation: { retry_limit: 10 } },
    almost: ask(4),
    enough: ask(1),
    whose: "provider",
    reason: "provider_outage",
    seconds: 60,
  },
  {
    trigger: "health monitor",
    condition: "failure_threshold probes failed in a row",
    cast: { a: probed(bad, fromA), b: probed(listed, b) },
    models: twoModels,
    config: { discovery: { health: { interval: "30s", failure_threshold: 2 } } },
    almost: (scene) => probeAfter(scene, 30_000),
    enough: (scene) => probeAfter(scene, 30_000),
    whose: "provider",
    reason: "health_probe",
    seconds: undefined,
    reported: [healthEvent("healthy", "unhealthy", "server")],
  },
];

/** The models that rest, and in which pools, when a line has come true. */
function expectedStandby({ whose, models = { a: "a" } }: Line): (readonly [model: string, pool: string])[] {
  if (whose === "model") return [["a", "chat"]];
  const names = Object.keys(models).filter((name) => models[name] === "a");
  return names.flatMap((name) => [[name, "chat"], [name, "other"]] as const);
}

/** Every model in every pool that is not active. */
function readStandby({ proxy }: Stage): string[] {
  return Object.entries(proxy.mesh.poolStatus()).flatMap(([pool, { models }]) =>
    models.filter(({ status }) => status !== "active").map(({ name }) => `${name} ${pool}`)
  );
}

async function prove(line: Line): Promise<void> {
  const { whose, reason, seconds, metadata, reported = [] } = line;
  const owner = whose === "model" ? modelA : providerA;
  await using scene = await scenery(line.cast, line);
  if (line.almost !== undefined) {
    await line.almost(scene);
    assertEquals([readStandby(scene), changes(scene.proxy.records)], [[], []]);
  }
  await line.enough(scene);
  const inStandby = expectedStandby(line);
  assertEquals(readStandby(scene).toSorted(), inStandby.map((where) => where.join(" ")).toSorted());
  for (const where of inStandby) assertInStandby(scene, reason, seconds, where);
  const aside = [...reported, deactivationEvent(owner, reason, seconds, metadata)];
  assertEquals(changes(scene.proxy.records), aside);
  const { a: calls } = scene.calls;
  assertEquals([(await scene.ask()).text, scene.calls.a], ["from b", calls]);
  if (seconds === undefined) return;
  await scene.clock.advance(seconds * 1000 - 1);
  assertEquals([readModelStatus(scene).status, changes(scene.proxy.records)], ["standby", aside]);
  await scene.clock.advance(1);
  assertEquals([readStandby(scene), changes(scene.proxy.records)], [[], [...aside, recoveryEvent(owner, reason)]]);
  await scene.ask();
  assertEquals(scene.calls.a! > calls!, true); // it is asked again
}

for (const line of [...byFailures, ...byUsage, ...byBudget, ...byProvider]) {
  describe(`active, ${line.trigger}`, () => {
    it(`${line.condition}: standby (${line.reason})`, () => prove(line));
  });
}
