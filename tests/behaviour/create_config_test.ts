import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  ConfigError,
  create,
  type CreateOptions,
  MeshConfig,
  ModelMesh,
  SecretNotFoundError,
  UnsupportedRequestError,
} from "../../mod.ts";
import { serve } from "../../proxy.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { clientOver, environment, getText, makeFolder, messages, toVendorKey } from "../support/_library.ts";
import { testConfig } from "../support/proxy.ts";
import { refusingUrl, respond, startUpstream, status } from "../support/upstream.ts";

const yaml = (url: string) => `
# a comment
providers:
  acme:
    connector: openai.compatible.v1
    base_url: ${url}
    api_key: \${secrets:ACME_KEY}
models:
  small: { provider: acme, model: acme-small }
pools:
  chat: { models: [small] }
`;

const document = (url: string) => ({
  providers: { acme: { connector: "openai.compatible.v1", base_url: url, api_key: "${secrets:ACME_KEY}" } },
  models: { small: { provider: "acme", model: "acme-small" } },
  pools: { chat: { models: ["small"] } },
});

const env = { ACME_KEY: "key-of-acme-0123456789" };

function paths(error: ConfigError): string[] {
  return error.problems.map(({ path }) => path);
}

describe("create() with a configuration", () => {
  const forms: readonly (readonly [name: string, text: (url: string) => string])[] = [
    ["mesh.yaml", yaml],
    ["mesh.yml", yaml],
    ["mesh.json", (url) => JSON.stringify(document(url))],
  ];
  for (const [name, text] of forms) {
    it(`reads ${name}, secrets and all, in ready()`, async () => {
      await using upstream = await startUpstream(respond());
      await using folder = await makeFolder();
      const client = create({ config: await folder.write(name, text(upstream.url)), env });
      assertEquals((await client.chat.completions.create({ messages })).model, "acme-small");
      assertEquals(upstream.requests[0]?.headers.authorization, "Bearer key-of-acme-0123456789");
      await client.close();
    });
  }

  it("takes a MeshConfig wherever a configuration is taken, and initialize() a path too", async () => {
    await using upstream = await startUpstream(respond());
    await using folder = await makeFolder();
    const path = await folder.write("mesh.yaml", yaml(upstream.url));
    const program = { providers: { acme: { connector: "openai.compatible.v1", base_url: upstream.url } } };
    for (const config of [await MeshConfig.load(path), MeshConfig.parse(document(upstream.url))]) {
      await using client = create({ config, env });
      assertEquals(client.describe().pools.map(({ name }) => name), ["chat"]);
      assertEquals((await client.chat.completions.create({ messages })).model, "acme-small");
      const proxy = await serve({ config: MeshConfig.parse({ ...config.document, ...program }), port: 0 });
      assertEquals(proxy.mesh.listPools().map(({ name }) => name), ["chat"]);
      await proxy.stop();
      const mesh = new ModelMesh({ env });
      await mesh.initialize(config);
      assertEquals(mesh.listPools().map(({ name }) => name), ["chat"]);
      await mesh.close();
    }
    const mesh = new ModelMesh({ env });
    await mesh.initialize(path);
    assertEquals(getEngine(mesh).settings.source, path);
    await mesh.close();
  });

  it("takes a document as an object", async () => {
    await using upstream = await startUpstream(respond());
    const client = create({ config: document(upstream.url), env });
    assertEquals((await client.chat.completions.create({ messages })).model, "acme-small");
    await client.close();
  });

  it("reads a file once for all callers", async () => {
    await using upstream = await startUpstream(respond());
    const folder = await makeFolder();
    const client = create({ config: await folder.write("mesh.yaml", yaml(upstream.url)), env });
    await client.ready();
    await folder[Symbol.asyncDispose]();
    await client.ready();
    assertEquals(getText(await client.chat.completions.create({ messages })), "Hello world");
    await client.close();
  });

  it("takes nested keys in their dotted spelling", async () => {
    await using upstream = await startUpstream(status(500));
    const config = testConfig({
      upstreams: { alpha: upstream.url },
      pool: { "retry.max_attempts": 0, "deactivation.retry_limit": 1 },
      config: { "proxy.request_timeout": "90s" },
    });
    const client = create({ config });
    assertEquals(getEngine(client.mesh).settings.deadlineMs, 90_000);
    await client.chat.completions.create({ messages }).catch(() => {});
    assertEquals([upstream.calls, client.mesh.poolStatus().chat?.standby], [1, 1]);
    await client.close();
  });

  it("reports five mistakes at once, each with its path: an object at once, a file in ready()", async () => {
    const config = {
      providers: { "openai.llm.v1": { api_kye: "x" }, acme: { connector: "openai.compatible.v1" } },
      models: { small: { provider: "amce" } },
      pools: { chat: { models: ["smal"], strategy: "round-robbin" } },
    };
    const expected = [
      "models.small.provider",
      "pools.chat.models[0]",
      "pools.chat.strategy",
      "providers.acme.base_url",
      "providers.openai.llm.v1.api_kye",
    ];
    const error = assertThrows(() => create({ config }), ConfigError);
    assertEquals(paths(error).sort(), expected);
    for (const nearest of ['"api_key"', '"acme"', '"small"', '"round-robin"']) {
      assertStringIncludes(error.message, nearest);
    }
    await using folder = await makeFolder();
    const file = await folder.write("mesh.json", JSON.stringify(config));
    const client = create({ config: file });
    const later = await assertRejects(() => client.chat.completions.create({ messages }), ConfigError);
    assertEquals(paths(later).sort(), expected);
    assertStringIncludes(later.message, file);
    assertEquals((await assertRejects(() => client.ready(), ConfigError)).message, later.message);
  });

  it("names every missing secret, in ready()", async () => {
    const config = {
      ...document(await refusingUrl()),
      providers: {
        acme: { connector: "openai.compatible.v1", base_url: "${secrets:URL}", api_key: "${secrets:NOPE}" },
      },
    };
    const client = create({ config, env });
    const error = await assertRejects(() => client.ready(), SecretNotFoundError);
    assertEquals([...error.names].sort(), ["NOPE", "URL"]);
    assertStringIncludes(error.message, '"NOPE"');
    await assertRejects(() => client.chat.completions.create({ messages }), SecretNotFoundError);
  });

  const unreadable: readonly (readonly [name: string, text: string | undefined, hint: string])[] = [
    ["nowhere.yaml", undefined, "does not exist"],
    ["mesh.txt", JSON.stringify({ pools: {} }), '".yaml", ".yml" or ".json"'],
    ["mesh", "pools: {}", '".yaml", ".yml" or ".json"'],
    ["mesh.json", "pools: {}", "mesh.json"],
    ["mesh.yaml", "pools: [", "mesh.yaml"],
    ["mesh.yaml", "", "empty"],
    ["mesh.yaml", "- chat", "a list"],
  ];
  for (const [name, text, hint] of unreadable) {
    it(`rejects the file ${name} with ${JSON.stringify(text)}`, async () => {
      await using folder = await makeFolder();
      const path = text === undefined ? `${folder.path}/${name}` : await folder.write(name, text);
      const error = await assertRejects(() => create({ config: path }).ready(), ConfigError);
      assertStringIncludes(error.message, hint);
      assertStringIncludes(error.message, path);
    });
  }

  for (const options of [{ providers: ["openai"] }, { strategy: "round-robin" }, { models: ["gpt-4o"] }]) {
    it(`does not go with ${Object.keys(options)}`, () => {
      for (const config of ["mesh.yaml", document("http://127.0.0.1:1/v1")]) {
        assertEquals(paths(assertThrows(() => create({ config, ...options }), ConfigError)), Object.keys(options));
      }
    });
  }

  it("finds providers in the environment when the document has none", async () => {
    await using upstream = await startUpstream(respond());
    const config = { pools: { chat: { capability: "chat-completion", strategy: "round-robin" } } };
    const options: CreateOptions = { env: environment({ groq: upstream.url }) };
    for (
      const client of [create({ config, ...options }), create({ config, ...options, apiKeys: { groq: "other-key" } })]
    ) {
      await client.chat.completions.create({ messages });
      assertEquals(client.describe().providers.map(({ source }) => source), ["GROQ_API_KEY"]);
      await client.close();
    }
    const keys = upstream.requests.map(({ headers }) => headers.authorization);
    assertEquals(keys, [`Bearer ${toVendorKey("groq")}`, "Bearer other-key"]);
  });
});

describe("Calls without a model, by a configuration of several pools", () => {
  const pools = {
    embed: { models: ["vectors"] },
    first: { models: ["alpha"] },
    second: { models: ["beta"] },
  };
  const over = (url: string, options: CreateOptions = {}) =>
    clientOver({
      upstreams: { alpha: url, beta: url },
      config: {
        models: {
          alpha: { provider: "alpha" },
          beta: { provider: "beta", capabilities: ["translation"] },
          vectors: { provider: "alpha", capabilities: ["text-embeddings"] },
        },
        pools,
      },
      options,
    });

  const choices: readonly (readonly [what: string, options: CreateOptions, model: string])[] = [
    ["the first one that serves chat", {}, "alpha"],
    ["the one named by `pool`", { pool: "second" }, "beta"],
    ["the capability", { capability: "translation" }, "beta"],
    ["the one named by `pool`, whatever the capability", { pool: "first", capability: "translation" }, "alpha"],
  ];
  for (const [what, options, model] of choices) {
    it(`go to ${what}: ${JSON.stringify(options)}`, async () => {
      await using upstream = await startUpstream(respond());
      await using one = over(upstream.url, options);
      assertEquals((await one.client.chat.completions.create({ messages })).model, model);
    });
  }

  it("are refused when their pool does no chat", async () => {
    await using one = over(await refusingUrl(), { pool: "embed" });
    const error = await assertRejects(() => one.client.chat.completions.create({ messages }), UnsupportedRequestError);
    assertEquals(error.code, "unsupported_by_pool");
  });

  it("have to have a pool and a capability that exist: an object is refused at once", () => {
    for (
      const [path, options] of [["pool", { pool: "secnod" }], ["capability", { capability: "tranlation" }]] as const
    ) {
      const error = assertThrows(() => over("http://127.0.0.1:1/v1", options), ConfigError);
      assertEquals(paths(error), [path]);
      assertStringIncludes(error.message, path === "pool" ? '"second"' : '"translation"');
    }
  });

  it("may target a capability of the configuration's own", async () => {
    await using upstream = await startUpstream(respond());
    await using own = clientOver({
      upstreams: { alpha: upstream.url },
      config: {
        capabilities: ["generation.text-generation.poetry"],
        models: { alpha: { provider: "alpha", capabilities: ["poetry"] } },
      },
      options: { capability: "poetry" },
    });
    assertEquals((await own.client.chat.completions.create({ messages })).model, "alpha");
  });
});

describe("MeshConfig", () => {
  it("is the same loaded, parsed, and written and read again", async () => {
    await using folder = await makeFolder();
    const url = "http://127.0.0.1:1/v1";
    const loaded = await MeshConfig.load(await folder.write("mesh.yaml", yaml(url)));
    const parsed = MeshConfig.parse(document(url));
    assertEquals({ ...loaded.document }, { ...parsed.document });
    for (const config of [loaded, parsed]) {
      const fromYaml = await MeshConfig.load(await folder.write("again.yaml", config.toYaml()));
      const fromJson = await MeshConfig.load(await folder.write("again.json", config.toJson()));
      assertEquals([fromYaml.toJson(), fromJson.toJson()], [parsed.toJson(), parsed.toJson()]);
      assertEquals(fromJson.toYaml(), parsed.toYaml());
    }
    assert(loaded.toYaml().includes("${secrets:ACME_KEY}"), "a secret reference is not kept as written");
  });

  it("gives what create() and ModelMesh take", async () => {
    await using upstream = await startUpstream(respond());
    const config = MeshConfig.parse(document(upstream.url));
    const client = create({ config: config.document, env });
    assertEquals(getText(await client.chat.completions.create({ messages })), "Hello world");
    await client.close();
    const mesh = new ModelMesh({ env });
    await mesh.initialize(config.document);
    assertEquals(mesh.listPools(), client.mesh.listPools());
    await mesh.close();
  });

  it("throws all problems with the file's name, and changes nothing it was given", async () => {
    await using folder = await makeFolder();
    const file = await folder.write("mesh.json", '{"pools": {"chat-completoin": {}}, "polls": {}}');
    const error = await assertRejects(() => MeshConfig.load(file), ConfigError);
    assertEquals(paths(error).sort(), ["polls", "pools.chat-completoin"]);
    assertStringIncludes(error.message, file);
    assertThrows(() => MeshConfig.parse({ polls: {} }), ConfigError, '"pools"');
    const given = document("http://127.0.0.1:1/v1");
    const before = structuredClone(given);
    MeshConfig.parse(given);
    assertEquals(given, before);
    assert(!Object.isFrozen(given.pools), "the program's own object was frozen");
  });
});
