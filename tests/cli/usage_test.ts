import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFileSync } from "node:fs";
import { runCommand } from "../support/_cli.ts";
import { assertOutput } from "../support/_cli_outputs.ts";

const manifest = JSON.parse(readFileSync(new URL("../../deno.json", import.meta.url), "utf8")) as { version: string };

/** Invalid arguments, and strings of the message. */
const mistakes: readonly (readonly [args: readonly string[], ...expected: string[]])[] = [
  [["prxy"], 'Unknown command "prxy"', 'did you mean "proxy"?', "modelmesh --help"],
  [["chekc"], 'did you mean "check"?'],
  [["zzzzzz"], 'Unknown command "zzzzzz"'],
  ...["serve", "start", "run"].map((name) =>
    [[name], `Unknown command "${name}"`, 'did you mean "proxy"?', "modelmesh --help"] as const
  ),
  [["mesh.yaml"], 'Unknown command "mesh.yaml"', 'did you mean "proxy --config mesh.yaml"?'],
  [["proxy", "mesh.yaml"], 'Unexpected argument "mesh.yaml"', 'did you mean "--config mesh.yaml"?'],
  [["proxy", "-c", "mesh.yaml"], 'Unknown option "-c"', 'did you mean "--config"?'],
  [["proxy", "-p", "80"], 'Unknown option "-p"', 'did you mean "--port"?'],
  [["__proto__"], "Unknown command"],
  [["toString"], "Unknown command"],
  [["--prot", "1"], "Unknown command"],
  [["proxy", "--prot", "1"], 'Unknown option "--prot"', 'did you mean "--port"?', "modelmesh proxy --help"],
  [["proxy", "--tokn=x"], 'did you mean "--token"?'],
  [["proxy", "--demo", "--wtach"], 'Unknown option "--wtach"'],
  [["proxy", "-x"], 'Unknown option "-x"'],
  [["proxy", "--__proto__=x"], "Unknown option"],
  [["proxy", "--demo=yes"], '"--demo" takes no value'],
  [["status", "--watch=maybe"], '"--watch" takes no value'],
  [["status", "--json=false"], '"--json" takes no value'],
  [["init", "--force="], '"--force" takes no value'],
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
  ...["0", "-1", "1.5", "two", "257", "1000", "1e1", "Auto"].map(
    (count) => [["proxy", `--workers=${count}`], "--workers", "1 to 256"] as const,
  ),
  [["proxy", "--workers"], '"--workers" needs a value'],
  [["proxy", "--demo", "--cors-origin", "app.example.com"], '"--cors-origin"', '"https://app.example.com"'],
  [["proxy", "--demo", "--workers", "2"], '"--demo"', '"--workers"'],
  [["proxy", "--demo", "--config", "mesh.json"], '"--demo"', '"--config"'],
  [["secrets"], "Missing action", "set, import, list, delete"],
  [["secrets", "get", "KEY"], 'Unknown action "get"', 'did you mean "set"?', "set, import, list, delete"],
  [["secrets", "eat"], 'Unknown action "eat"', "set, import, list, delete"],
  [["secrets", "toString"], "Unknown action: use one of set, import, list, delete"],
  [["secrets", "list"], "--store <id>", "--config <file>"],
  [["secrets", "list", "--store"], '"--store" needs a value'],
  [["secrets", "list", "extra", "--store", "mesh.dotenv.v1"], '"secrets list" takes no argument'],
  [["secrets", "list", "--store", "mesh.dotnv.v1"], 'did you mean "mesh.dotenv.v1"?', "1password.connect.v1"],
  [["secrets", "set", "KEY", "--store", "mesh.dotenv.v1"], "takes a name and a value"],
  [["secrets", "delete", "--store", "mesh.dotenv.v1"], "takes a name"],
  [["secrets", "import", "--store", "mesh.dotenv.v1"], "takes a dotenv file"],
  [["secrets", "set", "KEY", " ", "--store", "mesh.dotenv.v1"], "blank"],
  [["secrets", "set", "KEY", "x".repeat(65_537), "--store", "mesh.dotenv.v1"], "over 65536 bytes"],
  [["secrets", "set", "KEY", "value", "--store", "mesh.memory.v1"], "does not persist secrets"],
  ...["", "../x", "a b", "a/../b", "x".repeat(257), "a\nb", "é", "a;b", "."].map(
    (name) =>
      [["secrets", "set", name, "value", "--store", "mesh.dotenv.v1"], "The name of a secret consists of"] as const,
  ),
  [["status", "extra"], 'Unexpected argument "extra"'],
  [["status", "--interval", "5s"], '"--interval" needs "--watch"'],
  [["status", "--watch", "--interval", "often"], "a duration such as 5s"],
  [["status", "--url", "127.0.0.1:8080"], "http://127.0.0.1:8080"],
  [["status", "--url", "http://a:b@127.0.0.1"], "--token"],
  [["pools", "--url", "http://"], "http://127.0.0.1:8080"],
  [["models", "--catalogue", "--url", "http://127.0.0.1:1"], 'cannot be combined with "--catalogue"'],
  [["chat", ""], "blank"],
  [["chat", "-"], "blank"],
  [["chat", "a", "b"], 'Unexpected argument "b"'],
  [["chat", "a", "--token", "good-token"], "--url"],
  [["chat", "a", "--url", "http://127.0.0.1:1", "--config", "mesh.json"], 'leave out "--url"'],
  [["init", "mesh.json"], ".yaml or .yml"],
  [["init", "a.yaml", "b.yaml"], 'Unexpected argument "b.yaml"'],
  [["cache"], "Missing action", "stats, clear"],
  [["cache", "stat"], 'Unknown action "stat"', 'did you mean "stats"?'],
  [["cache", "clear", "all"], 'Unexpected argument "all"'],
  [["clients"], "Missing action", "create, list, update, rotate, revoke, usage"],
  [["clients", "crate"], 'Unknown action "crate"', 'did you mean "create"?'],
  [["clients", "constructor"], 'Unknown action "constructor"', "create, list, update, rotate, revoke, usage"],
  [["clients", "create"], "takes a name"],
  [["clients", "list", "extra"], "takes no argument"],
  [["clients", "rotate"], "takes a client's name or id"],
  [["clients", "rotate", "x", "--grace", "soon"], '"--grace" takes a duration'],
  [["clients", "revoke", "x", "--grace", "1h"], 'has no option "--grace"'],
  [["clients", "create", "x", "--token-hash", "abc"], '"--token-hash" takes a SHA-256'],
  [["clients", "list", "--rpm", "5"], 'has no option "--rpm"'],
  ...["many", "0", "00", "1.5", "-1"].map(
    (rpm) => [["clients", "create", "x", `--rpm=${rpm}`], '"--rpm" takes an integer'] as const,
  ),
  [["clients", "create", "x", "--daily-limit=-1"], '"--daily-limit" takes an amount in USD'],
  ...["5", "5/", "/1d", "x/1d", "5/1d@", "none"].map(
    (limit) =>
      [
        ["clients", "create", "x", "--budget", "1/1d", `--budget=${limit}`],
        '"--budget" takes USD and a window',
      ] as const,
  ),
  [["clients", "create", "x", "--budget", "1/1d", "--daily-limit", "1"], "cannot be combined"],
  [["clients", "create", "x", "--expires", "soon"], '"--expires" takes a time'],
  [["clients", "update", "x"], "--pool, --model, --guard, --daily-limit"],
  [["clients", "usage", "x", "--csv", "--json"], '"--csv"'],
  [["clients", "list", "--csv"], '"--csv"'],
  ...["tomorrow", "2027-02-29", "2027-1-1"].map(
    (day) => [["clients", "usage", "x", "--from", day], '"--from" takes a day such as 2027-01-31', day] as const,
  ),
  [["clients", "usage", "x", "--to", "soon"], '"--to" takes a day'],
  ...["7x", "7", "yesterday", "-7d"].map(
    (since) =>
      [
        ["usage", `--since=${since}`],
        '"--since" takes a duration such as 7d, or a day such as 2027-01-31',
        since,
      ] as const,
  ),
  [["usage", "--from", "7d"], '"--from" takes a day such as 2027-01-31, not "7d"'],
  [["usage", "--to", "2027-02-29"], '"--to" takes a day'],
  [["usage", "--from", "2027-01-02", "--to", "2027-01-01"], '"--from" is after "--to"'],
  [["usage", "--since", "2027-01-02", "--to", "2027-01-01"], '"--since" is after "--to"'],
  [["usage", "--since", "7d", "--from", "2027-01-01"], '"--since" cannot be combined with "--from"'],
  [["usage", "--by", "day,clint"], '"--by" takes day, client, team, pool, model, tag, separated by commas', '"clint"'],
  [["usage", "--by", "day,client,day"], '"--by" names "day" twice'],
  [["usage", "--csv", "--json"], '"--csv"'],
  [["help", "prxy"], 'did you mean "proxy"?'],
  [["check"], "configuration file"],
  [["check", "a.json", "b.json"], 'Unexpected argument "b.json"'],
  [["check", "a.json", "--port", "1"], 'Unknown option "--port"'],
];

describe("A command line that makes no sense", () => {
  it("exits 2, says why on standard error and where help is, and starts nothing", async () => {
    for (const [args, ...expected] of mistakes) {
      const about = args.join(" ");
      const { code, out, err, served } = await runCommand(args, { env: { OPENAI_API_KEY: "sk-0123456789abcdef0123" } });
      assertEquals([code, out, served], [2, "", []], `${about}: ${err}`);
      for (const text of expected) assertStringIncludes(err, text, about);
      assertMatch(err, /^[^\n]+ Try: modelmesh .*--help\n$/, `${about}: one line`);
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
      ["secrets", "set", "KEY", "-canary-0123456789", "--store", "mesh.dotenv.v1"],
      ["secrets", "set", "KEY", "--canary-0123456789", "--store", "mesh.dotenv.v1"],
      ["secrets", "set", "KEY", "Bearer", "canary-0123456789", "--store", "mesh.dotenv.v1"],
      ["secrets", "set", "KEY=canary-0123456789", "--store", "mesh.dotenv.v1"],
      ["secrets", "set", "KEY=canary-0123456789", "x", "--store", "mesh.dotenv.v1"],
      ["secrets", "set", "canary-0123456789 KEY", "x", "--store", "mesh.dotenv.v1"],
      ["secrets", "canary-0123456789", "KEY", "--store", "mesh.dotenv.v1"],
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
    const rows: readonly (readonly [args: readonly string[], ...expected: string[]])[] = [
      [["proxy", "--help"], "--config", "--host", "--port", "--token", "--demo", "--log-level", "MODELMESH_TOKEN"],
      [["proxy", "-h"], "Usage: modelmesh proxy"],
      [["proxy", "--port", "abc", "--help"], "Usage: modelmesh proxy"],
      [["proxy", "--demo", "--help"], "Usage: modelmesh proxy"],
      [["check", "--help"], "Usage: modelmesh check <file>"],
    ];
    for (const [args, ...expected] of rows) {
      const { code, out, err, served } = await runCommand(args);
      assertEquals([code, err, served], [0, "", []], args.join(" "));
      for (const text of [...expected, "--json", "--help", "Exit code: 0"]) {
        assertStringIncludes(out, text, args.join(" "));
      }
    }
  });

  it("prints the published version", async () => {
    for (const args of [["--version"], ["version"]]) {
      const { code, out, err } = await runCommand(args);
      assertEquals([code, out, err], [0, `${manifest.version}\n`, ""]);
      assertEquals(assertOutput("version", (await runCommand([...args, "--json"])).out), { version: manifest.version });
    }
  });
});
