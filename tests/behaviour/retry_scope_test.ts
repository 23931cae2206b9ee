/** Where a request goes next: how far it may, whom a failure rules out, and what the strategy makes of it. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { refusing, severalModels, type Stage, stage, type StageOptions } from "../support/_failover.ts";
import { type Behaviour, ok, type ReceivedRequest, status } from "../support/upstream.ts";

const bad = status(500);
const b = ok({ text: "from b" });
const noRetry = { retry: { max_attempts: 0 } };
const scope = (name: string) => ({ pool: { retry: { max_attempts: 0, scope: name } } });

/** A provider that answers by model. */
const byModel = (answers: Readonly<Record<string, Behaviour>>) => (request: ReceivedRequest) =>
  answers[request.json().model as string]!;

const modelsAsked = (scene: Stage, name: string) => scene.upstreams[name]!.requests.map((one) => one.json().model);

describe("retry.scope", () => {
  const models = { a1: "a", b: "b", a2: "a" };
  const answers = byModel({ a1: bad, a2: ok({ text: "from a2" }) });

  const rows: readonly [name: string, text: string | undefined, asked: readonly string[], calls: number][] = [
    ["any", "from b", ["a1"], 1],
    ["same_provider", "from a2", ["a1", "a2"], 0],
    ["same_model", undefined, ["a1"], 0],
  ];
  for (const [name, text, asked, calls] of rows) {
    it(`${name}: ${text ?? "an error"}`, async () => {
      await using scene = await stage({ a: answers, b }, severalModels(models, scope(name)));
      const seen = await scene.ask();
      assertEquals([seen.text, seen.status], [text, text === undefined ? 502 : 200]);
      assertEquals([modelsAsked(scene, "a"), scene.calls.b], [asked, calls]);
    });
  }

  it("same_provider ends with the provider's last model", async () => {
    await using scene = await stage({ a: bad, b }, severalModels(models, scope("same_provider")));
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error?.code, seen.route], [502, "all_attempts_failed", "a2 2/2"]);
    assertEquals(scene.calls, { a: 2, b: 0 });
  });

  it("same_model tries again on that model as ever", async () => {
    await using scene = await stage({ a: [bad, bad, ok({ text: "from a" })], b }, {
      pool: { retry: { scope: "same_model" } },
    });
    assertEquals([(await scene.ask()).text, scene.calls], ["from a", { a: 3, b: 0 }]);
  });

  it("same_model begins elsewhere once the model is in standby", async () => {
    const pool = { ...scope("same_model").pool, deactivation: { retry_limit: 1 } };
    await using scene = await stage({ a: bad, b }, { pool });
    assertEquals((await scene.askTimes(2)).map(({ status }) => status), [502, 200]);
    assertEquals(scene.calls, { a: 1, b: 1 });
  });
});

describe("within one request", () => {
  const models = { a1: "a", a2: "a", b: "b" };
  const rulesOut: readonly [name: string, behaviour: Behaviour | typeof refusing][] = [
    ["401", status(401)],
    ["403", status(403)],
    ["402", status(402)],
    ["an exhausted quota", status(429, { error: { code: "insufficient_quota" } })],
    ["a host that refuses", refusing],
  ];
  for (const [name, behaviour] of rulesOut) {
    it(`${name} rules out the provider's other models`, async () => {
      await using scene = await stage({ a: behaviour, b }, severalModels(models));
      assertEquals((await scene.ask()).route, "b 2/1");
      assertEquals(scene.calls, behaviour === refusing ? { b: 1 } : { a: 1, b: 1 });
      assertEquals(scene.routing.fallback_chain.map(({ model }) => model), ["a1", "b"]);
    });
  }

  for (
    const [name, behaviour] of [["500", bad], ["404", status(404)], ["429", status(429)], ["400", status(400)]] as const
  ) {
    it(`${name} does not`, async () => {
      await using scene = await stage(
        { a: byModel({ a1: behaviour, a2: ok({ text: "from a2" }) }), b },
        severalModels(models),
      );
      assertEquals([(await scene.ask()).text, scene.calls.b], ["from a2", 0]);
    });
  }

  it("a bad key is forgotten with the request: the next one asks again", async () => {
    await using scene = await stage({ a: status(401), b }, severalModels(models));
    await scene.askTimes(2);
    assertEquals([modelsAsked(scene, "a"), scene.calls.b], [["a1", "a1"], 2]);
  });

  it("each model is asked in one turn of tries, none twice", async () => {
    await using scene = await stage({ a: bad, b: bad }, severalModels(models, { pool: noRetry }));
    assertEquals((await scene.ask()).status, 502);
    assertEquals([modelsAsked(scene, "a"), modelsAsked(scene, "b")], [["a1", "a2"], ["b"]]);
  });
});

describe("the strategy", () => {
  const cast = (a: Behaviour | readonly Behaviour[]) => ({ a, b, c: ok({ text: "from c" }) });
  const oneOutcome = { ...noRetry, deactivation: { retry_limit: 1 } };
  const texts = async (scene: Stage, count: number) =>
    (await scene.askTimes(count)).map(({ text }) => text?.replace("from ", "")).join(" ");
  const a = ok({ text: "from a" });
  const options = (strategy: string, pool: object = noRetry): StageOptions => ({ pool: { strategy, ...pool } });

  it("priority: the best that is up, request by request", async () => {
    await using scene = await stage(cast([a, bad, a, bad, a]), options("priority", oneOutcome));
    assertEquals(await texts(scene, 3), "a b b"); // the second one sets a aside
    await scene.clock.advance(60_000);
    assertEquals(await texts(scene, 2), "a b");
  });

  it("priority: by model_priority, then provider_priority, then the list", async () => {
    const rows: readonly [pool: object, order: string][] = [
      [{ model_priority: ["c", "b"] }, "c b a"],
      [{ model_priority: ["b"], provider_priority: ["c"] }, "b c a"],
      [{ model_priority: ["c"], provider_priority: ["b", "a"] }, "c b a"],
    ];
    for (const [pool, order] of rows) {
      await using scene = await stage({ a: bad, b: bad, c: bad }, options("priority", { ...noRetry, ...pool }));
      await scene.ask();
      assertEquals(scene.routing.fallback_chain.map(({ model }) => model).join(" "), order);
    }
  });

  it("round-robin: each model's turn", async () => {
    await using scene = await stage(cast(a), options("round-robin"));
    assertEquals(await texts(scene, 7), "a b c a b c a");
  });

  it("round-robin: who takes over for another keeps its own turn", async () => {
    await using scene = await stage(cast([bad, a, bad, a]), options("round-robin"));
    assertEquals(await texts(scene, 9), "b b c a b c c b c");
    assertEquals(scene.calls, { a: 3, b: 4, c: 4 });
  });

  it("round-robin: a model in standby has no turn, and has its own again when it is active", async () => {
    await using scene = await stage(cast([bad, a]), options("round-robin", oneOutcome));
    assertEquals(await texts(scene, 5), "b b c b c");
    await scene.clock.advance(60_000);
    const after = (await texts(scene, 6)).split(" ");
    assertEquals(["a", "b", "c"].map((name) => after.filter((one) => one === name).length), [2, 2, 2]);
  });

  it("stick-until-failure: one for all, as long as it serves", async () => {
    await using scene = await stage(cast(a), options("stick-until-failure"));
    assertEquals(await texts(scene, 4), "a a a a");
  });

  it("stick-until-failure: a request that fails over moves all", async () => {
    await using scene = await stage(cast([a, bad, a]), options("stick-until-failure"));
    assertEquals(await texts(scene, 4), "a b b b");
  });

  it("stick-until-failure: left by all once it is in standby, and not returned to while the new one serves", async () => {
    await using scene = await stage(cast([bad, a]), options("stick-until-failure", oneOutcome));
    assertEquals(await texts(scene, 2), "b b");
    await scene.clock.advance(60_000);
    assertEquals([scene.states().a, await texts(scene, 2)], ["active", "b b"]);
    scene.upstreams.b!.follow(bad);
    assertEquals(await texts(scene, 3), "a a a");
  });

  it("is the same for streams", async () => {
    await using scene = await stage(cast(a), options("round-robin"));
    assertEquals([(await scene.askStream()).text, (await scene.askStream()).text], ["from a", "from b"]);
  });
});
