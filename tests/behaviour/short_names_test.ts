/** The names that people write for connectors, providers and models: in configurations, requests and create(). */
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, create, type CreateOptions, MeshConfig, ModelMesh, routingOf } from "../../mod.ts";
import { serverConnectors } from "../../connectors/server.ts";
import { validate } from "../../src/config/build/validate.ts";
import { groupConnectors } from "../../src/config/settings/known.ts";
import { createResponse, customProvider } from "../support/_custom_provider.ts";
import { messages } from "../support/_library.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const knownConnectors = groupConnectors(serverConnectors);
const read = (document: object) => validate(document, { knownConnectors });
const key = "sk-0123456789";

function problemsOf(action: () => unknown): string[] {
  return assertThrows(action, ConfigError).problems.map(({ path, message }) => `${path}: ${message}`);
}

const acme = {
  id: "acme.llm.v1",
  kind: "provider" as const,
  vendor: "acme",
  keyless: true,
  models: [{ id: "acme-1", capabilities: ["chat-completion"] }],
  create: () => customProvider({ complete: () => Promise.resolve({ body: createResponse("Acme") }) }),
};

describe("A short name in a configuration", () => {
  it("means a provider's connector: by vendor, by variable, or by a part of its id", () => {
    const names: Readonly<Record<string, string>> = {
      openai: "openai.llm.v1",
      anthropic: "anthropic.claude.v1",
      claude: "anthropic.claude.v1",
      google: "google.gemini.v1",
      gemini: "google.gemini.v1",
      bedrock: "aws.bedrock.v1",
      aws: "aws.bedrock.v1",
      azure: "azure.openai.v1",
      vertex: "google.vertex.v1",
      kimi: "moonshot.kimi.v1",
      ollama: "ollama.local.v1",
      "openai.llm.v1": "openai.llm.v1",
    };
    for (const [name, id] of Object.entries(names)) {
      const named = read({ providers: { mine: { connector: name, api_key: key } } });
      assertEquals(named.providers.get("mine")?.connector, id, name);
      const entry = read({ providers: { [name]: { api_key: key } } });
      assertEquals([entry.providers.get(name)?.id, entry.providers.get(name)?.connector], [name, id]);
    }
  });

  it("means a connector of every other kind", () => {
    const { secrets, storage, observability, health, sync, guards } = read({
      secrets: { store: "env" },
      storage: { connector: "redis", url: "redis://127.0.0.1" },
      observability: { logging: { connector: "console" }, routing: { connector: "webhook", url: "https://a.example" } },
      discovery: { sync: { connector: "registry-sync" }, health: { connector: "health-monitor" } },
      guards: { one: { connector: "pii" } },
      proxy: { guards: ["one"] },
    });
    assertEquals([secrets?.store, storage?.connector, sync?.connector, health?.connector], [
      "mesh.env.v1",
      "redis.redis.v1",
      "mesh.registry-sync.v1",
      "mesh.health-monitor.v1",
    ]);
    assertEquals(observability.map(({ connector }) => connector).toSorted(), ["mesh.console.v1", "mesh.webhook.v1"]);
    assertEquals(guards?.get("one")?.connector, "mesh.guard.pii.v1");
    assertEquals(read({ cache: { storage: { connector: "redis" } } }).cache?.storage?.connector, "redis.redis.v1");
  });

  it("has its connector's attributes checked, and its conditions", () => {
    assertEquals(
      problemsOf(() => read({ storage: { connector: "redis", hots: "a" } })).map((text) => text.slice(0, 61)),
      [
        'storage.hots: unknown key: "redis.redis.v1" has no such attri',
      ],
    );
    const { warnings } = read({ storage: { connector: "redis", path: "a.json" } });
    assertEquals(warnings.map(({ path }) => path), ["storage.path"]);
  });

  it("that means several is a problem that names them", () => {
    const both = groupConnectors([acme, { ...acme, id: "acme.other.v1" }, ...serverConnectors]);
    const document = { providers: { acme: {}, mine: { connector: "acme" } } };
    const [entry, connector] = problemsOf(() => validate(document, { knownConnectors: both }));
    const candidates = '"acme.llm.v1", "acme.other.v1"';
    assertEquals(entry, `providers.acme: "acme" is ambiguous, use one of ${candidates}: set "connector"`);
    assertEquals(connector, `providers.mine.connector: "acme" is ambiguous, use one of ${candidates}`);
    const [store] = problemsOf(() => read({ storage: { connector: "mesh" } }));
    assertStringIncludes(store!, 'storage.connector: "mesh" is ambiguous, use one of "mesh.');
  });

  it("that means none is a problem with the nearest", () => {
    const [entry, connector] = problemsOf(() => read({ providers: { opnai: {}, mine: { connector: "gemni" } } }));
    assertStringIncludes(entry!, 'providers.opnai: no connector "opnai" is registered, did you mean "openai"?');
    assertStringIncludes(connector!, 'no connector "gemni" is registered, did you mean "gemini"?');
  });

  it("means the only provider of a vendor, for a model and in the lists of a pool", () => {
    const { models, pools } = read({
      providers: { "openai.llm.v1": { api_key: key }, mine: { connector: "claude", api_key: key } },
      models: { mini: { provider: "openai" }, sonnet: { provider: "claude" } },
      pools: {
        chat: { models: ["mini", "sonnet"], providers: ["claude", "openai"], provider_priority: ["anthropic"] },
      },
    });
    assertEquals([...models.values()].map(({ provider }) => provider), ["openai.llm.v1", "mine"]);
    assertEquals(pools.get("chat")?.routing.providerPriority, ["mine"]);
  });

  it("that means several providers of a model is a problem that names them", () => {
    const two = { api_key: key, connector: "openai" };
    assertEquals(problemsOf(() => read({ providers: { a: two, b: two }, models: { mini: { provider: "openai" } } })), [
      'models.mini.provider: "openai" is ambiguous, use one of "a", "b"',
    ]);
  });

  it("is an id first: an entry, a connector of the program", async () => {
    const mesh = new ModelMesh();
    mesh.registerConnector("openai", { ...acme, id: "openai" });
    await mesh.initialize({ providers: { openai: {} }, pools: { chat: { models: ["acme-1"] } } });
    assertEquals(mesh.listModels().map(({ name }) => name), ["acme.acme-1"]);
    await mesh.close();
  });

  it("is accepted in a file as well, and by addProvider()", async () => {
    const config = MeshConfig.parse({
      providers: { openai: { api_key: key } },
      pools: { chat: { models: ["gpt-4o"] } },
    });
    await using client = create({ config });
    await client.mesh.addProvider({ id: "claude", api_key: key });
    assertEquals(client.describe().providers.map(({ id }) => id), ["openai", "claude"]);
    assertEquals(client.mesh.listPools().map(({ name }) => name), ["chat"]);
  });
});

describe("A model's id in a pool", () => {
  it("means its models at every provider, in order", () => {
    const config = {
      providers: { openai: { api_key: key }, second: { connector: "openai", api_key: key } },
      pools: { chat: { models: ["gpt-4o"] } },
    };
    const { pools } = create({ config }).describe();
    assertEquals(pools[0]?.models.map(({ name }) => name), ["openai.gpt-4o", "second.gpt-4o"]);
  });

  it("is accepted beside a short provider, with its vendor, and detected", () => {
    const env = { OPENAI_API_KEY: key };
    const pools = { chat: { models: ["gpt-4o", "openai/gpt-4o-mini"] } };
    for (const config of [{ pools }, { providers: { openai: { api_key: key } }, pools }]) {
      assertEquals(create({ config, env }).describe().pools[0]?.models.map(({ name }) => name), [
        "openai.gpt-4o",
        "openai.gpt-4o-mini",
      ]);
    }
  });
});

describe("A short name in create()", () => {
  const env = { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key, GEMINI_API_KEY: key };
  const list = (options: CreateOptions) => create({ env, ...options }).describe().providers.map(({ id }) => id);

  it("means a provider and a model", () => {
    assertEquals(list({ providers: ["claude", "gemini"] }), ["anthropic.claude.v1", "google.gemini.v1"]);
    assertEquals(list({ env: {}, apiKeys: { claude: key } }), ["anthropic.claude.v1"]);
    const { pools } = create("chat-completion", { env, models: ["gpt-4o"] }).describe();
    assertEquals(pools[0]?.models.map(({ name }) => name), ["openai.gpt-4o"]);
  });

  it("that means none is a problem with the nearest", () => {
    const [problem] = problemsOf(() => list({ providers: ["cluade"] }));
    assertStringIncludes(problem!, 'providers[0]: no provider "cluade", did you mean "claude"?');
  });
});

describe("A short name in a request", () => {
  const scene = async (config: (url: string) => object) => {
    const upstream = await startUpstream(ok());
    const client = create({ config: config(`${upstream.url}`) as NonNullable<CreateOptions["config"]> });
    return { client, [Symbol.asyncDispose]: async () => (await client.close(), await upstream[Symbol.asyncDispose]()) };
  };
  const two = (url: string) => ({
    providers: {
      openai: { api_key: key, base_url: url },
      other: { connector: "mistral", api_key: key, base_url: url },
    },
    pools: { chat: { models: ["gpt-4o", "openai/gpt-4o-mini", "mistral.mistral-medium-2604"] } },
  });

  it("means a model: by its id, and with its vendor", async () => {
    await using one = await scene(two);
    for (const model of ["gpt-4o", "openai/gpt-4o", "openai.gpt-4o"]) {
      const answer = await one.client.chat.completions.create({ model, messages });
      assertEquals(routingOf(answer)?.model, "openai.gpt-4o");
    }
  });

  it("chooses among the models of the pool: by id, vendor and connector", async () => {
    await using one = await scene(two);
    const ask = async (mesh: object) => routingOf(await one.client.chat.completions.create({ messages, mesh }))?.model;
    assertEquals(await ask({ only: ["gpt-4o-mini"] }), "openai.gpt-4o-mini");
    assertEquals(await ask({ only: ["openai/gpt-4o-mini"] }), "openai.gpt-4o-mini");
    assertEquals(await ask({ ignore: ["gpt-4o", "mistral.api.v1"] }), "openai.gpt-4o-mini");
    assertEquals(await ask({ order: ["mistral-medium-2604"] }), "mistral.mistral-medium-2604");
    const error = await assertRejects(() => ask({ only: ["gpt-4"] }));
    assert(String(error).includes("which is not a model, provider or vendor of the pool"));
  });
});
