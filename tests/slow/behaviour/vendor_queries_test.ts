/** What vendors report of models and accounts when they are asked at the start, and what they do not report. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create } from "../../../mod.ts";
import { getEngine } from "../../../src/engine/get_engine.ts";
import { startTokenEndpoint } from "../../support/_token_endpoint.ts";
import { completeResponse, startUpstream, status } from "../../support/upstream.ts";

describe("Vendors that report it", () => {
  const json = (value: unknown) => completeResponse(200, JSON.stringify(value), "application/json");

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
    const { registry } = getEngine(client.mesh);
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

  it("OpenRouter: every capability that its response shows, and no fewer than the catalogue's where it shows none", async () => {
    const text = { input_modalities: ["text"], output_modalities: ["text"] };
    const list = {
      data: [
        {
          id: "acme/all",
          architecture: { ...text, input_modalities: ["text", "image"] },
          supported_parameters: ["tools", "response_format", "structured_outputs"],
        },
        { id: "acme/plain", architecture: text, supported_parameters: ["temperature"] },
        { id: "acme/silent", architecture: text },
        { id: "openrouter/free", architecture: text },
        { id: "acme/vectors", architecture: { ...text, output_modalities: ["embeddings"] } },
        { id: "acme/painter", architecture: { ...text, output_modalities: ["image"] } },
      ],
    };
    await using upstream = await startUpstream(json(list));
    const or = { connector: "openrouter.gateway.v1", base_url: upstream.url, api_key: "key-123456" };
    const tools = { capability: "tool-calling" };
    const leavesWith = async (discovery: { capability_query?: true; enumerate_models?: true }) => {
      await using client = create({ config: { providers: { or: { ...or, discovery } }, pools: { tools } } });
      await client.ready();
      const names = (ids: readonly string[]) => ids.map((path) => path.slice(path.lastIndexOf(".") + 1));
      const models = getEngine(client.mesh).registry.models;
      const leaves = Object.fromEntries(models.map(({ info, leaves }) => [info.id, names(leaves).sort()]));
      return { leaves, tools: client.mesh.poolStatus().tools!.models.map(({ name }) => name) };
    };
    const { leaves: known } = await leavesWith({});
    const { leaves, tools: members } = await leavesWith({ capability_query: true, enumerate_models: true });
    const chat = ["chat-completion", "code-generation"];
    assertEquals(leaves, {
      "acme/all": [...chat, "image-captioning", "json-generation", "tool-calling"],
      "acme/plain": chat,
      "acme/silent": chat,
      "openrouter/free": known["openrouter/free"]!,
      "acme/vectors": ["text-embeddings"],
      "acme/painter": ["chat-completion"],
    });
    assertEquals(members, ["openrouter.acme/all", "openrouter.openrouter/free"]);
  });

  it("are asked with access tokens, too", async () => {
    await using endpoint = await startTokenEndpoint();
    const list = {
      data: [{ id: "acme/one", context_length: 32_000, pricing: { prompt: "0.000001", completion: "0.000002" } }],
    };
    await using upstream = await startUpstream(({ path }) =>
      path.endsWith("/key") ? json({ data: { limit: 10, limit_remaining: 0 } }) : json(list)
    );
    const auth = {
      method: "oauth" as const,
      token_url: endpoint.url,
      client_id: "mesh",
      client_secret: "secret-0123456789",
    };
    const queries = { discovery: { model_details: true, enumerate_models: true }, quota: { query_remaining: true } };
    await using client = create({
      config: {
        providers: { or: { connector: "openrouter.gateway.v1", base_url: upstream.url, auth, ...queries } },
        models: { one: { provider: "or", model: "acme/one", capabilities: ["chat-completion"] } },
        pools: { chat: { models: ["one"] } },
      },
    });
    await client.ready();
    const { info } = getEngine(client.mesh).registry.model("one")!;
    assertEquals([info.constraints, info.pricing], [{ context_window: 32_000 }, [{ input: 1, output: 2 }]]);
    assertEquals(client.mesh.poolStatus().chat!.models[0]!.reason, "quota_exhausted");
    assertEquals(
      upstream.requests.map(({ headers }) => headers.authorization), // the list, its descriptions, the quota
      Array(3).fill(`Bearer ${endpoint.token}`),
    );
    assertEquals(endpoint.calls, 1);
  });

  it("are not asked for what they do not report, which check and the start name by the setting's path", async () => {
    await using upstream = await startUpstream(status(500));
    const queries = {
      discovery: { model_details: true, capability_query: true },
      pricing: { query: true },
      quota: { query_current: true },
    };
    const client = create({
      config: {
        providers: { g: { connector: "groq.api.v1", base_url: upstream.url, api_key: "key-123456", ...queries } },
        models: { one: { provider: "g", capabilities: ["chat-completion"] } },
        pools: { chat: { models: ["one"] } },
      },
    });
    const traces: string[] = [];
    client.mesh.addSink({ emit: () => {}, trace: ({ message }) => void traces.push(message), flush: async () => {} });
    await client.ready();
    await client.close();
    assertEquals(upstream.calls, 0);
    const keys = ["discovery.model_details", "discovery.capability_query", "pricing.query", "quota.query_current"];
    for (const key of keys) {
      assertMatch(traces.join("\n"), new RegExp(`providers\\.g\\.${key}: has no effect: the vendor`));
    }
    assertEquals(traces.length, keys.length);
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
