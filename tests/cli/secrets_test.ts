/** `modelmesh secrets`: what goes into a store comes out of it where it is needed, and nowhere else. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseDotenv } from "../../src/util/dotenv.ts";
import { assertNoSecret, canaries } from "../support/_canaries.ts";
import { type CommandSetup, type EndedCommand, runCommand } from "../support/_cli.ts";
import { assertOutput } from "../support/_cli_outputs.ts";
import { entryCommand } from "../support/_programs.ts";
import { startAwsSecrets } from "../support/vendors/aws_secrets.ts";

const store = ["--store", "mesh.dotenv.v1"];

/** Runs it, and looks for secrets in all it says. */
async function run(args: readonly string[], setup: CommandSetup = {}): Promise<EndedCommand> {
  const ended = await runCommand(["secrets", ...args], setup);
  assertNoSecret(ended.out + ended.err, args.join(" "));
  assert(!ended.err.includes("Unexpected error"), ended.err);
  return ended;
}

function kept(ended: EndedCommand, path = ".env"): Record<string, string> {
  return Object.fromEntries(parseDotenv(ended.files.get(path) ?? "").entries.map(({ name, value }) => [name, value]));
}

describe("modelmesh secrets set", () => {
  it("stores what is typed, and says so without it", async () => {
    const ended = await run(["set", "KEY", canaries.key, ...store]);
    assertEquals([ended.code, ended.out, ended.err], [0, 'Stored "KEY" in mesh.dotenv.v1\n', ""]);
    assertEquals(kept(ended), { KEY: canaries.key });
  });

  it("takes a value as it is, whatever number it looks like", async () => {
    for (const value of ["007", "1e3", "0x10", "true", "a=b", "${X}", "'quoted'"]) {
      assertEquals(kept(await run(["set", "KEY", value, ...store])), { KEY: value });
    }
  });

  it("reads it from standard input for a dash, without the line end", async () => {
    const inputs = { "one\n": "one", "one\r\n": "one", "two\nlines\n\n": "two\nlines\n", "-x": "-x", " y ": " y " };
    for (const [input, value] of Object.entries(inputs)) {
      assertEquals(kept(await run(["set", "KEY", "-", ...store], { input })), { KEY: value });
    }
    const { code, err, files } = await run(["set", "KEY", "-", ...store], { input: "\n" });
    assertEquals([code, files.size], [2, 0]);
    assertStringIncludes(err, "blank");
  });

  it("writes to the file that is named", async () => {
    const ended = await run(["set", "KEY", "new", ...store, "--path", "b.env"], {
      files: { "b.env": "# b\nKEY=old\n" },
    });
    assertEquals(ended.files.get("b.env"), "# b\nKEY=new\n");
  });

  it("fails where there is nothing to write to", async () => {
    const { code, out, err } = await run(["set", "KEY", canaries.key, "--store", "mesh.env.v1"]);
    assertEquals([code, out], [1, ""]);
    assertMatch(err, /^mesh\.env\.v1 can only be read/);
  });
});

describe("modelmesh secrets import", () => {
  it("stores all that a file has, and says what is odd about it", async () => {
    const text = `export A=${canaries.second}\r\nB="two words"\nC=\nB='last'\n`;
    const ended = await run(["import", "keys.env", ...store], { files: { "keys.env": text } });
    assertEquals([ended.code, ended.out], [0, "Stored 2 secrets in mesh.dotenv.v1: A, B\n"]);
    assertMatch(
      ended.err,
      /^Warning: "B" is given more than once: the last one counts\nWarning: "C" is blank and left out\n$/,
    );
    assertEquals(kept(ended), { A: canaries.second, B: "last" });
  });

  it("stores nothing of a file with a slip in it, and names the lines", async () => {
    const files = { "keys.env": `A=1\n${canaries.base}\nB='${canaries.base}\n` };
    const { code, out, err, files: left } = await run(["import", "keys.env", ...store, "--json"], { files });
    assertEquals([code, left.size], [1, 1]);
    assertOutput("failure", out);
    assertEquals(
      err,
      'Cannot import "keys.env", and nothing was stored:\n  line 2 expected NAME=value, a comment or nothing\n' +
        "  line 3 has an unclosed quote\n",
    );
  });

  it("says what was stored before a store refused the next", async () => {
    const files = { "keys.env": `A=${canaries.key}\nB=${"x".repeat(65_537)}\n` };
    const { code, err } = await run(["import", "keys.env", ...store], { files });
    assertEquals(code, 1);
    assertStringIncludes(err, '"B" is over 65536 bytes');
    const missing = await run(["import", "none.env", ...store]);
    assertEquals([missing.code, missing.out], [1, ""]);
    assertStringIncludes(missing.err, 'Cannot read "none.env"');
  });

  it("takes an empty file for one", async () => {
    const { code, out } = await run(["import", "keys.env", ...store], { files: { "keys.env": "# nothing\n" } });
    assertEquals([code, out], [0, "Stored 0 secrets in mesh.dotenv.v1\n"]);
  });
});

describe("modelmesh secrets list and delete", () => {
  it("lists of the environment the variables of providers that are set, and no other", async () => {
    const env = { GROQ_API_KEY: canaries.key, OPENAI_API_KEY: canaries.key, MISTRAL_API_KEY: " ", OTHER: "x" };
    const { code, out } = await run(["list", "--store", "mesh.env.v1"], { env });
    assertEquals([code, out], [0, "OPENAI_API_KEY\nGROQ_API_KEY\n"]);
    const json = await run(["list", "--store", "mesh.env.v1", "--json"], { env });
    assertEquals(JSON.parse(json.out).names, ["OPENAI_API_KEY", "GROQ_API_KEY"]);
  });

  const files = { ".env": `B=${canaries.key}\nA=${canaries.second}\n` };

  it("list names, one a line, or as JSON", async () => {
    assertEquals((await run(["list", ...store], { files })).out, "A\nB\n");
    const { code, out } = await run(["list", ...store, "--json"], { files });
    assertEquals([code, JSON.parse(out)], [0, { ok: true, store: "mesh.dotenv.v1", names: ["A", "B"] }]);
    assertEquals((await run(["list", ...store], { files: { ".env": "" } })).out, "");
  });

  it("delete one, and fail where there is none", async () => {
    const ended = await run(["delete", "B", ...store], { files });
    assertEquals([ended.code, ended.out, kept(ended)], [0, 'Deleted "B" from mesh.dotenv.v1\n', {
      A: canaries.second,
    }]);
    const { code, out, err } = await run(["delete", "C", ...store], { files });
    assertEquals([code, out, err], [1, "", 'mesh.dotenv.v1 has no secret "C"\n']);
  });

  it("fail for a file that is missing, with what to do", async () => {
    const { code, err } = await run(["list", ...store]);
    assertEquals(code, 1);
    assertStringIncludes(err, 'there is no file ".env". Create it with: modelmesh secrets set');
  });
});

describe("The store of modelmesh secrets", () => {
  it("comes with its settings from a configuration; what is typed wins", async () => {
    const config = JSON.stringify({ secrets: { store: "mesh.dotenv.v1", path: "c.env" } });
    const files = { "mesh.json": config, "c.env": "" };
    const ended = await run(["set", "KEY", canaries.key, "--config", "mesh.json"], { files });
    assertEquals([ended.code, kept(ended, "c.env")], [0, { KEY: canaries.key }], ended.err);
    const typed = await run(["set", "KEY", "x", "--config", "mesh.json", "--path", "d.env"], { files });
    assertEquals([typed.files.get("c.env"), kept(typed, "d.env")], ["", { KEY: "x" }]);
  });

  it("is refused with every problem of a configuration that does not hold", async () => {
    const files = { "mesh.json": '{"secrets": {"store": "mesh.dotnv.v1"}, "polls": {}}' };
    const { code, out, err } = await run(["list", "--config", "mesh.json", "--json"], { files });
    assertEquals([code, JSON.parse(out).problems.length], [1, 2]);
    assertStringIncludes(err, "secrets.store");
    assertEquals((await run(["list", "--config", "none.json"])).code, 1);
  });

  it("is one that the configuration can use afterwards", async () => {
    const passphrase = { MESH_SECRETS_PASSPHRASE: "a passphrase" };
    const args = ["--store", "mesh.encrypted-file.v1", "--path", "secrets.json"];
    const { files } = await run(["set", "KEY", canaries.key, ...args], { env: passphrase });
    const sealed = { "secrets.json": files.get("secrets.json")! };
    assertNoSecret(sealed["secrets.json"], "the file");
    assertEquals((await run(["list", ...args], { env: passphrase, files: sealed })).out, "KEY\n");
    const wrong = await run(["list", ...args], { env: { MESH_SECRETS_PASSPHRASE: canaries.token }, files: sealed });
    assertEquals(wrong.code, 1);
    assertStringIncludes(wrong.err, "MESH_SECRETS_PASSPHRASE is not the one");
  });

  it("may be in a cloud", async () => {
    const env = { AWS_ACCESS_KEY_ID: "AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY: canaries.base };
    const now = () => Date.UTC(2026, 0, 1); // where the command's clock stands
    const secretAccessKey = canaries.base;
    await using vendor = await startAwsSecrets({
      accessKeyId: "AKIAEXAMPLE",
      secretAccessKey,
      region: "eu-west-1",
      now,
    });
    const config = { secrets: { store: "aws.secrets-manager.v1", endpoint: vendor.url } };
    const setup = { env, files: { "mesh.json": JSON.stringify(config), "keys.env": `A=${canaries.key}\nB=b` } };
    const args = ["--config", "mesh.json", "--region", "eu-west-1"];
    assertEquals(
      (await run(["import", "keys.env", ...args], setup)).out,
      "Stored 2 secrets in aws.secrets-manager.v1: A, B\n",
    );
    assertEquals((await run(["delete", "B", ...args], setup)).code, 0);
    assertEquals((await run(["list", ...args], setup)).out, "A\n");
    const refused = await run(["set", "A", canaries.token, ...args], {
      ...setup,
      env: { ...env, AWS_SECRET_ACCESS_KEY: "x" },
    });
    assertEquals([refused.code, refused.out], [1, ""]);
    assertStringIncludes(refused.err, '"A": it answered 400 (InvalidSignatureException): check AWS_ACCESS_KEY_ID');
  });
});

describe("modelmesh secrets as a program", () => {
  it("reads a pipe and writes a file", () => {
    const folder = mkdtempSync(join(tmpdir(), "modelmesh-secrets-"));
    try {
      const path = join(folder, "my.env");
      const [command, ...first] = entryCommand("cli");
      const args = [...first, "secrets", "set", "KEY", "-", ...store, "--path", path];
      const { status, stdout, stderr } = spawnSync(command, args, { input: `${canaries.key}\n`, encoding: "utf8" });
      assertEquals([status, stdout], [0, 'Stored "KEY" in mesh.dotenv.v1\n'], stderr);
      assertNoSecret(stdout + stderr, "the program");
      assertEquals(parseDotenv(readFileSync(path, "utf8")).entries[0]?.value, canaries.key);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
