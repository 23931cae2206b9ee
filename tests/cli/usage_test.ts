import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFileSync } from "node:fs";
import { runCommand } from "../support/_cli.ts";

const manifest = JSON.parse(readFileSync(new URL("../../deno.json", import.meta.url), "utf8")) as { version: string };

/** Arguments that make no sense, and what is said to them. */
const mistakes: readonly (readonly [args: readonly string[], ...said: string[]])[] = [
  [["prxy"], 'Unknown command "prxy"', 'did you mean "proxy"?', "modelmesh --help"],
  [["chekc"], 'did you mean "check"?'],
  [["zzzzzz"], 'Unknown command "zzzzzz"'],
  [["__proto__"], "Unknown command"],
  [["toString"], "Unknown command"],
  [["--prot", "1"], "Unknown command"],
  [["proxy", "--prot", "1"], 'Unknown option "--prot"', 'did you mean "--port"?', "modelmesh proxy --help"],
  [["proxy", "--tokn=x"], 'did you mean "--token"?'],
  [["proxy", "--demo", "--wtach"], 'Unknown option "--wtach"'],
  [["proxy", "-x"], 'Unknown option "-x"'],
  [["proxy", "--__proto__=x"], "Unknown option"],
  [["proxy", "extra"], 'Unexpected argument "extra"'],
  [["proxy", "--", "extra"], 'Unexpected argument "extra"'],
  ...["abc", "70000", "65536", "-1", "8080.5", "0x50", "1e3", "80 80", "8080;ls", "٣"].map(
    (port) => [["proxy", `--port=${port}`], "--port", "0 to 65535"] as const,
  ),
  [["proxy", "--port="], '"--port" needs a value'],
  [["proxy", "--port"], '"--port" needs a value'],
  [["proxy", "--port", "1", "--port", "2"], '"--port" is given more than once'],
  [["proxy", "--host", "a", "--host", "b"], '"--host" is given more than once'],
  [["proxy", "--host", "--demo"], '"--host" needs a value'],
  [["proxy", "--config"], '"--config" needs a value'],
  [["proxy", "--token", ""], '"--token" needs a value'],
  [["proxy", "--token", "  "], '"--token" needs a value'],
  [["proxy", "--token", "good-token", "--token="], '"--token" needs a value'],
  [["proxy", "--log-level", "loud"], "debug, info, warning, error, critical", '"loud"'],
  [["proxy", "--demo", "--config", "mesh.json"], '"--demo"', '"--config"'],
  [["check"], "configuration file"],
  [["check", "a.json", "b.json"], 'Unexpected argument "b.json"'],
  [["check", "a.json", "--port", "1"], 'Unknown option "--port"'],
];

describe("A command line that makes no sense", () => {
  it("exits 2, says why on standard error and where help is, and starts nothing", async () => {
    for (const [args, ...said] of mistakes) {
      const about = args.join(" ");
      const { code, out, err, served } = await runCommand(args, { env: { OPENAI_API_KEY: "sk-0123456789abcdef0123" } });
      assertEquals([code, out, served], [2, "", []], `${about}: ${err}`);
      for (const text of said) assertStringIncludes(err, text, about);
      assertMatch(err, /Try: modelmesh .*--help\n$/, about);
      assertNotMatch(err, /\n\s+at |\.ts:\d/, `${about}: no stack`);
    }
  });

  it("never repeats a token", async () => {
    const rows = [
      ["proxy", "--token", "canary-0123456789", "--prot", "1"],
      ["proxy", "--token=canary-0123456789", "--port=abc"],
      ["proxy", "--token", "canary-0123456789", "--log-level", "loud"],
      ["proxy", "--tokn=canary-0123456789"],
      ["proxy", "--api-key=canary-0123456789"],
    ];
    for (const args of rows) {
      const { code, err } = await runCommand(args);
      assertEquals([code, err.includes("canary")], [2, false], err);
    }
  });

  it("without any command shows what there is", async () => {
    const { code, out, err } = await runCommand([]);
    assertEquals(code, 2);
    assertMatch(out + err, /Usage: modelmesh <command>[^]*\n {2}proxy [^]*\n {2}check /);
  });
});

describe("Help", () => {
  it("is on standard output, with exit code 0", async () => {
    for (const args of [["--help"], ["-h"], ["help"]]) {
      const { code, out, err } = await runCommand(args);
      assertEquals([code, err], [0, ""], args.join(" "));
      assertMatch(out, /Usage: modelmesh <command>[^]*\n {2}proxy [^]*\n {2}check /);
    }
  });

  it("of a command names its options and exit codes, and comes before anything else", async () => {
    const rows: readonly (readonly [args: readonly string[], ...said: string[]])[] = [
      [["proxy", "--help"], "--config", "--host", "--port", "--token", "--demo", "--log-level", "MODELMESH_TOKEN"],
      [["proxy", "-h"], "Usage: modelmesh proxy"],
      [["proxy", "--port", "abc", "--help"], "Usage: modelmesh proxy"],
      [["proxy", "--demo", "--help"], "Usage: modelmesh proxy"],
      [["check", "--help"], "Usage: modelmesh check <file>"],
    ];
    for (const [args, ...said] of rows) {
      const { code, out, err, served } = await runCommand(args);
      assertEquals([code, err, served], [0, "", []], args.join(" "));
      for (const text of [...said, "--json", "--help", "Exit code: 0"]) assertStringIncludes(out, text, args.join(" "));
    }
  });

  it("tells the version that is published", async () => {
    for (const args of [["--version"], ["version"]]) {
      const { code, out, err } = await runCommand(args);
      assertEquals([code, out, err], [0, `${manifest.version}\n`, ""]);
    }
  });
});
