/** The permissions of docs/permissions.md suffice, and what lacks one names it, without a prompt. */
import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  commands,
  findAddition,
  type PermissionStage,
  request,
  stagePermissions,
  useProxy,
  withFlags,
} from "../support/_permissions.ts";
import type { ChildCommand } from "../support/_cli.ts";
import { happens, until } from "../support/patience.ts";

const [byEnvironment, byConfig, proxy, configured, served, demo, workers] = [...commands.values()] as string[];

async function stop(child: ChildCommand): Promise<void> {
  child.kill("SIGTERM");
  assertEquals(await happens("it ends", child.code), 0, child.err);
  assertNotMatch(child.err, /is ignored|NotCapable/);
}

async function serves(stage: PermissionStage, command: string, model?: string): Promise<void> {
  await using child = stage.start(command);
  await useProxy(await child.url(), model);
  await stop(child);
}

describe("The permissions of the page suffice for", () => {
  it("a program, by its environment and by a configuration", async () => {
    await using stage = await stagePermissions();
    for (const command of [byEnvironment!, `${byConfig} modelmesh.yaml --from-a-checkout`]) {
      const edit = (line: string) => {
        if (!line.endsWith("--from-a-checkout")) return line;
        return withFlags(line.replace(" --from-a-checkout", ""), `--allow-read=${checkout}`);
      };
      await using child = stage.start(command, edit);
      assertEquals([await happens("it ends", child.code), child.out.trim()], [0, "Hello"], child.err);
    }
  });

  it("the proxy, by its environment, by a configuration, in deno serve, as a demo, and as several processes", async () => {
    await using stage = await stagePermissions();
    await serves(stage, proxy!);
    await serves(stage, configured!, "assistant");
    await serves(stage, served!, "assistant");
    await serves(stage, demo!);
    await serves(stage, workers!, "assistant");
  });

  const rows: readonly (readonly [section: string, sections: Record<string, unknown>, env?: Record<string, string>])[] =
    [
      ["storage: { path", { storage: { path: "state/state.json" } }],
      ["storage: { persistence", { storage: { connector: "mesh.memory.v1", persistence: { encryption: true } } }, {
        MESH_STORAGE_KEY: "key-of-the-storage-0123456789-abcdef",
      }],
      ["secrets: { store: mesh.dotenv.v1", { secrets: { store: "mesh.dotenv.v1", path: "secrets.env" } }],
    ];
  for (const [section, sections, env] of rows) {
    it(`a configuration with ${section} …`, async () => {
      await using stage = await stagePermissions(sections, env);
      await stage.folder.write("secrets.env", "OPENAI_API_KEY=sk-of-the-file-0123456789\nMESH_STORAGE_KEY=unused\n");
      await serves(stage, withFlags(configured!, findAddition(section)), "assistant");
    });
  }
});

const checkout = new URL("../../", import.meta.url).pathname;

describe("Without a permission", () => {
  /** Runs a command until it ends; what it printed. */
  async function ends(stage: PermissionStage, command: string, edit?: (command: string) => string): Promise<string> {
    await using child = stage.start(command, edit);
    assertEquals(await happens(() => `it ends: ${child.err}`, child.code), 1, child.err);
    assertNotMatch(child.err, /Unexpected error|Deno requests|Uncaught NotCapable/);
    return child.err;
  }
  const without = (flag: string) => (command: string) => command.replace(new RegExp(` ${flag}=\\S+`), "");

  it("a start fails, and names the option", async () => {
    await using stage = await stagePermissions({ storage: { path: "state/state.json" } });
    const full = withFlags(configured!, findAddition("storage: { path"));
    const rows = [
      [without("--allow-read"), "the file cannot be read", "--allow-read=modelmesh.yaml"],
      [without("--allow-env"), 'cannot look up the secret "OPENAI_API_KEY"', "--allow-env=OPENAI_API_KEY"],
      [
        (line: string) =>
          line.replace("modelmesh.yaml,state", "modelmesh.yaml").replace("state,modelmesh.yaml", "modelmesh.yaml"),
        'cannot read "state"',
        "--allow-read=state --allow-write=state",
      ],
      [without("--allow-write"), 'cannot save "state"', "--allow-write=state"],
      [without("--allow-net"), "Cannot listen on 127.0.0.1:", "--allow-net=127.0.0.1:"],
    ] as const;
    for (const [edit, what, option] of rows) {
      const printed = await ends(stage, full, edit);
      assertStringIncludes(printed, what);
      assertStringIncludes(printed, `is not permitted to`);
      assertStringIncludes(printed, `add ${option}`);
    }
  });

  it("neither the server of Node nor worker processes start", async () => {
    await using stage = await stagePermissions({ proxy: { listener: "node" } });
    assertMatch(
      await ends(stage, configured!, without("--allow-net")),
      /Cannot listen .* add --allow-net=127\.0\.0\.1:\d+/,
    );
    assertMatch(await ends(stage, workers!, without("--allow-run")), /--workers: .* add --allow-run=\/\S+deno/);
    const restricted = (line: string) => line.replace("--allow-env ", "--allow-env=OPENAI_API_KEY ");
    assertMatch(await ends(stage, workers!, restricted), /--workers: .* add --allow-env$/m);
  });

  it("detection says which variables it may not read", async () => {
    await using stage = await stagePermissions();
    const none = await ends(stage, proxy!, without("--allow-env"));
    assertMatch(none, /No providers were detected: this process is not permitted to read environment variables/);
    assertStringIncludes(none, "--allow-env=OPENAI_API_KEY");
    const other = await ends(stage, proxy!, (line) => line.replace(/--allow-env=\S+/, "--allow-env=GROQ_API_KEY"));
    assertMatch(other, /not permitted to read OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY and \d+ more of these/);
  });

  it("to read the token, a proxy warns that it is open; to read the name of its configuration, deno serve does", async () => {
    await using stage = await stagePermissions();
    const restricted = (line: string) => line.replace("MODELMESH_TOKEN,", "").replace("MODELMESH_CONFIG,", "");
    for (const [command, name] of [[configured!, "MODELMESH_TOKEN"], [served!, "MODELMESH_CONFIG"]] as const) {
      await using child = stage.start(command, restricted);
      await child.url();
      assertStringIncludes(child.err, `Warning: ${name} is ignored`);
      assertStringIncludes(child.err, `add --allow-env=${name}`);
    }
  });

  it("to connect to a provider, a request is answered with 502 that names the option", async () => {
    await using stage = await stagePermissions();
    await using child = stage.start(configured!, (line) => line.replace(",api.openai.com", ""));
    const response = await request(await child.url());
    const { error } = await response.json();
    assertEquals([response.status, error.code], [502, "all_attempts_failed"]);
    assertStringIncludes(error.message, `add --allow-net=127.0.0.1:${stage.upstream.port}`);
    assertEquals(stage.upstream.calls, 0);
  });

  it("nothing asks on a terminal, neither at the start nor for a request", async () => {
    await using stage = await stagePermissions({ storage: { path: "state/state.json" } });
    const full = withFlags(configured!, findAddition("storage: { path"));
    for (const flag of ["--allow-read", "--allow-env", "--allow-write", "--allow-net"]) {
      await using child = stage.startOnTerminal(full, without(flag));
      assertEquals(await happens(() => `it ends: ${child.out}`, child.code), 1, child.out);
      assertMatch(child.out, /not permitted to/);
      assertNotMatch(child.out, /Allow\?|requests \w+ access/);
    }
    await using child = stage.startOnTerminal(full, (line) => line.replace(",api.openai.com", ""));
    await until(() => child.out.includes("pools"));
    const [, url = ""] = /listens on (\S+)/.exec(child.out) ?? [];
    const response = await request(url);
    assertEquals([response.status, (await response.json()).error.code], [502, "all_attempts_failed"]);
    child.kill("SIGTERM");
    await happens("it ends", child.code);
    assertNotMatch(child.out, /Allow\?|requests \w+ access/);
  });
});
