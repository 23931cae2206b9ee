/** A narrowed request chooses for itself alone: what others are served by stays as it is. The library's option likewise. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MeshError } from "../../mod.ts";
import { type Stage, stage } from "../support/_failover.ts";
import { clientOver, getText, messages } from "../support/_library.ts";
import { tuned } from "../support/_tuned.ts";
import { type Behaviour, ok, startUpstream, status } from "../support/upstream.ts";

const [a, b, c] = ["a", "b", "c"].map((name) => ok({ text: name })) as [Behaviour, Behaviour, Behaviour];
const by = (strategy: string, more: object = {}) => ({
  pool: { strategy, model_priority: undefined, retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 }, ...more },
});
const served = async (scene: Stage, mesh?: object, body: object = {}) =>
  (await scene.ask({ ...body, ...(mesh === undefined ? {} : { mesh }) })).text;
const current = (scene: Stage) => scene.proxy.mesh.poolStatus().chat!;

describe("a narrowed request", () => {
  for (const mesh of [{ only: ["b"] }, { ignore: ["a"] }, { order: ["b"] }]) {
    it(`${JSON.stringify(mesh)} does not move the model that stick-until-failure stays with`, async () => {
      await using scene = await stage({ a, b, c }, by("stick-until-failure"));
      assertEquals([await served(scene), await served(scene, mesh), await served(scene)], ["a", "b", "a"]);
    });

    it(`${JSON.stringify(mesh)} does not choose it either, when it comes first`, async () => {
      await using scene = await stage({ a, b, c }, by("stick-until-failure"));
      assertEquals([await served(scene, mesh), await served(scene)], ["b", "a"]);
    });
  }

  it("by price does not move it either", async () => {
    const pricing = (usd: number) => ({ pricing: { input: 0, output: 0, per_request: usd } });
    const models = { a: pricing(0.5), b: pricing(0.05) };
    await using scene = await stage({ a, b }, tuned({ ...by("stick-until-failure"), models }));
    assertEquals(
      [await served(scene), await served(scene, { max_price: 0.1 }), await served(scene)],
      ["a", "b", "a"],
    );
  });

  it("whose model fails sets that model aside for all, like any other", async () => {
    await using scene = await stage({ a, b: status(500), c }, by("stick-until-failure"));
    assertEquals([await served(scene), await served(scene, { order: ["b"] })], ["a", "a"]);
    assertEquals(scene.states().b, "retry_limit for 60s");
    assertEquals(scene.events, ["deactivation b retry_limit", "rotation b>a server"]);
  });

  it("of which all are in standby is named as such, and no other", async () => {
    await using scene = await stage({ a, b: status(500), c }, by("priority"));
    await served(scene, { order: ["b"] });
    const { status: code, error, headers } = await scene.ask({ mesh: { only: ["b"] } });
    assertEquals([code, error!.code, headers.get("retry-after")], [503, "no_active_model", "60"]);
    assert(!error!.message.includes("a ("), error!.message);
    assertEquals(scene.calls, { a: 1, b: 1, c: 0 });
  });

  it("never leaves what it names, though all fail", async () => {
    await using scene = await stage({ a, b: status(500), c: status(500) }, by("priority"));
    assertEquals((await scene.ask({ mesh: { only: ["c", "b"] } })).status, 502);
    assertEquals(scene.calls, { a: 0, b: 1, c: 1 });
  });

  it("cannot bring back a model that an operator deactivated", async () => {
    await using scene = await stage({ a, b }, by("priority"));
    await scene.proxy.mesh.deactivate("b");
    assertEquals((await scene.ask({ mesh: { only: ["b"] } })).error!.code, "no_active_model");
    assertEquals(scene.calls, { a: 0, b: 0 });
  });

  it("may stream", async () => {
    await using scene = await stage({ a, b }, by("priority"));
    assertEquals((await scene.askStream({ mesh: { only: ["b"] } })).route, "b 1/0");
  });

  it("holds to limits and budgets like any other", async () => {
    await using scene = await stage({ a, b }, tuned({ ...by("priority"), models: { b: { limits: { rpm: 1 } } } }));
    const mesh = { only: ["b"] };
    assertEquals([await served(scene, mesh), (await scene.ask({ mesh })).error!.code], ["b", "rate_limit_exceeded"]);
    assertEquals(await served(scene, { order: ["b"] }), "a");
    assertEquals(current(scene).active, 2);
  });

  it("leaves the session where it is", async () => {
    await using scene = await stage({ a, b, c }, by("session-stickiness"));
    const user = { user: "one" };
    const home = await served(scene, undefined, user);
    const other = ["a", "b", "c"].find((name) => name !== home)!;
    assertEquals(await served(scene, { only: [other] }, user), other);
    assertEquals(await served(scene, undefined, user), home);
  });

  it("does not move the model that rate-limit-aware is with", async () => {
    await using scene = await stage({ a, b, c }, by("rate-limit-aware"));
    assertEquals([await served(scene), await served(scene, { only: ["b"] }), await served(scene)], ["a", "b", "a"]);
  });

  it("takes no turn from round-robin's others", async () => {
    await using scene = await stage({ a, b, c }, by("round-robin"));
    for (let turn = 0; turn < 6; turn++) await served(scene, { only: ["c"] });
    const before = { ...scene.calls };
    for (let turn = 0; turn < 9; turn++) await served(scene);
    const counts = Object.entries(scene.calls).map(([name, calls]) => calls - before[name]!);
    assertEquals(counts, [3, 3, 3]);
  });
});

describe("the library's option route", () => {
  async function over(test: (ask: (route: object, mesh?: object) => Promise<string>) => Promise<void>): Promise<void> {
    await using first = await startUpstream(a);
    await using second = await startUpstream(b);
    await using made = clientOver({ upstreams: { a: first.url, b: second.url } });
    await test(async (route, mesh) => {
      const request = { model: "chat", messages, ...(mesh === undefined ? {} : { mesh }) };
      return getText(await made.client.chat.completions.create(request, { route })) ?? "";
    });
    for (const { body } of [...first.requests, ...second.requests]) assert(!body.includes("mesh"), body);
  }

  it("narrows like the proxy's fields", async () => {
    await over(async (ask) => {
      assertEquals([await ask({}), await ask({ only: ["b"] }), await ask({ ignore: ["a"] })], ["a", "b", "b"]);
      assertEquals([await ask({ order: ["b"] }), await ask({ only: ["a"], deadline: "20s" })], ["b", "a"]);
    });
  });

  it("gives way to `mesh` in the request", async () => {
    await over(async (ask) => assertEquals(await ask({ only: ["b"] }, { only: ["a"] }), "a"));
  });

  it("may name a model of the client's pool when a list of others follows it", async () => {
    await using first = await startUpstream(status(400));
    await using second = await startUpstream(b);
    const upstreams = { a: first.url, b: second.url };
    await using made = clientOver({ upstreams, pool: { models: ["a"] } });
    const request = { models: ["b"], messages };
    const answer = await made.client.chat.completions.create(request, { route: { order: ["a"] } });
    assertEquals([getText(answer), first.requests.length], ["b", 1]);
  });

  it("throws what cannot be, with the field", async () => {
    await over(async (ask) => {
      const error = await assertRejects(() => ask({ only: ["nobody"] }), MeshError);
      assertEquals(error.code, "invalid_value");
      const other = await assertRejects(() => ask({ ignore: ["a", "b"] }), MeshError);
      assertEquals(other.code, "unsupported_by_pool");
    });
  });
});
