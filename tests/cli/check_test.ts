import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { serverConnectors } from "../../connectors/server.ts";
import { isProvider } from "../../src/config/settings/known.ts";
import { runCommand } from "../support/_cli.ts";
import { assertOutput } from "../support/_cli_outputs.ts";

const valid = `
providers:
  local:
    connector: openai.compatible.v1
    base_url: http://127.0.0.1:9/v1
    api_key: \${secrets:LOCAL_KEY}
models:
  small: { provider: local, capabilities: [chat-completion] }
  large: { provider: local, capabilities: [chat-completion] }
pools:
  chat: { capability: chat-completion, strategy: round-robin }
`;
const invalid = valid.replace("strategy:", "stratgy:").replace("provider: local,", "provider: locla,");
const mistakes = [["models.small.provider", '"locla"', '"local"'], ["pools.chat.stratgy", '"strategy"']];

/** The day on which a model of the catalogue retires. */
function retiresOn(connector: string, model: string): string {
  const known = serverConnectors.filter(isProvider).find((one) => one.id === connector);
  return known!.models.find(({ id }) => id === model)!.retires!;
}

describe("modelmesh check", () => {
  it("says what a valid file has, and exits 0", async () => {
    const { code, out, err, served } = await runCommand(["check", "mesh.yaml"], { files: { "mesh.yaml": valid } });
    assertEquals([code, out, err, served], [0, "mesh.yaml is valid: 1 provider, 2 models, 1 pool\n", "", []]);
  });

  it("counts what the catalogue brings, and names providers that will list their models", async () => {
    const config = `
providers:
  anthropic.claude.v1: { api_key: k-0123456789 }
  ollama.local.v1: {}
  local: { connector: openai.compatible.v1, base_url: "http://127.0.0.1:9/v1" }
  xai.grok.v1: { api_key: k-0123456789, discovery: { enumerate_models: true } }
  groq.api.v1: { api_key: k-0123456789, discovery: { enumerate_models: false } }
models:
  small: { provider: local, capabilities: [chat-completion] }
  anthropic.claude-haiku-4-5: { provider: anthropic.claude.v1 }
`;
    const { code, out } = await runCommand(["check", "mesh.yaml"], { files: { "mesh.yaml": config } });
    const own = serverConnectors.filter(isProvider).find(({ id }) => id === "anthropic.claude.v1")!.models.length;
    const listed = "what ollama.local.v1 and xai.grok.v1 will list";
    assertEquals([code, out], [
      0,
      `mesh.yaml is valid: 5 providers, 2 models (and ${own - 1} of the catalogue, and ${listed}), 0 pools\n`,
    ]);
  });

  it("says it as JSON, alone on standard output", async () => {
    const { code, out, err } = await runCommand(["check", "mesh.yaml", "--json"], { files: { "mesh.yaml": valid } });
    assertEquals([code, JSON.parse(out), err], [0, { ok: true, problems: [], warnings: [] }, ""]);
    assertMatch(out, /^[^\n]+\n$/, "one line");
  });

  it("says where the cache keeps responses", async () => {
    const redis = "storage: { connector: redis.redis.v1, host: 127.0.0.1 }";
    const kept: readonly (readonly [sections: string, storage: string, line: string])[] = [
      ["cache: {}", "mesh.memory.v1", "in the memory of each process (mesh.memory.v1)"],
      [`cache: {}\n${redis}`, "redis.redis.v1", "in the storage redis.redis.v1"],
      ["cache: {}\nstorage: { connector: mesh.local-file.v1 }", "mesh.memory.v1", "in the memory of each process"],
      [
        `cache: { storage: { connector: mesh.postgres.v1 } }\n${redis}`,
        "mesh.postgres.v1",
        "in the storage mesh.postgres.v1",
      ],
    ];
    for (const [sections, storage, line] of kept) {
      const files = { "mesh.yaml": `${valid}${sections}\n` };
      const { out, err } = await runCommand(["check", "mesh.yaml"], { files });
      assertStringIncludes(out, `1 pool\n  cache: ${line}`, err);
      const json = await runCommand(["check", "mesh.yaml", "--json"], { files });
      assertEquals(assertOutput("check", json.out).cache, { storage });
    }
  });

  it("reports what the storage of the cache lacks, at its own path", async () => {
    const problems = {
      "{ connector: mesh.local-file.v1 }": ["cache.storage.connector", "cannot expire"],
      "{ connector: redis.redis.v1, host: a, url: 'redis://b' }": ["cache.storage.host", ""],
      "{ connector: redis.redis.v1, hots: a }": ["cache.storage.hots", '"host"'],
      "{ connector: redis.redis.v1, prefix: 'a b' }": ["cache.storage.prefix", "expected 1 to 64 letters"],
    };
    for (const [storage, [path, text]] of Object.entries(problems)) {
      const files = { "mesh.yaml": `${valid}cache: { storage: ${storage} }\n` };
      const { code, err } = await runCommand(["check", "mesh.yaml"], { files });
      assertEquals([code, err.includes(`${path}: `), err.includes(text!)], [1, true, true], err);
    }
  });

  it("prints every problem with its path and the nearest name, and exits 1", async () => {
    const { code, out, err } = await runCommand(["check", "mesh.yaml"], { files: { "mesh.yaml": invalid } });
    assertEquals([code, out], [1, ""]);
    assertStringIncludes(err, '"mesh.yaml": 2 problems');
    for (const [path, ...expected] of mistakes) {
      const line = err.split("\n").find((line) => line.trim().startsWith(`${path}: `)) ?? "";
      for (const text of expected) assertStringIncludes(line, text, err);
    }
  });

  it("reports a proxy that requires bearer tokens and has none, together with other problems", async () => {
    const files = {
      "mesh.yaml": `${valid}proxy: { auth: { method: bearer }, tls: { cert: cert.pem, key: key.pem } }\n`,
      "open.yaml": `${valid}proxy: { auth: { method: bearer } }\n`,
    };
    const { code, err } = await runCommand(["check", "mesh.yaml"], { files });
    assertEquals(code, 1);
    for (const problem of ["proxy.auth.tokens: bearer tokens are required", "proxy.tls"]) {
      assertStringIncludes(err, problem);
    }
    const env = { MODELMESH_TOKEN: "token-of-the-proxy-0123456789" };
    assertEquals((await runCommand(["check", "open.yaml"], { files, env })).code, 0, "a variable brings one");
  });

  it("prints problems as JSON", async () => {
    const { code, out } = await runCommand(["check", "mesh.yaml", "--json"], { files: { "mesh.yaml": invalid } });
    const { ok, problems } = JSON.parse(out) as { ok: boolean; problems: { path: string; message: string }[] };
    assertEquals([code, ok], [1, false]);
    assertEquals(problems.map(({ path }) => path).sort(), mistakes.map(([path]) => path));
    assertEquals(problems.every(({ message }) => message !== ""), true);
  });

  it("warns of a pool that no model can be in, and of an exposed endpoint that no model serves", async () => {
    const config = `
providers: { anthropic.claude.v1: { api_key: k-0123456789 } }
pools: { chat-completion: {}, voice: { capability: text-to-speech } }
proxy: { endpoints: [messages, audio/speech] }
`;
    const { code, out } = await runCommand(["check", "mesh.yaml", "--json"], { files: { "mesh.yaml": config } });
    const { warnings } = JSON.parse(out) as { warnings: { path: string }[] };
    assertEquals([code, warnings.map(({ path }) => path)], [0, ["pools.voice", "proxy.endpoints[1]"]]);
    // without providers in the file, those of the environment serve, which may be another one here
    const bare = config.split("\n").filter((line) => !line.startsWith("providers")).join("\n");
    const other = await runCommand(["check", "mesh.yaml", "--json"], { files: { "mesh.yaml": bare } });
    assertEquals(JSON.parse(other.out).warnings, []);
  });

  it("prints warnings of a file that holds, and still exits 0", async () => {
    const remote = valid.replace("http://127.0.0.1:9", "http://gpu.example");
    const files = { "mesh.yaml": remote };
    const { code, out, err } = await runCommand(["check", "mesh.yaml"], { files });
    assertEquals(code, 0);
    assertMatch(out, /^mesh\.yaml is valid/);
    assertMatch(err, /^warning: providers\.local\.base_url: .*unencrypted.*\n$/);
    const asJson = JSON.parse((await runCommand(["check", "mesh.yaml", "--json"], { files })).out);
    assertEquals(asJson.warnings.map(({ path }: { path: string }) => path), ["providers.local.base_url"]);
  });

  it("warns of models that are retired, or will be within 30 days", async () => {
    const document = `
providers:
  openai.llm.v1: { api_key: sk-of-the-test-0123456789 }
models:
  old: { provider: openai.llm.v1, model: gpt-5-nano, capabilities: [chat-completion] }
pools:
  chat: { models: [old] }
`;
    const retires = Date.parse(retiresOn("openai.llm.v1", "gpt-5-nano"));
    const day = 24 * 60 * 60 * 1000;
    const errAt = async (now: number) =>
      (await runCommand(["check", "mesh.yaml"], { files: { "mesh.yaml": document }, now })).err;
    assertEquals(await errAt(retires - 31 * day), "");
    assertMatch(await errAt(retires - 30 * day), /^warning: models\.old: will be retired on \d{4}-\d\d-\d\d\n$/);
    assertMatch(await errAt(retires), /^warning: models\.old: has been retired since \d{4}-\d\d-\d\d\n/);
  });

  it("exits 1 for a file that is not there, or is not a document", async () => {
    const rows = [
      ["absent.yaml", "does not exist"],
      ["mesh.toml", ".yaml"],
      ["empty.yml", "empty"],
      ["list.json", "expected an object, found a list"],
      ["cut.json", "cut.json"],
    ] as const;
    const files = { "mesh.toml": valid, "empty.yml": " \n", "list.json": "[]", "cut.json": '{"pools":' };
    for (const [path, expected] of rows) {
      for (const json of [false, true]) {
        const { code, out, err } = await runCommand(["check", path, ...json ? ["--json"] : []], { files });
        assertEquals(code, 1, path);
        assertStringIncludes(err, expected);
        assertEquals(json ? JSON.parse(out).ok : out, json ? false : "", path);
      }
    }
  });

  it("prints JSON for a problem that has no path, too", async () => {
    const files = { "mesh.json": JSON.stringify({ connectors: { packages: ["absent.zip"] } }) };
    const { code, out, err } = await runCommand(["check", "mesh.json", "--json"], { files });
    const { ok, problems: [problem, ...others] } = JSON.parse(out);
    assertEquals([code, ok, problem.path, others], [1, false, "", []]);
    assertStringIncludes(problem.message, "Connector packages cannot be loaded here");
    assertEquals(err, `${problem.message}\n`);
  });
});
