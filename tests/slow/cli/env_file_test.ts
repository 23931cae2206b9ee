/** `--env-file`: variables of files, as if the process had been started with them. */
import { assert, assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { runCommand, spawnCommand, withProxyCommand } from "../../support/_cli.ts";
import { makeFolder } from "../../support/_library.ts";
import { goodBody } from "../../support/_surface.ts";
import { respond, startUpstream } from "../../support/upstream.ts";

const secret = "sk-ab$cd1-0123456789";

describe("--env-file", () => {
  it("gives a proxy its providers: the last file wins, and what is set wins over all, unless it is blank", async () => {
    const files = {
      "one.env": `OPENAI_API_KEY=${secret}\nOPENAI_BASE_URL=http://127.0.0.1:9/one\nGROQ_API_KEY=gsk-0123456789`,
      "two.env": "export OPENAI_BASE_URL='http://127.0.0.1:9/two' # later\nGROQ_BASE_URL=http://127.0.0.1:9/two",
    };
    const env = { GROQ_BASE_URL: "http://127.0.0.1:9/set", OPENAI_BASE_URL: " " };
    const { code, err } = await withProxyCommand(
      ["--env-file", "one.env", "--env-file=two.env"],
      { env, files },
      (_, shell) => {
        const variables = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "GROQ_API_KEY", "GROQ_BASE_URL"];
        const values = variables.map((name) => shell.variables[name]);
        assertEquals(values, [secret, "http://127.0.0.1:9/two", "gsk-0123456789", "http://127.0.0.1:9/set"]);
        return shell.says("(OPENAI_API_KEY)");
      },
    );
    assertEquals(code, 0);
    assertStringIncludes(err, "(GROQ_API_KEY)");
    assert(!err.includes(secret), err);
  });

  it("is taken by every command, and named by its help", async () => {
    for (const command of ["proxy", "check", "secrets"]) {
      assertStringIncludes((await runCommand([command, "--help"])).out, "--env-file <file>");
      const { code, err } = await runCommand([command, "--env-file", "absent.env"]);
      assertEquals(
        [code, err],
        [1, 'Cannot read "absent.env": the file does not exist, or is not readable\n'],
        command,
      );
    }
    assertStringIncludes((await runCommand(["help"])).out, "--env-file");
    const files = { "a.env": `MESH_SECRETS_PASSPHRASE='of a file'`, "all.env": `KEY=${secret}` };
    const vault = ["--store", "mesh.encrypted-file.v1", "--path", "vault", "--env-file", "a.env"];
    assertEquals((await runCommand(["secrets", "import", "all.env", ...vault], { files })).code, 0);
  });

  it("that has a slip in it is refused with its line and without its text, and nothing is started", async () => {
    const files = { "bad.env": `A=b\nTOKEN ${secret}\n` };
    const { code, err, served } = await runCommand(["proxy", "--env-file", "bad.env"], { files });
    assertEquals([code, served], [1, []]);
    assertStringIncludes(err, 'Cannot read variables from "bad.env":\n  line 2 expected NAME=value');
    assert(!err.includes(secret), err);
  });

  it("reaches a process of its own", async () => {
    await using upstream = await startUpstream(respond());
    await using folder = await makeFolder();
    await folder.write("keys.env", `OPENAI_API_KEY=${secret}\nOPENAI_BASE_URL=${upstream.url}\n`);
    await using child = spawnCommand(["proxy", "--port", "0", "--env-file", "keys.env"], { cwd: folder.path });
    const response = await fetch(`${await child.url()}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...goodBody, model: "chat-completion" }),
    });
    assertEquals([response.status, (await response.json()).choices[0].message.content], [200, "Hello world"]);
    assertEquals(upstream.requests[0]!.headers.authorization, `Bearer ${secret}`);
    child.kill("SIGTERM");
    assertEquals(await child.code, 0, child.err);
  });
});

describe("A file .env with a provider's key in it", () => {
  const files = { ".env": `# mine\nOPENAI_API_KEY=${secret}\nGROQ_API_KEY= \nOTHER=1\n` };

  it("is named where no provider is detected, with what to do", async () => {
    for (const args of [["proxy"], ["proxy", "--config", "mesh.json"]]) {
      const { code, err } = await runCommand(args, { files: { ...files, "mesh.json": "{}" } });
      assertEquals(code, 1);
      assertStringIncludes(err, 'The file ".env" here has OPENAI_API_KEY: pass it with --env-file .env\n');
      assert(!err.includes(secret), err);
    }
    const { code } = await withProxyCommand(["--env-file", ".env"], { files }, () => Promise.resolve());
    assertEquals(code, 0);
  });

  it("is named where a configuration refers to what it has", async () => {
    const provider = { api_key: ["${secrets:OPENAI_API_KEY}", "${secrets:ABSENT}"] };
    const refers = { ...files, "mesh.json": JSON.stringify({ providers: { "openai.llm.v1": provider } }) };
    for (const args of [["proxy", "--config", "mesh.json"], ["check", "mesh.json", "--secrets"]]) {
      const { code, err } = await runCommand(args, { files: refers });
      assertEquals(code, 1);
      assertStringIncludes(err, 'The file ".env" here has OPENAI_API_KEY: pass it with --env-file .env\n');
    }
    const secrets = { store: "mesh.dotenv.v1", path: "keys.env" };
    const stored = {
      ...files,
      "keys.env": "",
      "mesh.json": JSON.stringify({ secrets, providers: { "openai.llm.v1": provider } }),
    };
    const { code, err } = await runCommand(["proxy", "--config", "mesh.json"], { files: stored });
    assertEquals(code, 1);
    assertNotMatch(err, /--env-file/);
  });

  it("is not named where it would not help", async () => {
    const withoutKey = await runCommand(["proxy"], { files: { ".env": "OTHER=1\nOPENAI_API_KEY=\n" } });
    assertNotMatch(withoutKey.err, /--env-file/);
    const passed = await runCommand(["proxy", "--env-file", "a.env"], { files: { ...files, "a.env": "A=b" } });
    assertNotMatch(passed.err, /"\.env"/);
  });
});
