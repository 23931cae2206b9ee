/** What the name in a request stands for, and the pool that serves it. */
import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { CapabilityTree } from "../../src/capability/tree.ts";
import { ModelNotFoundError, UnsupportedRequestError } from "../../src/errors.ts";
import { poolFor } from "../../src/pipeline/select_pool.ts";
import { Registry } from "../../src/registry/registry.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { MeshState } from "../../src/state/model/mesh_state.ts";
import { createModel } from "../support/_members.ts";

const routing = {
  strategy: "first",
  modelPriority: [],
  deactivation: { retryLimit: 1, errorCodes: new Set() },
  recovery: {},
};

/** Models `fast` and `clever` (upstream id `clever-1`), a pool named as the model `fast`, and an alias. */
function registry(): Registry {
  const settings = {
    defaultRouting: routing,
    capabilities: [],
    aliases: new Map(["gpt", "chat-completion", "fast"].map((alias) => [alias, "clever"])),
  };
  const parts = {
    settings,
    tree: new CapabilityTree(["generation.text-generation.summary", "understanding.summary"]),
    state: new MeshState({ settings: {}, clock: fakeClock(), onTransition: () => {} }),
    makeStrategy: () => ({ strategyId: "first", strategy: { select: () => undefined, score: () => 0 } }),
  };
  const instance = { vendor: "acme", entry: { id: "acme", apiKeys: [] } };
  const made = new Registry(parts as never, [instance] as never);
  for (const [name, id] of [["fast", "fast-1"], ["clever", "clever-1"]] as const) {
    made.addModel(createModel(name, { id }, { instance } as never));
  }
  made.addPool({ name: "fast", capability: null, models: made.models, routing, listed: true } as never);
  return made;
}

/** The pool of a name, and its models. */
function chosen(name: string, client?: object): string {
  const { name: pool, members } = poolFor(name, { client } as never, registry());
  return `${pool}: ${members.map(({ model }) => model.name).join(", ")}`;
}

describe("A name in a request", () => {
  const cases: readonly (readonly [what: string, name: string, pool: string])[] = [
    ["is a pool, before it is an alias or the model of that name", "fast", "fast: fast, clever"],
    ["is an alias, before it is the capability of that name", "chat-completion", "clever: clever"],
    ["is an alias of a model", "gpt", "clever: clever"],
    ["is an inner node: all models below it", "text-generation", "text-generation: fast, clever"],
    ["is a full path", "generation.text-generation", "text-generation: fast, clever"],
    ["is a model", "clever", "clever: clever"],
    ["is a model by the id its provider knows", "clever-1", "clever-1: clever"],
    ["is a model with its vendor", "acme/fast-1", "acme/fast-1: fast"],
  ];
  for (const [what, name, pool] of cases) it(what, () => assertEquals(chosen(name), pool));

  it("that stands for nothing is refused", () => {
    assertThrows(() => chosen("slow"), ModelNotFoundError, 'The model or pool "slow" does not exist');
  });

  it("that is the short name of two capabilities is refused: the full paths are named", () => {
    assertThrows(
      () => chosen("summary"),
      UnsupportedRequestError,
      "use generation.text-generation.summary or understanding.summary",
    );
  });

  it("has one pool, made at its first use", () => {
    const known = registry();
    assertStrictEquals(poolFor("clever", {}, known), poolFor("clever", {}, known));
  });
});

describe("A client with pools of its own", () => {
  const client = { name: "app", pools: new Set(["fast"]) };

  it("gets these", () => assertEquals(chosen("fast", client), "fast: fast, clever"));

  it("gets their models by name", () => assertEquals(chosen("clever", client), "clever: clever"));

  for (const name of ["slow", "summary"]) {
    it(`gets the same response for "${name}", whether that is there or not`, () => {
      const message = 'There is no such model or pool for the client "app"';
      assertEquals(assertThrows(() => chosen(name, client), ModelNotFoundError).message, message);
    });
  }
});
