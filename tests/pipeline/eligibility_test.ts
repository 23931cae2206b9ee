/** Which models routing constraints leave, and in which order they are asked. */
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { UnsupportedRequestError } from "../../src/errors.ts";
import { type Eligibility, eligibility, type EligibilityContext } from "../../src/pipeline/eligibility.ts";
import { modelChoice } from "../../src/pipeline/model_choice.ts";
import { chat } from "../../src/pipeline/operations/chat.ts";
import { readRoutingConstraints } from "../../src/pipeline/routing_constraints.ts";
import type { Member, ProviderInstance } from "../../src/registry/registry.ts";
import { seededRandom } from "../../src/runtime/test.ts";
import { createMember, createModel, createPool, listNames } from "../support/_members.ts";

/** The error of a request that is refused. */
function refusal(act: () => unknown): UnsupportedRequestError {
  return assertThrows(act, UnsupportedRequestError);
}

/** Five models: a1, a2 at the provider `acme`, b1, b2 at `bolt` of the vendor `bolt-ai`, c at `clay`. */
const instanceOf = (id: string, vendor = id) =>
  ({ vendor, entry: { id, connector: `${id}.llm.v1` } }) as ProviderInstance;
const [acme, bolt, clay] = [instanceOf("acme"), instanceOf("bolt", "bolt-ai"), instanceOf("clay")];
const pool: readonly Member[] = [["a1", acme], ["a2", acme], ["b1", bolt], ["b2", bolt], ["c", clay]].map(
  ([name, instance]) =>
    createMember(
      createModel(name as string, { features: { tool_calling: name !== "c" } }, {
        instance: instance as ProviderInstance,
      }),
    ),
);
const prices: Readonly<Record<string, number>> = { a1: 0, a2: 5, b1: 10, b2: 11 };
for (const { model, state } of pool) Object.assign(state, { tracker: { estimateCost: () => prices[model.name] } });
const messages = [{ role: "user" as const, content: "Hi" }];

/** What constraints leave of the five models for a request. */
function apply(mesh: object, { header, ...fields }: { header?: string; [field: string]: unknown } = {}): Eligibility {
  const body = { messages, ...fields };
  const routingConstraints = readRoutingConstraints(header, { mesh });
  const request = {
    operation: { ...chat, serves: () => true },
    delivery: "sync",
    model: "chat",
    body,
    routingConstraints,
  };
  const context = { request, pool: { ...createPool([]), members: pool }, registry: { instances: [] } };
  const constrained = context as unknown as EligibilityContext;
  return eligibility({ ...constrained, choice: modelChoice(constrained) });
}

describe("eligibility() by routing constraints", () => {
  const cases: readonly (readonly [mesh: object, left: string])[] = [
    [{}, "a1 a2 b1 b2 c"],
    [{ only: ["c", "a1"] }, "a1 c"],
    [{ only: ["bolt"] }, "b1 b2"],
    [{ only: ["bolt-ai", "a2"] }, "a2 b1 b2"],
    [{ ignore: ["acme", "b2"] }, "b1 c"],
    [{ only: ["acme", "c"], ignore: ["a1"] }, "a2 c"],
    [{ order: ["c"] }, "a1 a2 b1 b2 c"],
    [{ max_price: 10e-9 }, "a1 a2 b1"],
    [{ max_price: 0 }, "a1"],
    [{ only: ["bolt"], max_price: 10e-9 }, "b1"],
  ];
  for (const [mesh, left] of cases) {
    it(`leaves ${left} by ${JSON.stringify(mesh)}`, () =>
      assertEquals(listNames(apply(mesh).eligible).join(" "), left));
  }

  it("leaves all as they are where nothing is asked", () => {
    const { eligible, isConstrained, prefer } = apply({ deadline: "5s" });
    assertEquals([listNames(eligible), isConstrained, prefer], [listNames(pool), false, undefined]);
  });

  const empty: readonly (readonly [mesh: object, param: string, says: string])[] = [
    [{ only: ["acme"], ignore: ["a1", "a2"] }, "mesh.ignore", "ignores all"],
    [{ ignore: ["acme", "bolt", "clay"] }, "mesh.ignore", "ignores all"],
    [{ only: ["c"], max_price: 1 }, "mesh.max_price", "1 USD"],
    [{ only: ["b2"], max_price: 10e-9 }, "mesh.max_price", "0.00000001 USD"],
  ];
  for (const [mesh, param, says] of empty) {
    it(`says who took the last one away: ${JSON.stringify(mesh)}`, () => {
      const error = refusal(() => apply(mesh));
      assertEquals([error.code, error.param], ["unsupported_by_pool", param]);
      assertStringIncludes(error.message, says);
    });
  }

  it("distinguishes a model that cannot take this request from one outside the pool", () => {
    const tools = [{ type: "function" }]; // c has no use for them
    assertEquals(refusal(() => apply({ only: ["c"] }, { tools })).code, "unsupported_by_pool");
    for (const mesh of [{ only: ["a1", "b9"] }, { ignore: ["b9"] }, { order: ["a1", "b9"] }]) {
      const error = refusal(() => apply(mesh));
      assertEquals([error.code, error.param], ["invalid_value", `mesh.${Object.keys(mesh)[0]}`]);
      assertStringIncludes(error.message, '"b9"');
    }
    assertStringIncludes(refusal(() => apply({ only: ["blot"] })).message, 'did you mean "bolt"?');
  });

  it("names the header where that is at fault", () => {
    assertEquals(refusal(() => apply({ only: ["a1"] }, { header: "ignore=b9" })).param, "x-mesh-route");
  });
});

describe("the order of a constrained request", () => {
  /** In which groups candidates would be asked. */
  function turns(mesh: object, candidates = pool): string {
    const { prefer = (members: readonly Member[]) => members } = apply(mesh);
    const groups: string[] = [];
    for (let left = candidates; left.length > 0;) {
      const first = prefer(left);
      groups.push(listNames(first).join(" "));
      left = left.filter((member) => !first.includes(member));
    }
    return groups.join(" | ");
  }

  it("puts names of the order first, one after the other, the rest last, each in the pool's order", () => {
    assertEquals(turns({}), "a1 a2 b1 b2 c");
    assertEquals(turns({ order: ["c", "a2"] }), "c | a2 | a1 b1 b2");
    assertEquals(turns({ order: ["bolt-ai", "a1"] }), "b1 b2 | a1 | a2 c");
    assertEquals(turns({ order: ["b2", "bolt"] }), "b2 | b1 | a1 a2 c");
    assertEquals(turns({ order: ["bolt", "b2"] }), "b1 b2 | a1 a2 c");
    assertEquals(turns({ order: ["clay", "acme", "bolt"] }), "c | a1 a2 | b1 b2");
  });

  it("goes on to the next ones when the first are gone", () => {
    assertEquals(turns({ order: ["c", "a2"] }, pool.slice(0, 2)), "a2 | a1");
    assertEquals(turns({ order: ["c", "a2"] }, []), "");
  });

  it("asks every model once, whatever the order", () => {
    const random = seededRandom(5);
    const names = ["a1", "a2", "b1", "b2", "c", "acme", "bolt", "bolt-ai", "clay"];
    for (let round = 0; round < 300; round++) {
      const order = names.filter(() => random() < 0.4).sort(() => random() - 0.5);
      if (order.length === 0) continue;
      const asked = turns({ order }).split(/[ |]+/);
      assertEquals(asked.toSorted(), listNames(pool), JSON.stringify(order));
    }
  });
});
