/** What a vendor says of its models and of the account when it is asked for it, at the start. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type CreateOptions, type ModelInfo, type Provider, routingOf } from "../../mod.ts";
import { engineOf } from "../../src/engine/engine_of.ts";
import { answerOf, customProvider } from "../support/_custom_provider.ts";
import { fakeClock, messages, textOf } from "../support/_library.ts";
import { startUpstream, status, whole } from "../support/upstream.ts";

const says = (text: string): Partial<Provider> => ({ complete: () => Promise.resolve({ body: answerOf(text) }) });

/** A client whose pool `chat` has a model `own` of the provider under test, then one of a plain provider. */
function clientOf(own: Partial<Provider>, settings: object, clock = fakeClock()) {
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
  const ask = async (request: object = {}) => textOf(await client.chat.completions.create({ messages, ...request }));
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
    await using one = clientOf(own, {});
    assertEquals([await one.ask(), await one.ask(long), asked], ["own", "own", 0]);
  });

  it("is taken over as far as it is asked for: sizes", async () => {
    await using one = clientOf({ describeModels }, { discovery: { model_details: true } });
    assertEquals([await one.ask(), await one.ask(long)], ["own", "plain"]);
  });

  it("is taken over as far as it is asked for: capabilities", async () => {
    await using one = clientOf({ describeModels }, { discovery: { capability_query: true } });
    assertEquals(await one.ask(), "plain");
  });

  it("is taken over as far as it is asked for: prices", async () => {
    await using one = clientOf({ describeModels }, { pricing: { query: true } });
    const first = await one.client.chat.completions.create({ messages });
    assertEquals([textOf(first), routingOf(first)?.cost_usd], ["own", 5]);
    assertEquals(await one.ask(long), "own"); // nothing else of it counts
  });

  it("wins over what its connector knows", async () => {
    const config = { discovery: { model_details: true } };
    const own = {
      describeModels,
      getModelInfo: () => Promise.resolve({ id: "own-1", constraints: { context_window: 9_000 } }),
    };
    await using one = clientOf(own, config);
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
      await using one = clientOf(own, queries);
      assertEquals([await one.ask(), await one.ask(long)], ["own", "own"]);
      assertMatch(one.traces.join("\n"), warning);
    }
  });

  it("is waited for 5 seconds", async () => {
    await using one = clientOf({ describeModels: () => new Promise(() => {}) }, { discovery: { model_details: true } });
    const answer = one.ask();
    await one.clock.advance(5_000);
    assertEquals(await answer, "own");
    assertMatch(one.traces.join("\n"), /describeModels\(\) failed: .*5000 ms/);
  });
});

describe("What a vendor says of the account", () => {
  const quota = { query_remaining: true };

  it("is logged", async () => {
    await using one = clientOf({ checkQuota: () => Promise.resolve({ used: 0.254, remaining: 12.5 }) }, { quota });
    assertEquals(await one.ask(), "own");
    assertMatch(one.traces.join("\n"), /The provider "own": 25 % of its quota is used, 12.5 of its quota is left/);
  });

  it("keeps a spent account in standby until its quota starts anew", async () => {
    for (const spent of [{ remaining: 0 }, { remaining: -3 }, { used: 1 }]) {
      const clock = fakeClock();
      const resetsAt = clock.now() + 60_000;
      await using one = clientOf({ checkQuota: () => Promise.resolve({ ...spent, resetsAt }) }, { quota }, clock);
      assertEquals(await one.ask(), "plain");
      const [own] = one.client.mesh.poolStatus().chat!.models;
      assertEquals([own?.status, own?.reason], ["standby", "quota_exhausted"]);
      await clock.advance(60_000);
      assertEquals(await one.ask(), "own");
    }
  });
});

describe("Vendors that report it", () => {
  const json = (value: unknown) => whole(200, JSON.stringify(value), "application/json");

  it("OpenRouter: sizes, features and prices in its list, and the key's limit", async () => {
    const list = {
      data: [
        {
          id: "acme/one",
          context_length: 32_000,
          architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
          pricing: { prompt: "0.0000015", completion: "0.000006", input_cache_read: "0.00000015", image: "0" },
          top_provider: { max_completion_tokens: 4_096 },
          supported_parameters: ["tools", "response_format"],
        },
        { id: "acme/auto", pricing: { prompt: "-1", completion: "-1" } },
        { name: "no id" },
      ],
    };
    await using upstream = await startUpstream((request) =>
      request.path.endsWith("/key") ? json({ data: { limit: 10, limit_remaining: 0, usage: 10 } }) : json(list)
    );
    const client = create({
      config: {
        providers: {
          or: {
            connector: "openrouter.gateway.v1",
            base_url: upstream.url,
            api_key: "key-123456",
            discovery: { model_details: true, capability_query: true },
            pricing: { query: true },
            quota: { query_current: true },
          },
        },
        models: { one: { provider: "or", model: "acme/one" }, auto: { provider: "or", model: "acme/auto" } },
        pools: { chat: { models: ["one", "auto"] } },
      },
    });
    await client.ready();
    const { registry } = engineOf(client.mesh);
    const [one, auto] = ["one", "auto"].map((name) => registry.model(name)?.info);
    const { standby } = client.mesh.poolStatus().chat!;
    await client.close();
    assertEquals(upstream.requests.map(({ path }) => path).sort(), ["/v1/key", "/v1/models"]);
    assertEquals(one?.constraints, { context_window: 32_000, max_output_tokens: 4_096 });
    assertEquals([one?.features?.tool_calling, one?.features?.vision, one?.features?.reasoning], [true, true, false]);
    assertEquals(one?.pricing, [{ input: 1.5, output: 6, cached_input: 0.15 }]);
    assertEquals(auto?.pricing, undefined);
    assertEquals(standby, 2); // the key has nothing left
  });

  it("DeepSeek: the balance", async () => {
    for (const [isAvailable, active] of [[true, 1], [false, 0]]) {
      const balance = { is_available: isAvailable, balance_infos: [{ currency: "USD", total_balance: "1.50" }] };
      await using upstream = await startUpstream(json(balance));
      const provider = { connector: "deepseek.api.v1", base_url: upstream.url, api_key: "key-123456" };
      const client = create({
        config: {
          providers: { ds: { ...provider, quota: { query_remaining: true } } },
          models: { one: { provider: "ds", model: "deepseek-chat", capabilities: ["chat-completion"] } },
          pools: { chat: { models: ["one"] } },
        },
      });
      await client.ready();
      assertEquals(client.mesh.poolStatus().chat?.active, active);
      await client.close();
      assertEquals(upstream.requests.map(({ path }) => path), ["/v1/user/balance"]);
    }
  });

  it("one that answers its list with an error has the models of the catalogue", async () => {
    await using upstream = await startUpstream(status(500));
    const client = create({
      config: {
        providers: {
          or: {
            connector: "openrouter.gateway.v1",
            base_url: upstream.url,
            api_key: "k-123456",
            pricing: { query: true },
          },
        },
        models: { one: { provider: "or", model: "acme/one", capabilities: ["chat-completion"] } },
        pools: { chat: { models: ["one"] } },
      },
    });
    await client.ready();
    assertEquals(client.mesh.poolStatus().chat?.active, 1);
    await client.close();
  });
});
