/** `modelmesh check` on packages that a configuration needs, and with `--secrets` on its secrets. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { cp, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { optionalPackages } from "../../scripts/npm/optional_packages.ts";
import { runCommand, spawnCommand } from "../support/_cli.ts";
import { makeFolder, type TestFolder } from "../support/_library.ts";
import { type CommandLine, nodeStarter, onDeno } from "../support/_programs.ts";
import { testConfig } from "../support/proxy.ts";

type Sections = Readonly<Record<string, unknown>>;

const secret = "sk-of-a-store-0123456789";

function writeConfig(config: Sections, provider: Sections = {}): string {
  return JSON.stringify(testConfig({ upstreams: { a: "http://127.0.0.1:9/v1" }, config, provider }));
}

/** The command line where no package is installed beside it. */
async function bareCommand(folder: TestFolder): Promise<CommandLine> {
  if (onDeno) {
    const { imports } = JSON.parse(await readFile(new URL("../../deno.json", import.meta.url), "utf8"));
    for (const [name, version] of Object.entries(optionalPackages)) imports[`npm:${name}@${version}`] = "./absent.js";
    const map = await folder.write("imports.json", JSON.stringify({ imports }));
    const cli = fileURLToPath(new URL("../../cli.ts", import.meta.url));
    return [execPath, "run", "-A", "--no-check", `--import-map=${map}`, cli];
  }
  const copy = join(folder.path, "installed");
  await cp(dirname(nodeStarter()), copy, { recursive: true });
  return [execPath, join(copy, "modelmesh.cjs")];
}

describe("modelmesh check, where a package is missing", () => {
  const storages: [what: string, storage: Sections, path: string, expected: RegExp][] = [
    ["Redis", { connector: "redis.redis.v1" }, "storage.connector", /"@redis\/client".*npm install @redis\/client/],
    ["PostgreSQL", { connector: "mesh.postgres.v1" }, "storage.connector", /"postgres".*npm install postgres@3/],
    ["MessagePack", { persistence: { format: "msgpack" } }, "storage.persistence.format", /npm install @msgpack/],
  ];
  it("names it as a problem: JWTs", async () => {
    await using folder = await makeFolder();
    const jwt = [{ issuer: "https://login.example.com", audience: "mesh" }];
    await folder.write("mesh.json", writeConfig({ proxy: { auth: { jwt } } }));
    const command = await bareCommand(folder);
    await using child = spawnCommand(["check", "mesh.json", "--json"], { command, cwd: folder.path });
    assertEquals(await child.code, 1, child.err);
    const { problems: [{ path, message }] } = JSON.parse(child.out);
    assertEquals(path, "proxy.auth.jwt");
    assertMatch(message, /"jose".*npm install jose@6/);
  });

  for (const [what, storage, path, expected] of storages) {
    it(`names it as a problem: ${what}`, async () => {
      await using folder = await makeFolder();
      await folder.write("mesh.json", writeConfig({ storage }));
      const command = await bareCommand(folder);
      await using child = spawnCommand(["check", "mesh.json", "--json"], { command, cwd: folder.path });
      assertEquals(await child.code, 1, child.err);
      const { ok, problems } = JSON.parse(child.out);
      assertEquals([ok, problems.map(({ path }: { path: string }) => path)], [false, [path]]);
      assertMatch(problems[0].message, expected);
      assertStringIncludes(child.err, `${path}: `);
    });
  }

  it("says nothing of one that is not needed", async () => {
    await using folder = await makeFolder();
    await folder.write("mesh.json", writeConfig({ storage: {} }));
    const command = await bareCommand(folder);
    await using child = spawnCommand(["check", "mesh.json"], { command, cwd: folder.path });
    assertEquals([await child.code, child.err], [0, ""]);
  });
});

describe("modelmesh check, where settings do not fit their connector", () => {
  const providers = Object.fromEntries(
    ["azure.tts.v1", "cloudflare.workers-ai.v1", "azure.openai.v1", "aws.bedrock.v1"].map((
      id,
    ) => [id, { api_key: "key-0123456789abcdef" }]),
  );
  const observability = { statistics: { connector: "mesh.prometheus.v1" } };
  const missing = [
    "providers.azure.tts.v1.config.region",
    "providers.cloudflare.workers-ai.v1.config.account_id",
    "providers.azure.openai.v1.config.endpoint",
    "providers.aws.bedrock.v1.config.region",
    "observability.statistics",
  ];
  const files = { "mesh.json": JSON.stringify({ providers, observability }) };
  const pathsOf = (out: string) => JSON.parse(out).problems.map(({ path }: { path: string }) => path);

  it("names all that are missing, as the start does", async () => {
    const { code, out } = await runCommand(["check", "mesh.json", "--json"], { files });
    assertEquals([code, pathsOf(out)], [1, missing]);
    const withoutSinks = JSON.stringify({ providers });
    const start = await runCommand(["proxy", "--config", "mesh.json"], { files: { "mesh.json": withoutSinks } });
    assertEquals(start.code, 1);
    for (const path of missing.slice(0, 4)) assertStringIncludes(start.err, `${path}: `);
  });

  it("names what the storage refuses, as the start does", async () => {
    const storage = { connector: "redis.redis.v1", cluster: ["10.0.0.1:6379"], url: "redis://10.0.0.1", db: 1 };
    const files = { "mesh.json": writeConfig({ storage }) };
    const { code, out } = await runCommand(["check", "mesh.json", "--json"], { files });
    assertEquals([code, pathsOf(out)], [1, ["storage.url", "storage.db"]]);
    const start = await runCommand(["proxy", "--config", "mesh.json"], { files });
    assertEquals(start.code, 1);
    for (const path of pathsOf(out)) assertStringIncludes(start.err, `${path}: `);
  });

  it("takes what is missing from the environment, as the start does", async () => {
    const env = {
      AZURE_SPEECH_REGION: "westeurope",
      CLOUDFLARE_ACCOUNT_ID: "account",
      AZURE_RESOURCE_NAME: "acme",
      AWS_REGION: "eu-central-1",
    };
    const { code, out } = await runCommand(["check", "mesh.json", "--json"], { files, env });
    assertEquals([code, pathsOf(out)], [1, ["observability.statistics"]]);
  });

  it("looks at what a secret stands for once that is known", async () => {
    const config = { region: "${secrets:REGION}" };
    const document = {
      providers: { "azure.tts.v1": { api_key: "key-0123456789abcdef", config } },
      secrets: { store: "mesh.dotenv.v1", path: "keys.env" },
    };
    const check = (region: string, args: readonly string[]) =>
      runCommand(["check", "mesh.json", "--json", ...args], {
        files: { "mesh.json": JSON.stringify(document), "keys.env": `REGION=${region}\n` },
      });
    assertEquals((await check("west/europe", [])).code, 0);
    assertEquals((await check("westeurope", ["--secrets"])).code, 0);
    assertEquals(pathsOf((await check("west/europe", ["--secrets"])).out), ["providers.azure.tts.v1.config.region"]);
  });
});

describe("modelmesh check --secrets", () => {
  const config = writeConfig({
    proxy: { auth: { tokens: ["${secrets:CLIENT}"] } },
    secrets: { store: "mesh.dotenv.v1", path: "keys.env" },
  }, { api_key: ["${secrets:ONE}", "${secrets:TWO}"] });
  const check = (keys: string, args: readonly string[] = ["--secrets"], text = config) =>
    runCommand(["check", "mesh.json", ...args], { files: { "mesh.json": text, "keys.env": keys } });

  it("looks every secret up that is named", async () => {
    const { code, out, err } = await check(`ONE=${secret}\nTWO=${secret}-2\nCLIENT=token-0123456789abcdef`);
    assertEquals([code, out, err], [0, "mesh.json is valid: 1 provider, 1 model, 1 pool, 3 secrets\n", ""]);
  });

  it("names each that is missing or blank, with its path, and shows none", async () => {
    const keys = `ONE=${secret}\nTWO=\n`;
    const { code, out, err } = await check(keys, ["--secrets", "--json"]);
    const missing = (path: string, name: string) => ({
      path,
      message: `the secret "${name}" is not in the store "mesh.dotenv.v1"`,
    });
    const problems = [missing("providers.a.api_key[1]", "TWO"), missing("proxy.auth.tokens[0]", "CLIENT")];
    assertEquals([code, JSON.parse(out)], [1, { ok: false, problems }]);
    for (const { path, message } of problems) assertStringIncludes(err, `${path}: ${message}`);
    assert(!`${out}${err}`.includes(secret));
  });

  it("warns of those that a configuration does without, and says what is wrong with a value", async () => {
    const lenient = config.replace('"store":', '"resolution":{"fail_on_missing":false},"store":');
    const token = "CLIENT=token-0123456789abcdef";
    const { code, err } = await check(`ONE=${secret}\n${token}`, ["--secrets"], lenient);
    assertEquals(code, 0);
    assertStringIncludes(err, 'warning: providers.a.api_key: the secret "TWO" is missing');
    const odd = await check(`ONE='${secret} ${secret}'\nTWO=${secret}\n${token}`);
    assertEquals(odd.code, 1);
    assertMatch(odd.err, /providers\.a\.api_key: .*space/);
    assert(!odd.err.includes(secret));
  });

  it("is asked for: without it no store is opened", async () => {
    const { code, out } = await runCommand(["check", "mesh.json"], { files: { "mesh.json": config } });
    assertEquals([code, out], [0, "mesh.json is valid: 1 provider, 1 model, 1 pool\n"]);
    const asked = await runCommand(["check", "mesh.json", "--secrets"], { files: { "mesh.json": config } });
    assertEquals(asked.code, 1);
    assertStringIncludes(asked.err, 'there is no file "keys.env"');
  });
});
