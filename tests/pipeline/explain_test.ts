import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ModelMesh } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { testConfig } from "../support/proxy.ts";

/** No server is there: explaining sends nothing. */
const nowhere = "http://127.0.0.1:9/v1";
const upstreams = { a: nowhere, b: nowhere, c: nowhere };
/** Of the models that are not preferred, b is cheaper. */
const models = Object.fromEntries(
  Object.entries({ a: 3, b: 1, c: 2 }).map(([name, price]) => {
    return [name, { provider: name, capabilities: ["chat-completion"], pricing: { input: price, output: price } }];
  }),
);
const messages = [{ role: "user" as const, content: "Hi" }];

/** Who would be asked, in order, and who not for what. */
async function explained(pool: object, route: object = {}, down: readonly string[] = []) {
  const mesh = new ModelMesh({ clock: fakeClock() });
  try {
    await mesh.initialize(testConfig({ upstreams, pool: { model_priority: ["c", "a"], ...pool }, config: { models } }));
    for (const name of down) mesh.deactivate(name);
    const { order, excluded } = await mesh.explain({ model: "chat", messages, mesh: route });
    return [order.map(({ model }) => model).join(), excluded.map(({ model, reason }) => `${model}: ${reason}`).join()];
  } finally {
    await mesh.close();
  }
}

describe("explain()", () => {
  it("gives the strategy's order, and says who is out for what", async () => {
    assertEquals(await explained({}), ["c,a,b", ""]);
    assertEquals(await explained({}, {}, ["c"]), ["a,b", "c: manual"]);
    assertEquals(await explained({}, { ignore: ["a"] }, ["c"]), ["b", "a: route,c: manual"]);
  });

  it("puts first what the request's own order names", async () => {
    assertEquals(await explained({}, { order: ["b"] }), ["b,c,a", ""]);
    assertEquals(await explained({}, { order: ["b", "a"] }, ["b"]), ["a,c", "b: manual"]);
  });

  it("goes by the fallback strategy once the lists of priority are exhausted", async () => {
    const pool = { model_priority: ["c"], fallback_strategy: "cost-first" };
    assertEquals(await explained(pool), ["c,b,a", ""]);
    assertEquals(await explained(pool, {}, ["c"]), ["b,a", "c: manual"]);
    assertEquals(await explained({ strategy: "cost-first", model_priority: ["a", "c"] }), ["c,a,b", ""]);
  });
});
