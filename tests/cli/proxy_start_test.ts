import { assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { serverConnectors } from "../../connectors/server.ts";
import { runCli } from "../../src/cli/main.ts";
import { listen } from "../../proxy.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import { type CommandSetup, fakeShell, runCommand } from "../support/_cli.ts";

const key = "canary-key/0123456789+==";
const config = (sections: Readonly<Record<string, unknown>> = {}, provider: Readonly<Record<string, unknown>> = {}) =>
  JSON.stringify({
    providers: {
      local: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1", api_key: key, ...provider },
    },
    models: { small: { provider: "local", capabilities: ["chat-completion"] } },
    pools: { chat: { capability: "chat-completion" } },
    ...sections,
  });

/** A start that has to fail, and strings of its message. */
interface FailedStart extends CommandSetup {
  readonly what: string;
  readonly args?: readonly string[];
  /** The configuration; no file unless given. */
  readonly config?: string;
  readonly expected: readonly string[];
}

const openAi = { OPENAI_API_KEY: key };
const loop = ["this proxy itself", "another port"];

const failedStarts: readonly FailedStart[] = [
  { what: "no file", args: ["--config", "absent.json"], expected: ['"absent.json"', "does not exist"] },
  { what: "no known kind of file", args: ["--config", "mesh.ini"], expected: ["mesh.ini", ".yaml", ".json"] },
  { what: "an empty file", config: " ", expected: ["mesh.json", "empty"] },
  { what: "no provider in sight", expected: ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "--demo"] },
  {
    what: "a placeholder for a key",
    env: { OPENAI_API_KEY: "sk-...", GROQ_API_KEY: " " },
    expected: ["OPENAI_API_KEY"],
  },
  {
    what: "a config without providers, and none in sight",
    config: '{"pools":{}}',
    expected: ["OPENAI_API_KEY", "--demo"],
  },
  {
    what: "missing secrets",
    config: config({}, { api_key: ["${secrets:ABSENT_ONE}", "${secrets:PRESENT}", "${secrets:ABSENT_TWO}"] }),
    env: { PRESENT: key },
    expected: ['"ABSENT_ONE"', '"ABSENT_TWO"', "mesh.env.v1"],
  },
  {
    what: "a secret that is blank",
    config: config({ proxy: { auth: { tokens: ["${secrets:BLANK}"] } } }),
    env: { BLANK: "  " },
    expected: ['"BLANK"'],
  },
  {
    what: "a secret with a control character",
    config: config({}, { api_key: "${secrets:SPLIT}" }),
    env: { SPLIT: `${key}\n${key}` },
    expected: ["providers.local.api_key", "control"],
  },
  {
    what: "a detected key with a space",
    env: { OPENAI_API_KEY: `${key} ${key}` },
    expected: ["OPENAI_API_KEY", "space"],
  },
  { what: "an empty MODELMESH_TOKEN", env: { ...openAi, MODELMESH_TOKEN: "" }, expected: ["MODELMESH_TOKEN"] },
  {
    what: "a MODELMESH_TOKEN of two words",
    env: { ...openAi, MODELMESH_TOKEN: `${key} x` },
    expected: ["MODELMESH_TOKEN"],
  },
  { what: "a token that no header carries", env: openAi, args: ["--token", `${key}é`], expected: ["--token"] },
  {
    what: "bearer asked for, and no token",
    config: config({ proxy: { auth: { method: "bearer" } } }),
    expected: ["proxy.auth.tokens", "there is none"],
  },
  {
    what: "a base URL that is the proxy, by variable",
    env: { ...openAi, OPENAI_BASE_URL: "http://localhost:8080/v1" },
    expected: loop,
  },
  {
    what: "a base URL that is the proxy, on another port",
    env: { ...openAi, OPENAI_BASE_URL: "http://127.0.0.1:9000/v1" },
    args: ["--port", "9000"],
    expected: loop,
  },
  {
    what: "a base URL that is the proxy, by address",
    env: { ...openAi, OPENAI_BASE_URL: "http://[::1]:8080" },
    args: ["--host", "0.0.0.0"],
    expected: loop,
  },
  {
    what: "a base URL that is the proxy, by configuration",
    config: config({ proxy: { port: 8123 } }, { base_url: "http://app.localhost:8123/v1" }),
    expected: ["providers.local.base_url", ...loop],
  },
  {
    what: "a base URL that is the proxy, by secret",
    config: config({}, { base_url: "${secrets:BASE}" }),
    env: { BASE: "http://127.0.0.1:8080/v1" },
    expected: ["providers.local.base_url", ...loop],
  },
];

const fiveMistakes = {
  providers: { local: { connector: "openai.compatibel.v1", base_url: "http://127.0.0.1:9/v1", api_key: "a b" } },
  models: { small: { provider: "locla" } },
  pools: { chat: { models: ["small"], strategy: "round-robbin" } },
  proxy: { port: 65_536 },
};
const fivePaths = [
  "models.small.provider",
  "pools.chat.strategy",
  "providers.local.api_key",
  "providers.local.connector",
  "proxy.port",
];

function createSetup({ config, args = [], ...setup }: FailedStart): [args: string[], setup: CommandSetup] {
  if (config === undefined) return [["proxy", ...args], setup];
  return [["proxy", "--config", "mesh.json", ...args], { ...setup, files: { "mesh.json": config } }];
}

describe("A proxy that cannot start", () => {
  it("exits 1 before a port is bound, and says why without a value of a secret", async () => {
    for (const row of failedStarts) {
      const { code, out, err, served } = await runCommand(...createSetup(row));
      assertEquals([code, out, served], [1, "", []], `${row.what}: ${err}`);
      for (const text of row.expected) assertStringIncludes(err, text, row.what);
      assertNotMatch(err, /canary/, row.what);
      assertNotMatch(err, /Unexpected error|\n\s+at |\.ts:\d/, `${row.what}: a sentence, no stack`);
    }
  });

  it("names a configuration in the folder where no provider is detected, since none is read unasked", async () => {
    for (const name of ["modelmesh.yaml", "modelmesh.json"]) {
      const { code, err } = await runCommand(["proxy"], { files: { [name]: config() } });
      assertEquals(code, 1);
      assertStringIncludes(err, `\nThe file "${name}" here is a configuration: pass it with --config ${name}\n`);
    }
    const { err } = await runCommand(["proxy", "--config", "other.json"], {
      files: { "modelmesh.json": config(), "other.json": '{"pools":{}}' },
    });
    assertNotMatch(err, /modelmesh\.json/);
  });

  it("says all that is wrong with its configuration at once, each with its path", async () => {
    const files = { "mesh.json": JSON.stringify(fiveMistakes) };
    const { code, out, err, served } = await runCommand(["proxy", "--config", "mesh.json"], { files });
    assertEquals([code, out, served], [1, "", []]);
    assertStringIncludes(err, '"mesh.json": 5 problems');
    const paths = [...err.matchAll(/^ {2}(\S+): /gm)].map(([, path]) => path);
    assertEquals(paths.sort(), fivePaths, err);

    const asJson = await runCommand(["proxy", "--config", "mesh.json", "--json"], { files });
    const { ok, problems } = JSON.parse(asJson.out) as { ok: boolean; problems: { path: string }[] };
    assertEquals([asJson.code, ok], [1, false]);
    assertEquals(problems.map(({ path }) => path).sort(), fivePaths);
  });

  it("names --port when the port is busy, and leaves nothing behind", async () => {
    const other = await listen(() => Promise.resolve(new Response("other")), { port: 0 });
    for (const args of [["--config", "mesh.json"], ["--demo"]]) {
      const shell = fakeShell();
      const runtime = testRuntime({ files: { "mesh.json": config() } });
      const typed = ["proxy", ...args, "--port", String(other.port)];
      assertEquals(await runCli(typed, { connectors: serverConnectors, runtime, shell }), 1);
      assertStringIncludes(shell.err, `127.0.0.1:${other.port}`);
      assertStringIncludes(shell.err, "--port");
      assertEquals([shell.out, shell.running, shell.listeners, runtime.clock.pending], ["", 0, 0, 0]);
    }
    assertEquals(await (await fetch(`http://127.0.0.1:${other.port}/`)).text(), "other");
    await other.stop(0);
  });

  it("by a host that is not of this machine says so", async () => {
    const setup = { listens: true, files: { "mesh.json": config() } };
    const args = ["proxy", "--config", "mesh.json", "--host", "no-such-host.invalid", "--port", "0"];
    const { code, err } = await runCommand(args, setup);
    assertEquals(code, 1);
    assertStringIncludes(err, "no-such-host.invalid");
    assertNotMatch(err, /Unexpected error|\n\s+at /);
  });
});
