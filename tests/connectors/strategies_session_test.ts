import { assert, assertEquals, assertLess } from "@std/assert";
import { sessionStickiness } from "../../connectors/strategies/session_stickiness.ts";
import type { ModelView, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { count, make, pick, times, view } from "./_strategies.ts";

const minute = 60_000;
const sessions = times(5000, (index) => `session-${index}`);

function models(number: number): ModelView[] {
  return times(number, (index) => view(`vendor.model-${index}`));
}

/** The model of every session. */
function homes(strategy: SelectionStrategy, candidates: readonly ModelView[], now = 0): string[] {
  return sessions.map((session) => strategy.select(candidates, { ...plain, session, now })!.name);
}

const plain = {
  pool: "test",
  modelPriority: [],
  providerPriority: [],
  threshold: 0.8,
  isConstrained: false,
  balanceMode: "absolute",
  costOf: () => undefined,
  tried: new Set<string>(),
  random: () => 0.5,
} as const;

/** The session whose home is the first of these models. */
function sessionAt(home: string, candidates: readonly ModelView[]): string {
  return sessions[homes(make(sessionStickiness), candidates).indexOf(home)]!;
}

Deno.test("session-stickiness keeps a session on its model, in whatever order the candidates stand", () => {
  const [one, other] = [make(sessionStickiness), make(sessionStickiness)];
  const candidates = models(7);
  const first = homes(one, candidates);
  assertEquals(homes(one, candidates), first);
  assertEquals(homes(other, candidates.toReversed()), first, "another process agrees");
  for (const session of sessions.slice(0, 50)) pick(one, candidates, { session });
});

Deno.test("session-stickiness spreads sessions evenly, or by weight", () => {
  for (const many of Object.values(count(homes(make(sessionStickiness), models(5))))) {
    assertLess(Math.abs(many - 1000), 120);
  }
  const weighted = [
    view("a", { weight: 3 }),
    view("b", { weight: 1 }),
    view("c", { weight: 0.5 }),
    view("d", { weight: 0.5 }),
  ];
  const { a, b, c, d } = count(homes(make(sessionStickiness), weighted));
  for (const [many, due] of [[a!, 3000], [b!, 1000], [c!, 500], [d!, 500]] as const) {
    assertLess(Math.abs(many - due), 120);
  }
});

Deno.test("session-stickiness: losing one of n models moves only its own sessions, at most 1/n + 2 %", () => {
  for (const number of [2, 5, 50]) {
    const candidates = models(number);
    for (const gone of [0, number - 1]) {
      const strategy = make(sessionStickiness);
      const before = homes(strategy, candidates);
      const after = homes(strategy, candidates.filter((_, index) => index !== gone));
      const moved = before.filter((name, index) => name !== after[index]);
      assertEquals(new Set(moved).size, 1);
      assertEquals(moved[0], candidates[gone]!.name);
      assertLess(moved.length / sessions.length, 1 / number + 0.02);
      const heirs = after.filter((_, index) => before[index] === moved[0]);
      if (number <= 10) assertEquals(new Set(heirs).size, number - 1, "spread over all others");
    }
  }
});

Deno.test("session-stickiness: a model that joins takes only its share", () => {
  const strategy = make(sessionStickiness);
  const before = homes(strategy, models(4));
  const after = homes(strategy, models(5));
  const moved = after.filter((name, index) => name !== before[index]);
  assertEquals(new Set(moved), new Set(["vendor.model-4"]));
  assertLess(moved.length / sessions.length, 1 / 5 + 0.02);
});

Deno.test("session-stickiness: after a failover a session stays with its new model for 30 minutes", () => {
  const strategy = make(sessionStickiness);
  const candidates = models(4);
  const session = sessionAt("vendor.model-2", candidates);
  const home = "vendor.model-2";
  assertEquals(pick(strategy, candidates, { session }), home);
  const left = candidates.filter(({ name }) => name !== home);
  const host = pick(strategy, left, { session, tried: new Set([home]) });
  assertEquals(pick(strategy, candidates, { session, now: 1 }), host);
  assertEquals(pick(strategy, candidates, { session, now: 30 * minute - 1 }), host);
  assertEquals(pick(strategy, candidates, { session, now: 30 * minute }), home);
  assertEquals(pick(strategy, candidates, { session: "another", now: 1 }), getHome("another", candidates));
});

function getHome(session: string, candidates: readonly ModelView[]): string {
  return pick(make(sessionStickiness), candidates, { session });
}

Deno.test("session-stickiness: a session that comes while its first model is in standby stays where it went, the idle ones return", () => {
  const strategy = make(sessionStickiness);
  const candidates = models(4);
  const [session, idle] = sessions.filter((name) => getHome(name, candidates) === "vendor.model-0");
  pick(strategy, candidates, { session });
  const host = pick(strategy, candidates.slice(1), { session });
  assertEquals(pick(strategy, candidates, { session, now: minute }), host);
  assertEquals(pick(strategy, candidates, { session: idle!, now: minute }), "vendor.model-0");
});

Deno.test("session-stickiness: a session moves on when its new model fails too, and 30 minutes begin again", () => {
  const strategy = make(sessionStickiness);
  const candidates = models(4);
  const session = sessionAt("vendor.model-0", candidates);
  pick(strategy, candidates, { session });
  const second = pick(strategy, candidates.slice(1), { session });
  const others = candidates.slice(1).filter(({ name }) => name !== second);
  const third = pick(strategy, others, { session, now: 20 * minute });
  assertEquals(pick(strategy, candidates, { session, now: 49 * minute }), third);
  assertEquals(pick(strategy, candidates, { session, now: 50 * minute }), "vendor.model-0");
});

Deno.test("session-stickiness: a session whose new model leaves while its first one is active returns for good", () => {
  const strategy = make(sessionStickiness);
  const candidates = models(3);
  const session = sessionAt("vendor.model-0", candidates);
  pick(strategy, candidates, { session });
  const host = pick(strategy, candidates.slice(1), { session });
  assertEquals(pick(strategy, candidates.filter(({ name }) => name !== host), { session, now: 1 }), "vendor.model-0");
  assertEquals(pick(strategy, candidates, { session, now: 2 }), "vendor.model-0");
});

Deno.test("session-stickiness: a request that chooses among the models itself neither moves its session nor ends a stay", () => {
  const strategy = make(sessionStickiness);
  const candidates = models(4);
  const session = sessionAt("vendor.model-0", candidates);
  pick(strategy, candidates, { session });
  pick(strategy, candidates.slice(2, 3), { session, isConstrained: true });
  assertEquals(pick(strategy, candidates, { session }), "vendor.model-0");
  const host = pick(strategy, candidates.slice(1), { session });
  pick(strategy, candidates.filter(({ name }) => name !== host), { session, isConstrained: true });
  assertEquals(pick(strategy, candidates, { session, now: minute }), host);
});

Deno.test("session-stickiness remembers ten thousand moves, nothing else, and forgets the first ones", () => {
  const strategy = make(sessionStickiness);
  const candidates = models(2);
  const names = times(21_000, (index) => `s${index}`);
  const isOwn = (name: string) => getHome(name, candidates) === "vendor.model-0";
  const own = names.filter(isOwn);
  const moved = own.slice(0, 10_100);
  assertEquals(moved.length, 10_100);
  pick(strategy, candidates, { session: own[0]! });
  for (const session of moved) strategy.select(candidates.slice(1), { ...plain, session, now: 0 });
  for (const session of names.filter((name) => !isOwn(name))) {
    strategy.select(candidates.slice(1), { ...plain, session, now: 0 });
  }
  const places = moved.map((session) => strategy.select(candidates, { ...plain, session, now: 1 })!.name);
  assertEquals(places.slice(0, 100), times(100, () => "vendor.model-0"));
  assertEquals(new Set(places.slice(100)), new Set(["vendor.model-1"]));
});

Deno.test("session-stickiness without a session sticks until failure", () => {
  const strategy = make(sessionStickiness);
  const candidates = models(3);
  const modelPriority = ["vendor.model-1"];
  assertEquals(pick(strategy, candidates, { modelPriority }), "vendor.model-1");
  assertEquals(pick(strategy, candidates), "vendor.model-1");
  assertEquals(pick(strategy, candidates, { session: "" }), "vendor.model-1", "an empty name is none");
  assertEquals(pick(strategy, [candidates[0]!, candidates[2]!]), "vendor.model-0");
  assertEquals(pick(strategy, candidates), "vendor.model-0");
});

Deno.test("session-stickiness never assigns a session to a model of no weight while another is there", () => {
  const candidates = [view("none", { weight: 0 }), view("some")];
  assertEquals(new Set(homes(make(sessionStickiness), candidates)), new Set(["some"]));
  assert(pick(make(sessionStickiness), candidates.slice(0, 1), { session: "x" }) === "none");
});
