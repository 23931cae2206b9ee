/** What a rotation connector brings beside `select` and `score` replaces the built-in policy for its pools. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ModelView, SelectionStrategy } from "../../mod.ts";
import { type Cast, type Stage, stage } from "../support/_failover.ts";
import { type Behaviour, ok, status } from "../support/upstream.ts";

const [a, b] = ["a", "b"].map((name) => ok({ text: name })) as [Behaviour, Behaviour];
const always = (): boolean => true;

/** A pool whose strategy takes the first candidate, and brings these policies. */
function over(cast: Cast, policies: Partial<SelectionStrategy>, pool: object = {}): Promise<Stage> {
  const strategy: SelectionStrategy = { select: ([first]) => first, score: () => 0, ...policies };
  return stage(cast, { pool: { strategy, model_priority: undefined, retry: { max_attempts: 0 }, ...pool } });
}

const texts = async (scene: Stage, count: number) => (await scene.askTimes(count)).map(({ text }) => text).join("");
const isA = ({ name }: ModelView) => name === "a";

describe("A rotation connector's shouldDeactivate", () => {
  it("decides in place of retry_limit and error_rate_threshold", async () => {
    const deactivation = { retry_limit: 1, error_rate_threshold: 0.1, error_rate_min_requests: 1 };
    const shouldDeactivate = (model: ModelView) => model.consecutiveFailures >= 4;
    await using scene = await over({ a: status(500), b }, { shouldDeactivate }, { deactivation });
    await scene.askTimes(3);
    assertEquals(scene.states(), { a: "active", b: "active" });
    await scene.ask();
    assertEquals(scene.states(), { a: "retry_limit for 60s", b: "active" });
  });

  it("is asked after every request, those that were served too", async () => {
    const seen: string[] = [];
    const shouldDeactivate = (model: ModelView) => (seen.push(`${model.name} ${model.inFlight}`), seen.length === 2);
    await using scene = await over({ a, b }, { shouldDeactivate });
    assertEquals([await texts(scene, 3), seen], ["aab", ["a 0", "a 0", "b 0"]]);
  });

  it("leaves alone what is not a policy of the pool: limits, what vendors say, other pools", async () => {
    const never = { shouldDeactivate: () => false };
    await using limited = await over({ a, b }, never, { deactivation: { request_limit: 1 } });
    assertEquals([await texts(limited, 2), limited.states().a], ["ab", "request_limit for 60s"]);
    const busy = status(429, { headers: { "retry-after": "30" } });
    await using reported = await over({ a: busy, b }, never);
    assertEquals([await texts(reported, 1), reported.states().a], ["b", "rate_limited for 30s"]);
  });

  it("that throws leaves it to the built-in one", async () => {
    const shouldDeactivate = () => {
      throw new Error("lost");
    };
    await using scene = await over({ a: status(500), b }, { shouldDeactivate }, { deactivation: { retry_limit: 2 } });
    assertEquals([await texts(scene, 1), scene.states().a], ["b", "active"]);
    assertEquals([await texts(scene, 1), scene.states().a], ["b", "retry_limit for 60s"]);
  });
});

describe("A rotation connector's getReason", () => {
  it("is what status and events say, whichever policy decides", async () => {
    const getReason = () => "health_probe" as const;
    for (const policy of [{ getReason }, { getReason, shouldDeactivate: isA }]) {
      await using scene = await over({ a: status(500), b }, policy, { deactivation: { retry_limit: 1 } });
      assertEquals([await texts(scene, 1), scene.states().a], ["b", "health_probe for 60s"]);
      assertEquals(scene.events[0], "deactivation a health_probe");
    }
  });

  it("that says nothing usable leaves it to the built-in one", async () => {
    for (const reason of [undefined, 42, "Bad Reason!", {}]) {
      await using scene = await over({ a: status(500), b }, {
        getReason: () => reason as never,
        shouldDeactivate: isA,
      });
      assertEquals([await texts(scene, 1), scene.states().a], ["b", "retry_limit for 60s"]);
    }
  });
});

describe("A rotation connector's getRecoverySchedule", () => {
  it("says how long a model is in standby, in place of the cooldown", async () => {
    let seen: string | undefined;
    const getRecoverySchedule = (model: ModelView) => {
      seen ??= `${model.name} ${model.status} ${model.reason} ${model.consecutiveFailures}`;
      return scene.clock.monotonic() + 5_000;
    };
    await using scene: Stage = await over({ a: [status(500), a], b }, { getRecoverySchedule, shouldDeactivate: isA });
    assertEquals([await texts(scene, 1), scene.states().a], ["b", "retry_limit for 5s"]);
    assertEquals(seen, "a standby retry_limit 1");
    await scene.clock.advance(4_999);
    assertEquals(scene.states().a, "retry_limit for 0.001s");
    await scene.clock.advance(1);
    assertEquals(scene.events.at(-1), "recovery a retry_limit");
    assertEquals(scene.states().a, "active");
  });

  it("that names no time keeps it there until an operator ends it", async () => {
    const policy = { getRecoverySchedule: () => undefined, shouldDeactivate: isA };
    await using scene = await over({ a: [status(500), a], b }, policy);
    await scene.ask();
    await scene.clock.advance(86_400_000);
    assertEquals(await texts(scene, 1), "b");
    await scene.proxy.mesh.activate("a");
    assertEquals(await texts(scene, 1), "a");
  });

  it("that throws or names no number leaves it to the cooldown", async () => {
    const broken = [() => NaN, () => "soon" as never, () => {
      throw new Error("lost");
    }];
    for (const getRecoverySchedule of broken) {
      await using scene = await over({ a: status(500), b }, { getRecoverySchedule, shouldDeactivate: isA });
      assertEquals([await texts(scene, 1), scene.states().a], ["b", "retry_limit for 60s"]);
    }
  });
});

describe("A rotation connector's shouldRecover", () => {
  it("brings a model back before its time", async () => {
    let isBack = false;
    const seen: number[] = [];
    const shouldRecover = (model: ModelView, now: number) => (seen.push(model.retryAt! - now), isBack);
    await using scene = await over({ a: [status(500), a], b }, {
      shouldRecover,
      shouldDeactivate: ({ name, lastStatus }) => name === "a" && lastStatus === 500 && !isBack,
    });
    assertEquals(await texts(scene, 2), "bb");
    await scene.clock.advance(10_000);
    isBack = true;
    assertEquals([await texts(scene, 1), scene.events.at(-2)], ["a", "recovery a retry_limit"]);
    assertEquals([seen[0], seen.at(-1)], [60_000, 50_000]);
  });

  it("keeps a model away when its time is over, and is asked again after the next one", async () => {
    let isBack = false;
    const policy = { shouldRecover: () => isBack, shouldDeactivate: ({ lastStatus }: ModelView) => lastStatus === 500 };
    await using scene = await over({ a: [status(500), a], b }, policy);
    await scene.ask();
    await scene.clock.advance(60_000);
    assertEquals([await texts(scene, 1), scene.states().a], ["b", "retry_limit for 60s"]);
    isBack = true;
    await scene.clock.advance(60_000);
    assertEquals([scene.events.at(-1), scene.clock.pending], ["recovery a retry_limit", 0]);
  });

  it("cannot reset a limit that is still in force, nor an operator's standby", async () => {
    const deactivation = { request_limit: 1, quota_window: "daily" };
    await using scene = await over({ a, b }, { shouldRecover: always }, { deactivation });
    assertEquals([await texts(scene, 2), scene.states().a], ["ab", "quota_window for 21600s"]);
    await using byHand = await over({ a, b }, { shouldRecover: always });
    await byHand.proxy.mesh.deactivate("a");
    assertEquals(await texts(byHand, 2), "bb");
  });

  it("that throws leaves it to the cooldown", async () => {
    const shouldRecover = () => {
      throw new Error("lost");
    };
    await using scene = await over({ a: [status(500), a], b }, { shouldRecover }, { deactivation: { retry_limit: 1 } });
    assertEquals(await texts(scene, 2), "bb");
    await scene.clock.advance(60_000);
    assertEquals(await texts(scene, 1), "a");
  });
});

it("A pool's fallback strategy takes nothing from the policies of its strategy", async () => {
  const policies = { getReason: () => "health_probe" as const, shouldDeactivate: isA };
  const pool = { fallback_strategy: "priority", model_priority: ["a"] };
  await using scene = await over({ a: status(500), b }, policies, pool);
  assertEquals([await texts(scene, 1), scene.states().a], ["b", "health_probe for 60s"]);
});
