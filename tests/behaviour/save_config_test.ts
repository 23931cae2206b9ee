/** Configurations on their way: `saveConfig()`, `ModelMesh.fromYaml()`, `ModelMesh.fromStorage()`. */
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { chmod, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import {
  ConfigError,
  type ConfigSource,
  ConnectorError,
  create,
  memoryStorage,
  MeshConfig,
  MeshError,
  type MeshOptions,
  ModelMesh,
  NoProvidersError,
  SecretNotFoundError,
  stateIn,
  type Storage,
} from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { clientOver, environment, getText, makeFolder, messages, toVendorKey } from "../support/_library.ts";
import { testConfig } from "../support/proxy.ts";
import { ok, startUpstream, status } from "../support/upstream.ts";

const nowhere = "http://127.0.0.1:9/v1";
const env = { ACME_KEY: "key-of-acme-0123456789" };
const document = {
  providers: { acme: { connector: "openai.compatible.v1", base_url: nowhere, api_key: "${secrets:ACME_KEY}" } },
  models: { small: { provider: "acme", capabilities: ["chat-completion"], "pricing.input": 1e-7 } },
  pools: { chat: { models: ["small"], "retry.initial_delay": "1s500ms" }, "*": { strategy: "round-robin" } },
  aliases: { "yes": "chat" },
};
const late = { id: "late", connector: "openai.compatible.v1", base_url: nowhere, models: { late: {} } };
const read = (path: string) => readFile(path, "utf8");

/** A mesh for one test. */
async function withMesh<Result>(
  made: ModelMesh | Promise<ModelMesh>,
  use: (mesh: ModelMesh) => Result | Promise<Result>,
) {
  const mesh = await made;
  try {
    return await use(mesh);
  } finally {
    await mesh.close();
  }
}

/** One that runs by a document. */
async function createMesh(config: ConfigSource, options: MeshOptions = { env }): Promise<ModelMesh> {
  const mesh = new ModelMesh(options);
  await mesh.initialize(config);
  return mesh;
}

/** What its configuration means. */
function describeMeaning(mesh: ModelMesh) {
  const { providers, models, aliases, pools } = getEngine(mesh).settings;
  return { providers, models, aliases, pools };
}

describe("saveConfig() of a path", () => {
  for (const name of ["mesh.yaml", "mesh.yml", "mesh.json"]) {
    it(`writes ${name}, which makes the same mesh again`, async () => {
      await using folder = await makeFolder();
      const path = join(folder.path, name);
      const [pools, meaning] = await withMesh(createMesh(document), async (mesh) => {
        await mesh.addProvider(late);
        await mesh.saveConfig(path);
        return [mesh.poolStatus(), describeMeaning(mesh)];
      });
      await withMesh(ModelMesh.fromYaml(path, { env }), async (mesh) => {
        assertEquals(mesh.poolStatus(), pools);
        assertEquals(describeMeaning(mesh), meaning);
        await mesh.saveConfig(join(folder.path, "again.json"));
      });
      assertEquals(JSON.parse(await read(join(folder.path, "again.json"))).models.late, { provider: "late" });
      assertEquals((await folder.list()).toSorted(), ["again.json", name]); // and no draft
    });
  }

  it("writes references, and nothing of what they stand for", async () => {
    await using folder = await makeFolder();
    const path = join(folder.path, "mesh.yaml");
    await withMesh(createMesh(document), (mesh) => mesh.saveConfig(path));
    const text = await read(path);
    assertStringIncludes(text, "${secrets:ACME_KEY}");
    assertEquals(text.includes(env.ACME_KEY), false);
  });

  it("leaves detection to the next start, unless a provider was added", async () => {
    await using folder = await makeFolder();
    const [first, second] = [join(folder.path, "1.json"), join(folder.path, "2.json")];
    const found = { env: environment({ openai: nowhere }) };
    await withMesh(createMesh({ pools: { "chat-completion": {} } }, found), async (mesh) => {
      await mesh.saveConfig(first);
      await mesh.addProvider(late);
      await mesh.saveConfig(second);
    });
    assertEquals(JSON.parse(await read(first)), { pools: { "chat-completion": {} } });
    assertEquals((await read(second)).includes(toVendorKey("openai")), false);
    const { providers } = JSON.parse(await read(second));
    assertEquals(providers["openai.llm.v1"], { api_key: "${secrets:OPENAI_API_KEY}", base_url: nowhere });
    await withMesh(ModelMesh.fromYaml(second, found), (mesh) => {
      assertEquals(mesh.activeProviders(), ["openai.llm.v1", "late"]);
    });
  });

  it("replaces a file with its permissions, by way of a link too; a new one is for its owner alone", async () => {
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", "old");
    await chmod(path, 0o640);
    const link = join(folder.path, "link.json");
    await symlink(path, link);
    const fresh = join(folder.path, "fresh.json");
    await withMesh(createMesh(document), async (mesh) => {
      await mesh.saveConfig(link);
      await mesh.saveConfig(fresh);
    });
    assertEquals(JSON.parse(await read(path)), document);
    const modes = await Promise.all([path, fresh].map(async (file) => (await stat(file)).mode & 0o777));
    assertEquals(modes, [0o640, 0o600]);
  });

  it("leaves everything as it was when it cannot be written", async () => {
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", "old");
    await withMesh(createMesh(document), async (mesh) => {
      await assertRejects(() => mesh.saveConfig(join(folder.path, "mesh.toml")), ConfigError, '".yaml"');
      const absent = await assertRejects(() => mesh.saveConfig(join(folder.path, "no/mesh.json")), MeshError);
      assertEquals([absent.code, absent.message.includes("its folder does not exist")], ["config_not_saved", true]);
    });
    const strategy = { select: () => undefined, score: () => 0 };
    await withMesh(createMesh({ ...document, pools: { chat: { models: ["small"], strategy } } }), async (mesh) => {
      await assertRejects(() => mesh.saveConfig(path), MeshError, "pools.chat.strategy");
    });
    assertEquals([await read(path), await folder.list()], ["old", ["mesh.json"]]);
  });

  it("has nothing to write before initialize()", async () => {
    const error = await assertRejects(() => new ModelMesh().saveConfig("mesh.json"), MeshError);
    assertEquals(error.code, "not_initialized");
  });
});

describe("ModelMesh.fromYaml()", () => {
  it("says which file does not hold, and why", async () => {
    await using folder = await makeFolder();
    const path = await folder.write("mesh.yaml", "providers: {}\npolls: {}\n");
    const { message } = await assertRejects(() => ModelMesh.fromYaml(path), ConfigError);
    assertStringIncludes(message, path);
    assertMatch(message, /polls: unknown key/);
    await assertRejects(() => ModelMesh.fromYaml(join(folder.path, "no.yaml")), ConfigError, "does not exist");
    const empty = await folder.write("empty.yaml", "pools: { chat-completion: {} }");
    await assertRejects(() => ModelMesh.fromYaml(empty, { env: {} }), NoProvidersError);
  });

  it("reads secrets before it returns", async () => {
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", JSON.stringify(document));
    await assertRejects(() => ModelMesh.fromYaml(path, { env: {} }), SecretNotFoundError, "ACME_KEY");
  });
});

describe("ModelMesh.fromStorage()", () => {
  it("takes up configuration and states that another mesh has left", async () => {
    const storage = memoryStorage();
    await withMesh(createMesh(document, { env, storage: stateIn(storage) }), async (mesh) => {
      mesh.deactivate("small");
      await mesh.saveConfig(storage);
    });
    assertEquals(await storage.list(), ["config", "state"]);
    await withMesh(ModelMesh.fromStorage(storage, { env }), (mesh) => {
      assertEquals(mesh.poolStatus().chat?.models[0]?.reason, "manual");
      mesh.activate("small");
    });
    await withMesh(
      ModelMesh.fromStorage(storage, { env }),
      (mesh) => assertEquals(mesh.poolStatus().chat?.status, "ok"),
    );
  });

  it("says what is wrong with what is there", async () => {
    const storage = memoryStorage();
    await assertRejects(() => ModelMesh.fromStorage(storage), ConfigError, "saveConfig(storage)");
    const cases = [["{", "config"], ["[]", "expected an object"], [
      '{"providers": {}, "polls": {}}',
      "polls: unknown key",
    ], [
      "\xff",
      "",
    ]];
    for (const [text = "", message = ""] of cases) {
      await storage.save("config", Uint8Array.from(text, (character) => character.charCodeAt(0)));
      await assertRejects(() => ModelMesh.fromStorage(storage), ConfigError, message);
    }
  });

  it("blames a storage that fails without its words", async () => {
    const load = () => Promise.reject(new Error("canary5ecret"));
    const broken = Object.assign(Object.create(memoryStorage()), { load, save: load }) as Storage;
    for (
      const call of [
        () => ModelMesh.fromStorage(broken),
        () => withMesh(createMesh(document), (it) => it.saveConfig(broken)),
      ]
    ) {
      const { message } = await assertRejects(call, ConnectorError);
      assertEquals(message.includes("canary5ecret"), false);
    }
  });
});

describe("create() with a storage", () => {
  it("leaves alone what rested when the last client was closed", async () => {
    await using a = await startUpstream(status(500));
    await using b = await startUpstream(ok({ text: "from b" }));
    const storage = memoryStorage();
    const open = () =>
      clientOver({
        upstreams: { a: a.url, b: b.url },
        pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } },
        options: { storage: stateIn(storage) },
      });
    for (let turn = 0; turn < 2; turn++) {
      await using it = open();
      assertEquals(getText(await it.client.chat.completions.create({ messages })), "from b");
    }
    assertEquals([a.calls, b.calls], [1, 2]);
  });

  it("refuses a bare storage, and says what to do", async () => {
    const storage = memoryStorage() as never;
    const { problems } = await assertRejects(
      // deno-lint-ignore require-await -- create() throws at once
      async () => create({ config: testConfig({ upstreams: { a: nowhere } }), storage }),
      ConfigError,
    );
    assertEquals(problems.map(({ path }) => path), ["storage"]);
  });
});

describe("client.explain()", () => {
  it("reports where a call would go and sends nothing, as mesh.explain() does", async () => {
    await using a = await startUpstream(ok());
    await using it = clientOver({ upstreams: { a: a.url, b: a.url } });
    const reported = await it.client.explain({ messages, mesh: { ignore: ["a"] } });
    assertEquals([reported.pool, reported.order.map(({ model }) => model), reported.excluded], [
      "chat",
      ["b"],
      [{ model: "a", reason: "route" }],
    ]);
    await withMesh(createMesh(testConfig({ upstreams: { a: a.url, b: a.url } })), async (mesh) => {
      assertEquals(await mesh.explain({ messages, mesh: { ignore: ["a"] } }), reported);
    });
    assertEquals([a.calls, it.records], [0, []]);
  });

  it("is about the client's pool unless the request names another", async () => {
    const pools = { one: { models: ["a"] }, two: { models: ["b"] } };
    await using it = clientOver({
      upstreams: { a: nowhere, b: nowhere },
      config: { pools },
      options: { pool: "two" },
    });
    assertEquals((await it.client.explain({ messages })).pool, "two");
    assertEquals((await it.client.explain({ messages, model: "one" })).pool, "one");
  });

  it("reads a configuration file first", async () => {
    await using folder = await makeFolder();
    const path = await folder.write("mesh.yaml", MeshConfig.parse(document).toYaml());
    await using client = create({ config: path, env });
    assertEquals((await client.explain({ messages })).order.map(({ model }) => model), ["small"]);
  });
});
