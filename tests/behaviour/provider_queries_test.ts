/** What a vendor says of its models and of the account when it is asked for it, at the start. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type CreateOptions, type ModelInfo, NoActiveModelError, type Provider, routingOf } from "../../mod.ts";
import { createResponse, customProvider } from "../support/_custom_provider.ts";
import { fakeClock, getText, messages } from "../support/_library.ts";

const says = (text: string): Partial<Provider> => ({ complete: () => Promise.resolve({ body: createResponse(text) }) });

/** A client whose pool `chat` has a model `own` of the provider under test, then one of a plain provider. */
function createClient(own: Partial<Provider>, settings: object, clock = fakeClock()) {
  const traces: string[] = [];
  const config: CreateOptions["config"] = {
    providers: {
      own: { instance: customProvider({ ...says("own"), ...own }), ...settings },
      plain: { instance: customProvider(says("plain")) },
    },
    models: { own: { provider: "own", model: "own-1" }, plain: { provider: "plain" } },
    pools: { chat: { models: ["own", "plain"], strategy: "priority" } },
  };
  const client = create({ config, clock });
  client.mesh.addSink({ emit: () => {}, trace: ({ message }) => void traces.push(message), flush: async () => {} });
  const ask = async (request: object = {}) => getText(await client.chat.completions.create({ messages, ...request }));
  return { client, clock, ask, traces, [Symbol.asyncDispose]: () => client.close() };
}

const described: ModelInfo = {
  id: "own-1",
  constraints: { context_window: 20, max_output_tokens: 10 },
  features: { vision: false },
  capabilities: ["text-embeddings"],
  pricing: [{ input: 1_000_000, output: 1_000_000 }],
};
const describeModels = () => Promise.resolve([described]);
const long = { messages: [{ role: "user", content: "word ".repeat(200) }] };

describe("What a vendor says of its models", () => {
  it("is not asked for unless the configuration says so", async () => {
    let asked = 0;
    const own = { describeModels: () => (asked++, describeModels()), checkQuota: () => (asked++, Promise.resolve({})) };
    await using one = createClient(own, {});
    assertEquals([await one.ask(), await one.ask(long), asked], ["own", "own", 0]);
  });

  it("is taken over as far as it is asked for: sizes", async () => {
    await using one = createClient({ describeModels }, { discovery: { model_details: true } });
    assertEquals([await one.ask(), await one.ask(long)], ["own", "plain"]);
  });

  it("is taken over as far as it is asked for: capabilities", async () => {
    await using one = createClient({ describeModels }, { discovery: { capability_query: true } });
    assertEquals(await one.ask(), "plain");
  });

  it("is taken over as far as it is asked for: prices", async () => {
    await using one = createClient({ describeModels }, { pricing: { query: true } });
    const first = await one.client.chat.completions.create({ messages });
    assertEquals([getText(first), routingOf(first)?.cost_usd], ["own", 5]);
    assertEquals(await one.ask(long), "own"); // nothing else of it counts
  });

  it("is taken over as far as it is asked for: prices are details, too", async () => {
    await using one = createClient({ describeModels }, { discovery: { model_details: true } });
    const first = await one.client.chat.completions.create({ messages, max_tokens: 5 });
    assertEquals([getText(first), routingOf(first)?.cost_usd], ["own", 5]);
  });

  it("is the price of a model under a budget; a model that it leaves out has none", async () => {
    for (const settings of [{ pricing: { query: true } }, { discovery: { model_details: true } }]) {
      const providers = { own: { instance: customProvider({ ...says("own"), describeModels }), ...settings } };
      const models = { own: { provider: "own", model: "own-1" }, other: { provider: "own" } };
      const pools = { chat: { models: ["other", "own"] }, rest: { models: ["other"] } };
      await using client = create({ config: { providers, models, pools, budget: { daily_limit: 100 } } });
      assertEquals(getText(await client.chat.completions.create({ messages, max_tokens: 5 })), "own");
      const { reasons } = await assertRejects(
        () => client.chat.completions.create({ model: "rest", messages }),
        NoActiveModelError,
      );
      assertEquals(reasons, { other: "no_price" });
    }
  });

  it("wins over what its connector knows", async () => {
    const config = { discovery: { model_details: true } };
    const own = {
      describeModels,
      getModelInfo: () => Promise.resolve({ id: "own-1", constraints: { context_window: 9_000 } }),
    };
    await using one = createClient(own, config);
    assertEquals(await one.ask(long), "plain");
  });

  it("is nothing where the vendor does not report it, fails, hangs or answers otherwise: the start goes on, with a warning", async () => {
    const queries = { discovery: { model_details: true }, pricing: { query: true }, quota: { query_current: true } };
    const answers: [own: Partial<Provider>, warning: RegExp][] = [
      [{}, /describeModels\(\) returned nothing/],
      [{ describeModels: () => Promise.resolve(undefined) }, /describeModels\(\) returned nothing/],
      [{ describeModels: () => Promise.reject(new Error("no")) }, /describeModels\(\) failed/],
      [{ describeModels: () => Promise.resolve("many" as never) }, /checkQuota\(\) returned nothing/],
      [{ describeModels: () => Promise.resolve([null, { id: 7 }, {}] as never) }, /checkQuota\(\) returned nothing/],
      [{ checkQuota: () => Promise.reject(new Error("no")) }, /checkQuota\(\) failed/],
    ];
    for (const [own, warning] of answers) {
      await using one = createClient(own, queries);
      assertEquals([await one.ask(), await one.ask(long)], ["own", "own"]);
      assertMatch(one.traces.join("\n"), warning);
    }
  });

  it("is waited for 5 seconds", async () => {
    await using one = createClient({ describeModels: () => new Promise(() => {}) }, {
      discovery: { model_details: true },
    });
    const answer = one.ask();
    await one.clock.advance(5_000);
    assertEquals(await answer, "own");
    assertMatch(one.traces.join("\n"), /describeModels\(\) failed: .*5000 ms/);
  });
});

describe("What a vendor says of the account", () => {
  const quota = { query_remaining: true };

  it("is logged", async () => {
    await using one = createClient({ checkQuota: () => Promise.resolve({ used: 0.254, remaining: 12.5 }) }, { quota });
    assertEquals(await one.ask(), "own");
    assertMatch(one.traces.join("\n"), /The provider "own": 25 % of its quota is used, 12.5 of its quota is left/);
  });

  it("keeps a spent account in standby until its quota starts anew", async () => {
    for (const spent of [{ remaining: 0 }, { remaining: -3 }, { used: 1 }]) {
      const clock = fakeClock();
      const resetsAt = clock.now() + 60_000;
      await using one = createClient({ checkQuota: () => Promise.resolve({ ...spent, resetsAt }) }, { quota }, clock);
      assertEquals(await one.ask(), "plain");
      const [own] = one.client.mesh.poolStatus().chat!.models;
      assertEquals([own?.status, own?.reason], ["standby", "quota_exhausted"]);
      await clock.advance(60_000);
      assertEquals(await one.ask(), "own");
    }
  });

  it("takes the account back when the wall clock is set past that date", async () => {
    const clock = fakeClock();
    const resetsAt = clock.now() + 3_600_000;
    const checkQuota = () => Promise.resolve({ remaining: 0, resetsAt });
    await using one = createClient({ checkQuota }, { quota }, clock);
    assertEquals(await one.ask(), "plain");
    clock.jumpWallTime(3_600_000);
    assertEquals(await one.ask(), "own");
  });
});
