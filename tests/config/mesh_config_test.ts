import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { parse } from "@std/yaml";
import {
  checkDocument,
  type ConfigEnvironment,
  loadConfig,
  MeshConfigBase,
} from "../../src/config/load/mesh_config.ts";
import { ConfigError, MeshError } from "../../src/errors.ts";
import { createFiles, known } from "./_known.ts";

const document = {
  secrets: { store: "mesh.env.v1" },
  providers: {
    "acme.llm.v1": {
      api_key: ["${secrets:A}", "$${secrets:B}"],
      execution: { timeout: "1m30s" },
      config: { empty: {}, none: [], odd: "\u007f\n\t\u0000", nested: [[1, [2]], { a: [{}] }] },
    },
    "open.compatible.v1": { base_url: "https://open.example/v1", enabled: false },
  },
  models: {
    "on": { provider: "acme.llm.v1", features: { vision: true, reasoning: false }, weight: 0.5 },
    "4.10": { provider: "acme.llm.v1", model: "yes: #1 'quoted' \"twice\"\u2028 é 😀" },
    "- x": { provider: "acme.llm.v1", model: "017", limits: { rpm: 60 }, pricing: { input: 1e-7, output: 0 } },
  },
  pools: {
    "chat-completion": { models: ["on", "4.10"], retry: { retryable_codes: [429, 500] } },
    "*": { strategy: "priority" },
  },
  aliases: { "null": "on", "~": "chat-completion", "a: b": "on" },
  capabilities: ["legal.contract-review"],
};
const environment: ConfigEnvironment = {
  knownConnectors: known,
  files: createFiles({ "a.json": JSON.stringify(document) }),
};

class MeshConfig extends MeshConfigBase {
  static async load(path: string): Promise<MeshConfig> {
    return new MeshConfig(await loadConfig(path, environment));
  }
  static parse(document: unknown): MeshConfig {
    return new MeshConfig(checkDocument(document, environment));
  }
}

Deno.test("MeshConfig writes a document that reads as the same one", () => {
  const config = MeshConfig.parse(document);
  assertEquals(JSON.parse(config.toJson()), document);
  assertEquals(parse(config.toYaml(), { schema: "core" }), document);
  assertEquals(MeshConfig.parse(parse(config.toYaml(), { schema: "core" })).toYaml(), config.toYaml());
});

Deno.test("MeshConfig loads what it wrote, from either format", async () => {
  const first = await MeshConfig.load("a.json");
  const files = createFiles({ "b.yaml": first.toYaml(), "b.json": first.toJson() });
  for (const name of ["b.yaml", "b.json"]) {
    const again = new MeshConfigBase(await loadConfig(name, { knownConnectors: known, files }));
    assertEquals(again.document, first.document);
    assertEquals(again.source, name);
  }
});

Deno.test("MeshConfig keeps a document of its own and does not show it", () => {
  const given = { providers: { "acme.llm.v1": { api_key: "canary5ecret" } } };
  const config = MeshConfig.parse(given);
  given.providers["acme.llm.v1"].api_key = "other";
  assert(config.toJson().includes("canary5ecret"));
  assert(!Deno.inspect(config, { depth: 9 }).includes("canary5ecret"));
  assertEquals(JSON.stringify(config), "{}");
});

Deno.test("MeshConfig refuses to write what only a program can give", () => {
  const strategy = { select: () => undefined, score: () => 0 };
  const config = MeshConfig.parse({ pools: { "chat-completion": { strategy } } });
  assertThrows(() => config.toYaml(), MeshError, '"pools.chat-completion.strategy" is an object of the program');
  assertThrows(() => config.toJson(), MeshError);
});

Deno.test("MeshConfig names the file in its errors", async () => {
  const files = createFiles({ "mesh.yaml": "polls: {}\n" });
  await assertRejects(
    () => loadConfig("mesh.yaml", { knownConnectors: known, files }),
    ConfigError,
    'configuration "mesh.yaml": polls',
  );
  await assertRejects(
    () => loadConfig("mesh.yaml", { knownConnectors: known }),
    MeshError,
    "this runtime has no file access",
  );
});
