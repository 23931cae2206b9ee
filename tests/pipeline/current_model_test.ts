/** The model that a pool is with, what moves it, and which moves are `rotation` events. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { FallbackStep, MeshEvent } from "../../src/contracts/events.ts";
import type { SelectionOutcome, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { isIsolated, reportChoice, reportFailure, reportServed } from "../../src/pipeline/apply_strategy.ts";
import type { RequestPlan } from "../../src/pipeline/eligibility.ts";
import type { RequestContext } from "../../src/pipeline/request_context.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { createModel, createPool, listNames } from "../support/_members.ts";

/** A strategy that stays with a model, or with none. */
class Staying implements SelectionStrategy {
  readonly observed: SelectionOutcome[] = [];
  current: string | undefined;
  constructor(current: string | undefined) {
    this.current = current;
  }
  select: SelectionStrategy["select"] = ([first]) => first;
  score = () => 0;
  observe = (outcome: SelectionOutcome) => void this.observed.push(outcome);
}

/** The pool `chat` of `a`, `b` and `c`, and requests to it. */
function scene(strategy: Staying = new Staying("a")) {
  const pool = {
    ...createPool(["a", "b", "c"].map((name) => createModel(name)), { strategy }),
    routing: { modelPriority: [], providerPriority: [], deactivation: { errorCodes: new Set([418]) } },
  } as unknown as ReturnType<typeof createPool>;
  const events: string[] = [];
  const hub = { event: (event: Partial<MeshEvent>) => events.push(`${event.from}>${event.to} ${event.reason}`) };
  const request = ({ isConstrained = false, chain = [] as Partial<FallbackStep>[], eligible = pool.members } = {}) => {
    const plan = { pool, isConstrained, eligible, request: { id: "r-1" }, load: { input: 1, output: 1 } };
    const { count: rotationsSeen } = pool.rotations;
    return { plan, chain, deps: { hub }, clock: fakeClock(), rotationsSeen } as unknown as RequestContext;
  };
  const member = (name: string) => pool.members.find(({ model }) => model.name === name)!;
  const choice = (name: string) => ({ member: member(name), candidates: pool.members });
  return { pool, events, strategy, request, member, choice, current: () => pool.current?.model.name };
}

describe("The current model of a pool", () => {
  it("is the one that its strategy stays with, whichever is chosen; the first choice is not a rotation", () => {
    const { choice, request, current, events } = scene(new Staying("b"));
    reportChoice(choice("a"), request());
    assertEquals([current(), events], ["b", []]);
  });

  it("is the one chosen last, where the strategy stays with none; sharing out is not a rotation", () => {
    const { choice, request, current, events } = scene(new Staying(undefined));
    for (const name of ["a", "b", "a"]) reportChoice(choice(name), request());
    assertEquals([current(), events], ["a", []]);
  });

  it("rotates away from a model in standby, for the reason of its standby", () => {
    const { strategy, member, choice, request, events } = scene();
    reportChoice(choice("a"), request());
    member("a").state.breakers.openModel("rate_limited", 0, 60_000);
    member("a").state.refresh(0);
    strategy.current = "b";
    reportChoice(choice("b"), request());
    reportChoice(choice("b"), request());
    assertEquals(events, ["a>b rate_limited"]);
  });

  it("rotates with a failed attempt, for the outcome of the attempt", () => {
    const { choice, request, current, events } = scene();
    reportChoice(choice("b"), request({ chain: [{ model: "a", outcome: "server", status: 500 }] }));
    assertEquals([current(), events], ["b", ["a>b server"]]);
  });

  it("rotates once for requests that fail at once", () => {
    const { choice, request, events } = scene();
    const chain: Partial<FallbackStep>[] = [{ model: "a", outcome: "server" }];
    const [one, other] = [request({ chain }), request({ chain })];
    reportChoice(choice("b"), one);
    reportChoice(choice("b"), other);
    assertEquals(events, ["a>b server"]);
    reportChoice(choice("b"), request({ chain })); // begun after the rotation: a failure of its own
    assertEquals(events.length, 2);
  });

  it("stays where it is for a request with constraints, or one that it cannot take; its own rotation is an event", () => {
    for (const why of [{ isConstrained: true }, { eligible: [] as never[] }]) {
      const { choice, request, current, events } = scene();
      reportChoice(choice("a"), request());
      reportChoice(choice("b"), request(why));
      assertEquals([current(), events], ["a", []]);
      reportChoice(choice("c"), request({ ...why, chain: [{ model: "b", outcome: "server" }] }));
      assertEquals([current(), events], ["a", ["b>c server"]]);
    }
  });

  it("is the one that answered", () => {
    const { strategy, member, request, current } = scene(new Staying(undefined));
    reportServed(member("c"), request());
    assertEquals(current(), "c");
    assertEquals(strategy.observed, []);
  });
});

describe("The strategy of a pool", () => {
  it("knows which models failed a request, and which one served it", () => {
    const { strategy, member, request } = scene();
    const chain: Partial<FallbackStep>[] = [{ model: "a", outcome: "server" }, { model: "b", outcome: "timeout" }];
    reportServed(member("c"), request({ chain: [...chain, { model: "c", outcome: "ok" }] }));
    assertEquals(strategy.observed, [{ failed: new Set(["a", "b"]), served: member("c").state }]);
  });

  it("does not count a fault of the request, but by a code that counts as the model's", () => {
    const { strategy, member, request } = scene();
    const faultWith = (status: number) => request({ chain: [{ model: "a", outcome: "request", status }] });
    reportServed(member("b"), faultWith(400));
    assertEquals(strategy.observed, []);
    reportServed(member("b"), faultWith(418));
    assertEquals(strategy.observed.map(({ failed }) => [...failed]), [["a"]]);
  });

  it("counts a failure at once, unless the request has constraints", () => {
    const { strategy, member, request } = scene();
    reportFailure(member("a"), request());
    reportFailure(member("b"), request({ isConstrained: true }));
    assertEquals(strategy.observed, [{ failed: new Set(["a"]) }]);
  });
});

describe("isIsolated()", () => {
  it("holds for constraints, and where the pool's model is not among the eligible", () => {
    const { pool, request } = scene();
    const of = (facts: Parameters<typeof request>[0]) => isIsolated(request(facts).plan as RequestPlan);
    const [a, b] = pool.members;
    assertEquals(listNames([a!, b!]), ["a", "b"]);
    assertEquals([of({}), of({ isConstrained: true }), of({ eligible: [a!] }), of({ eligible: [b!] })], [
      false,
      true,
      false,
      true,
    ]);
  });
});
