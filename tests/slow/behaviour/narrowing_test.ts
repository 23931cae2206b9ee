/** A request that narrows its own routing, by the header `x-mesh-route` or by `mesh` in its body. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { after, type Seen, type Stage, stage } from "../../support/_failover.ts";
import { tuned } from "../../support/_tuned.ts";
import { type Behaviour, hang, ok, status } from "../../support/upstream.ts";

const [a, b, c] = ["a", "b", "c"].map((name) => ok({ text: name })) as [Behaviour, Behaviour, Behaviour];
const json = { "content-type": "application/json" };
const noRetry = { retry: { max_attempts: 0 } };
const pricing = (usd: number) => ({ pricing: { input: 0, output: 0, per_request: usd } });
const prices = { models: { a: pricing(0.5), b: pricing(0.05) } }; // that of c is unknown

const byHeader = (scene: Stage, route: string, body: object = {}) =>
  scene.ask({ ...body }, { headers: { ...json, "x-mesh-route": route } });
const byBody = (scene: Stage, mesh: unknown, body: object = {}) => scene.ask({ ...body, mesh });

/** Models that were asked, in order. */
const asked = (scene: Stage) => scene.routing.fallback_chain.map(({ model }) => model).join("");

interface Case {
  readonly what: string;
  readonly header: string;
  readonly mesh: unknown;
  /** Models that are asked when all fail, one after the other. */
  readonly order: string;
}

const cases: readonly Case[] = [
  { what: "only one", header: "only=b", mesh: { only: ["b"] }, order: "b" },
  { what: "only some, in the pool's order", header: "only=c,a", mesh: { only: ["c", "a"] }, order: "ac" },
  { what: "ignore", header: "ignore=a", mesh: { ignore: ["a"] }, order: "bc" },
  { what: "only and ignore", header: "only=a,b;ignore=a", mesh: { only: ["a", "b"], ignore: ["a"] }, order: "b" },
  { what: "order: those first, the rest after them", header: "order=c", mesh: { order: ["c"] }, order: "cab" },
  { what: "order of all", header: "order=b,c,a", mesh: { order: ["b", "c", "a"] }, order: "bca" },
  { what: "order of some of only", header: "only=a,b;order=b", mesh: { only: ["a", "b"], order: ["b"] }, order: "ba" },
  { what: "max_price, unknown prices out", header: "max-price=0.5", mesh: { max_price: 0.5 }, order: "ab" },
  { what: "a lower max_price", header: "max-price=0.4999", mesh: { max_price: 0.4999 }, order: "b" },
];

for (const strategy of ["priority", "stick-until-failure", "round-robin", "cost-first"]) {
  describe(`under ${strategy}`, () => {
    for (const { what, header, mesh, order } of cases) {
      it(`${what}, by header and by body`, async () => {
        const failing = status(400);
        const pool = { ...noRetry, strategy, ...(strategy === "cost-first" ? { model_priority: undefined } : {}) };
        const expected = strategy === "cost-first" && order !== "bca" ? byCost(order, mesh) : order;
        for (const ask of [(scene: Stage) => byHeader(scene, header), (scene: Stage) => byBody(scene, mesh)]) {
          await using scene = await stage({ a: failing, b: failing, c: failing }, tuned({ ...prices, pool }));
          await ask(scene);
          assertEquals(asked(scene), expected);
        }
      });
    }
  });
}

/** What the request does not order, the strategy does: b is cheapest, the price of c is unknown. */
function byCost(order: string, mesh: unknown): string {
  const { order: wanted = [] } = mesh as { order?: string[] };
  const rest = [..."bac"].filter((name) => order.includes(name) && !wanted.includes(name));
  return [...wanted, ...rest].join("");
}

describe("names", () => {
  it("are of models, of providers and of vendors", async () => {
    const config = {
      models: Object.fromEntries(
        Object.entries({ m1: "a", m2: "a", m3: "b" }).map(([name, provider]) => {
          return [name, { provider, capabilities: ["chat-completion"] }];
        }),
      ),
      pools: {
        chat: { models: ["m1", "m2", "m3"], strategy: "priority", model_priority: ["m1", "m2", "m3"], ...noRetry },
      },
    };
    await using scene = await stage({ a: status(400), b: status(400) }, tuned({ config }));
    for (const [only, order] of [["a", "m1m2"], ["m2", "m2"], ["b", "m3"], ["m2,b", "m2m3"]]) {
      await byHeader(scene, `only=${only}`);
      assertEquals(asked(scene), order, only);
    }
  });

  it("in the body win over those in the header, field by field", async () => {
    await using scene = await stage({ a, b, c });
    const headers = { ...json, "x-mesh-route": "only=b;ignore=a" };
    assertEquals((await scene.ask({ mesh: { only: ["c"] } }, { headers })).text, "c");
    assertEquals((await scene.ask({ mesh: { ignore: ["b"] } }, { headers })).error!.code, "unsupported_by_pool");
  });

  it("of a pool that is asked by list may belong to any of the list", async () => {
    const pools = { chat: { models: ["a", "b"], ...noRetry }, other: { models: ["c"], ...noRetry } };
    await using scene = await stage({ a: status(500), b: status(500), c }, tuned({ config: { pools } }));
    const body = { model: "chat", models: ["other"] };
    assertEquals((await byBody(scene, { ignore: ["a"] }, body)).text, "c");
    assertEquals(scene.calls, { a: 0, b: 1, c: 1 });
    assertEquals((await byBody(scene, { only: ["c"] }, body)).text, "c");
    assertEquals(scene.calls, { a: 0, b: 1, c: 2 });
  });

  it("choose among the models that are asked by list", async () => {
    await using scene = await stage({ a, b, c });
    const body = { model: "a", models: ["b", "c"] };
    assertEquals((await byBody(scene, undefined, body)).text, "a");
    assertEquals((await byBody(scene, { only: ["b", "c"] }, body)).text, "b");
    assertEquals((await byBody(scene, { only: ["c"] }, body)).text, "c");
  });
});

describe("a narrowing that cannot be", () => {
  interface Fault {
    readonly ask: (scene: Stage) => Promise<Seen>;
    readonly code: "invalid_value" | "unsupported_by_pool";
    readonly param: string;
    readonly says?: RegExp;
  }
  const faults: Record<string, Fault> = {
    "an unknown field in the body": {
      ask: (scene) => byBody(scene, { onli: ["a"] }),
      code: "invalid_value",
      param: "mesh.onli",
      says: /mesh\.only|"only"/,
    },
    "an unknown field in the header": {
      ask: (scene) => byHeader(scene, "onyl=a"),
      code: "invalid_value",
      param: "x-mesh-route",
    },
    "an unknown name": {
      ask: (scene) => byBody(scene, { only: ["a", "zz"] }),
      code: "invalid_value",
      param: "mesh.only",
      says: /"zz"/,
    },
    "a name outside the pool": {
      ask: (scene) => byBody(scene, { order: ["c"] }, { model: "pair" }),
      code: "invalid_value",
      param: "mesh.order",
    },
    "a URL for a name": {
      ask: (scene) => byBody(scene, { only: ["http://example.com/v1"] }),
      code: "invalid_value",
      param: "mesh.only",
    },
    "a name that is no text": {
      ask: (scene) => byBody(scene, { ignore: [1] }),
      code: "invalid_value",
      param: "mesh.ignore",
    },
    "an empty list": { ask: (scene) => byBody(scene, { only: [] }), code: "invalid_value", param: "mesh.only" },
    "mesh that is no object": { ask: (scene) => byBody(scene, "only=a"), code: "invalid_value", param: "mesh" },
    "a negative price": {
      ask: (scene) => byBody(scene, { max_price: -1 }),
      code: "invalid_value",
      param: "mesh.max_price",
    },
    "a price that is no number": {
      ask: (scene) => byHeader(scene, "max-price=cheap"),
      code: "invalid_value",
      param: "x-mesh-route",
    },
    "a bare number for a deadline": {
      ask: (scene) => byBody(scene, { deadline: 20 }),
      code: "invalid_value",
      param: "mesh.deadline",
      says: /"20s" or "20ms"/,
    },
    "all ignored": {
      ask: (scene) => byBody(scene, { ignore: ["a", "b", "c"] }),
      code: "unsupported_by_pool",
      param: "mesh.ignore",
    },
    "only what is ignored too": {
      ask: (scene) => byHeader(scene, "only=a;ignore=a"),
      code: "unsupported_by_pool",
      param: "x-mesh-route",
    },
    "a price nobody serves for": {
      ask: (scene) => byBody(scene, { max_price: 0.01 }),
      code: "unsupported_by_pool",
      param: "mesh.max_price",
      says: /0\.01/,
    },
  };
  for (const [what, { ask, code, param, says }] of Object.entries(faults)) {
    it(`${what}: 400, and no model is asked`, async () => {
      const chat = { models: ["a", "b", "c"] };
      const config = { pools: { chat, pair: { models: ["a", "b"] } } };
      await using scene = await stage({ a, b, c }, tuned({ ...prices, config }));
      const { status: number, error } = await ask(scene);
      assertEquals([number, error!.type, error!.code, error!.param], [400, "invalid_request_error", code, param]);
      if (says !== undefined) assertMatch(error!.message, says);
      assertEquals([scene.calls, scene.events], [{ a: 0, b: 0, c: 0 }, []]);
    });
  }
});

describe("a deadline", () => {
  for (const way of ["header", "body"]) {
    it(`by ${way} ends a request that is not answered in time`, async () => {
      await using scene = await stage({ a: hang(), b });
      const answer = way === "header" ? byHeader(scene, "deadline=7s") : byBody(scene, { deadline: "7s" });
      await scene.received("a");
      const { status: number, error } = await after(scene.clock, 7_000, answer);
      assertEquals([number, error!.code], [504, "timeout"]);
      assertEquals(scene.states().a, "active");
    });
  }

  it("does not lengthen what the client has patience for", async () => {
    await using scene = await stage({ a: hang() });
    const headers = { ...json, "x-mesh-route": "deadline=30s", "x-stainless-timeout": "5" };
    const answer = scene.ask({}, { headers });
    await scene.received("a");
    assertEquals((await after(scene.clock, 5_000, answer)).status, 504);
  });
});

describe("what goes upstream", () => {
  it("has nothing of mesh, models or the header", async () => {
    await using scene = await stage({ a });
    const mesh = { only: ["a"], tags: { team: "secret-team" }, session: "secret-session", max_price: null };
    const headers = { ...json, "x-mesh-route": "deadline=20s" };
    assertEquals((await scene.ask({ mesh, models: ["a"], temperature: 0.5 }, { headers })).status, 200);
    const call = await scene.received("a");
    assertEquals(Object.keys(JSON.parse(call.body)).sort(), ["messages", "model", "temperature"]);
    assert(!Object.keys(call.headers).some((name) => name.startsWith("x-mesh")), Object.keys(call.headers).join());
  });
});
