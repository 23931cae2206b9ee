/** Every command as a process of its own, with a terminal and without: on Node the built one. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ChildOptions, spawnCommand } from "../support/_cli.ts";
import { assertOutput, type OutputName } from "../support/_cli_outputs.ts";
import { makeFolder } from "../support/_library.ts";
import { type CommandLine, entryCommand } from "../support/_programs.ts";
import { until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { json, ok, startUpstream } from "../support/upstream.ts";

const token = "t-admin-0123456789";

async function run(args: readonly string[], options: ChildOptions = {}) {
  await using child = spawnCommand(args, options);
  return { code: await child.code, out: child.out, err: child.err };
}

/** The same on a terminal: `script` gives the command one, with or without what it prints on standard error. */
async function runOnTerminal(
  args: readonly string[],
  { hasErrors = true, ...options }: ChildOptions & { readonly hasErrors?: boolean } = {},
) {
  const parts = [...entryCommand("cli"), ...args].map((part) => `'${part.replaceAll("'", "'\\''")}'`);
  const quoted = [...parts, ...(hasErrors ? [] : ["2>/dev/null"])].join(" ");
  const command: CommandLine = ["script", "-qefc", quoted, "/dev/null"];
  await using child = spawnCommand([], { ...options, command });
  return { code: await child.code, out: child.out.replaceAll("\r\n", "\n") };
}

/** Has a conversation on a terminal: each line is typed at a prompt, and Ctrl-D at the last one. */
async function converse(lines: readonly string[], options: ChildOptions) {
  const command: CommandLine = ["script", "-qefc", [...entryCommand("cli"), "chat"].join(" "), "/dev/null"];
  await using child = spawnCommand([], { ...options, command, isTyped: true });
  const countPrompts = () => child.out.split("> ").length - 1;
  for (const [index, line] of [...lines.map((line) => `${line}\n`), "\u0004"].entries()) {
    await until(() => countPrompts() > index);
    child.type(line);
  }
  return { code: await child.code, out: child.out.replaceAll("\r\n", "\n") };
}

const hasScript = spawnSync("script", ["--version"]).status === 0;

if (!hasScript) {
  const line = "script is missing (apt-get install bsdutils): what commands print on a terminal IS NOT TESTED";
  if (process.env.CI) throw new Error(line);
  console.error(`\n!!! ${line}\n`);
}

/** Runs a test beside a proxy that is a process, too. */
async function withProxy(test: (options: ChildOptions & { env: Record<string, string> }) => Promise<void>) {
  const models = { object: "list", data: [{ id: "a", object: "model", created: 1, owned_by: "a" }] };
  await using upstream = await startUpstream(({ path }) => path.endsWith("/models") ? json(models) : ok());
  await using folder = await makeFolder();
  const config = { storage: { path: "state.json" }, proxy: { auth: { tokens: [token] } } };
  await folder.write("mesh.json", JSON.stringify(testConfig({ upstreams: { a: upstream.url }, config })));
  const cwd = folder.path;
  await using proxy = spawnCommand(["proxy", "--config", "mesh.json", "--port", "0"], { cwd });
  const env = { MODELMESH_URL: await proxy.url(), MODELMESH_TOKEN: token };
  await test({ env, cwd });
  proxy.kill("SIGTERM");
  assertEquals(await proxy.code, 0, proxy.err);
}

describe("A command as a process of its own", () => {
  it("reads well without a terminal, and has no color there", async () => {
    await withProxy(async (options) => {
      const rows: [args: string[], out: RegExp][] = [
        [["status"], /^ModelMesh \d[^]*\nPools\n {2}chat {2}ok /],
        [["pools"], /^POOL /],
        [["models"], /^MODEL /],
        [["chat", "Hi"], /^Hello world\n$/],
        [["clients", "create", "app"], /^mm_\S{43}\n$/],
        [["clients", "list"], /^NAME [^]*\napp /],
        [["check", "mesh.json", "--probe"], /^mesh\.json is valid: /],
        [["help", "status"], /^Usage: modelmesh status /],
        [["-v"], /^\d+\.\d+\.\d+\S*\n$/],
        [["init"], /^Wrote modelmesh\.yaml\. /],
      ];
      for (const [args, out] of rows) {
        const result = await run(args, options);
        assertMatch(result.out, out, `${args.join(" ")}: ${result.err}`);
        assertFalse((result.out + result.err).includes("\x1b"), args.join(" "));
      }
      const checked = await run(["check", "modelmesh.yaml"], options);
      assertEquals([checked.code, checked.err], [0, ""]);
      assert((await readFile(join(options.cwd!, "modelmesh.yaml"), "utf8")).includes("# "));
    });
  });

  it("prints JSON of its schema", async () => {
    const store = ["--store", "mesh.dotenv.v1", "--path", "kept.env"];
    await withProxy(async (options) => {
      const rows: [args: string[], name: OutputName][] = [
        [["status"], "status"],
        [["pools"], "pools"],
        [["models"], "models"],
        [["chat", "Hi"], "chat"],
        [["clients", "create", "app"], "client"],
        [["clients", "list"], "clients"],
        [["clients", "update", "app", "--rpm", "9"], "client"],
        [["clients", "rotate", "app"], "client"],
        [["clients", "usage", "app"], "usage"],
        [["clients", "revoke", "app"], "revoked"],
        [["clients", "revoke", "app"], "failure"],
        [["models", "--catalogue"], "catalogue"],
        [["check", "mesh.json"], "check"],
        [["check", "mesh.json", "--probe"], "check"],
        [["check", "mesh.json", "--secrets"], "check"],
        [["check", "wrong.json"], "failure"],
        [["check", "absent.json"], "failure"],
        [["init"], "init"],
        [["secrets", "list", "--store", "mesh.env.v1"], "secrets"],
        [["secrets", "set", "KEY", "sk-one", ...store], "secrets"],
        [["secrets", "import", "more.env", ...store], "secrets"],
        [["secrets", "list", ...store], "secrets"],
        [["secrets", "delete", "KEY", ...store], "secrets"],
        [["secrets", "delete", "KEY", ...store], "failure"],
      ];
      await writeFile(join(options.cwd!, "more.env"), "OTHER=sk-two\n");
      await writeFile(join(options.cwd!, "wrong.json"), '{"polls":{}}');
      for (const [args, name] of rows) {
        const { code, out, err } = await run([...args, "--json"], options);
        assertEquals(code, name === "failure" ? 1 : 0, `${args.join(" ")}: ${err}`);
        assertOutput(name, out);
        assertFalse(/sk-(one|two)/.test(out + err), args.join(" "));
      }
      await using proxy = spawnCommand(["proxy", "--config", "mesh.json", "--port", "0", "--json"], options);
      await until(() => proxy.out.endsWith("\n"), "the proxy has printed its address");
      assertOutput("proxy", proxy.out);
      proxy.kill("SIGTERM");
      assertEquals(await proxy.code, 0, proxy.err);
    });
  });

  it("exits 2 for every usage error, with one line that says what to do", async () => {
    const rows: readonly (readonly string[])[] = [
      ...["chat", "check", "clients", "init", "models", "pools", "proxy", "secrets", "status"].map((
        name,
      ) => [name, "--nonsense"]),
      ["nonsense"],
      ["help", "nonsense"],
      ["check"],
      ["clients"],
      ["clients", "nonsense"],
      ["clients", "create"],
      ["clients", "rotate"],
      ["secrets", "set"],
      ["secrets", "nonsense"],
      ["status", "--interval", "never"],
      ["proxy", "--port", "99999"],
      ["proxy", "--workers", "0"],
      ["proxy", "--workers", "many"],
      ["proxy", "--watch"],
      ["proxy", "--demo", "--workers", "2"],
      ["models", "one", "two"],
    ];
    for (const args of rows) {
      const { code, out, err } = await run(args);
      assertEquals([code, out], [2, ""], `${args.join(" ")}: ${err}`);
      assertMatch(err, /^[^\n]+\n$/, args.join(" "));
    }
  });

  (hasScript ? it : it.skip)("has color on a terminal, unless NO_COLOR is set, and says what it does", async () => {
    await withProxy(async (options) => {
      const shown = await runOnTerminal(["status"], options);
      assertEquals(shown.code, 0, shown.out);
      assertStringIncludes(shown.out, "\x1b[32mactive \x1b[0m");
      const plain = await runOnTerminal(["status"], { ...options, env: { ...options.env, NO_COLOR: "1" } });
      assertFalse(plain.out.includes("\x1b["), plain.out);
      const { out } = await runOnTerminal(["chat", "Hi"], options);
      assertStringIncludes(out, "\r\x1b[KHello world\n\x1b[2mServed by a of a (pool chat, ");
      assertStringIncludes(out, "Waiting for the response\r\x1b[K");
      const checked = await runOnTerminal(["check", "mesh.json", "--probe", "--secrets"], options);
      assertStringIncludes(checked.out, "Looking secrets up in mesh.env.v1\r\x1b[K");
      assertStringIncludes(checked.out, "Probed 1 of 1 provider\r\x1b[K");
      assertStringIncludes(checked.out, "mesh.json is valid: ");
      const asked = await converse(["Hi"], options);
      assertEquals(asked.code, 0, asked.out);
      assertMatch(asked.out, /Conversation with chat\. .*> .*Hello world\n.*Served by a of a .*> /s);
    });
  });

  (hasScript ? it : it.skip)("prints JSON of its schema on a terminal, too: no color, no progress", async () => {
    await withProxy(async (options) => {
      const rows: [args: string[], name: OutputName][] = [
        [["-v"], "version"],
        [["status"], "status"],
        [["pools"], "pools"],
        [["models"], "models"],
        [["models", "--catalogue"], "catalogue"],
        [["chat", "Hi"], "chat"],
        [["clients", "create", "app"], "client"],
        [["clients", "list"], "clients"],
        [["clients", "usage", "app"], "usage"],
        [["clients", "revoke", "app"], "revoked"],
        [["check", "mesh.json", "--probe", "--secrets"], "check"],
        [["check", "absent.json"], "failure"],
        [["init"], "init"],
        [["secrets", "list", "--store", "mesh.env.v1"], "secrets"],
      ];
      for (const [args, name] of rows) {
        const { code, out } = await runOnTerminal([...args, "--json"], { ...options, hasErrors: false });
        assertEquals(code, name === "failure" ? 1 : 0, `${args.join(" ")}: ${out}`);
        assertOutput(name, out);
      }
    });
  });

  it("ends --watch with 0 on SIGINT and on SIGTERM, and by itself when its reader is gone", async () => {
    await withProxy(async (options) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        await using child = spawnCommand(["status", "--watch", "--interval", "50ms"], options);
        while (child.out.split("ModelMesh ").length < 3) await new Promise((go) => setTimeout(go, 10));
        child.kill(signal);
        assertEquals(await child.code, 0, signal);
      }
      const piped = entryCommand("cli").map((part) => `'${part}'`).join(" ");
      const command: CommandLine = ["sh", "-c", `${piped} status --watch --interval 50ms | head -n 1`];
      const { code, out } = await run([], { ...options, command });
      assertEquals([code, out.startsWith("ModelMesh ")], [0, true]);
    });
  });

  it("fails with one line where no proxy answers, and with 2 and one line for a slip", async () => {
    for (const command of ["status", "pools", "models"]) {
      const { code, out, err } = await run([command, "--url", "http://127.0.0.1:9"]);
      assertEquals([code, out, err.split("\n").length], [1, "", 2], err);
      assertStringIncludes(err, 'start one with "modelmesh proxy"');
      const slip = await run([command, "--jsno"]);
      assertEquals([slip.code, slip.out], [2, ""]);
      assertMatch(slip.err, /^Unknown option "--jsno"; did you mean "--json"\? Try: modelmesh \S+ --help\n$/);
    }
  });
});
