/** `modelmesh proxy --log-format json`: whatever is printed on standard error, and when, is a line of JSON. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { supervise } from "../../../src/cli/supervisor.ts";
import { asJsonLines } from "../../../src/cli/console_connector.ts";
import { fakeClock } from "../../../src/runtime/test.ts";
import { fakeShell, inTime, runCommand, startCommand, withProxyCommand } from "../../support/_cli.ts";
import { respond, startUpstream } from "../../support/upstream.ts";

/** A record on standard error. */
interface Line {
  readonly type: string;
  readonly timestamp: string;
  readonly message: string;
  readonly severity: string;
  readonly [fact: string]: unknown;
}

/** The lines of a text, each of which has to be a record. */
function readLines(err: string): Line[] {
  assert(err.endsWith("\n"), err);
  return err.slice(0, -1).split("\n").map((line) => {
    const record: Line = JSON.parse(line);
    assertEquals(Object.keys(record)[0], "type", line);
    assertMatch(record.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    return record;
  });
}

const config = (url: string, more: object = {}) =>
  JSON.stringify({
    providers: { first: { connector: "openai.compatible.v1", base_url: url, api_key: "canary-key-0123456789" } },
    models: { one: { provider: "first", capabilities: ["chat-completion"] } },
    pools: { chat: { models: ["one"] } },
    ...more,
  });

const jsonLines = ["--log-format", "json"];

/** Ways to write the option. */
const spellings: readonly (readonly string[])[] = [jsonLines, ["--log-format=json"]];

describe("With --log-format json, standard error is JSON lines", () => {
  it("from the banner to the signal, on a terminal too", async () => {
    await using upstream = await startUpstream(respond());
    for (const spelling of spellings) {
      for (const isTerminal of [false, true]) {
        const setup = { files: { "mesh.json": config(upstream.url) }, isTerminal };
        const { err, code } = await withProxyCommand(["--config", "mesh.json", ...spelling], setup, async (url) => {
          const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] });
          const headers = { "content-type": "application/json" };
          await (await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body })).text();
          await (await fetch(`${url}/nowhere`)).text();
        });
        assertEquals(code, 0);
        const [banner, routing, refused, stop, ...more] = readLines(err);
        assertEquals(more, []);
        assertMatch(banner!.message, /^ModelMesh listens on http:\/\/127\.0\.0\.1:\d+ with the pools chat \(1\)$/);
        assertEquals([banner!.type, banner!.severity, banner!.component], ["trace", "info", "proxy"]);
        assertEquals([banner!.providers, banner!.pools], [
          [{ id: "first", source: "config" }],
          [{ name: "chat", models: 1 }],
        ]);
        assertEquals([routing!.type, refused!.type], ["routing", "log"]);
        assertEquals([stop!.signal, stop!.message.startsWith("SIGTERM: ")], ["SIGTERM", true]);
      }
    }
  });

  it("at reloads, good and bad, and with warnings", async () => {
    await using upstream = await startUpstream(respond());
    const args = ["proxy", "--port", "0", "--config", "mesh.json", "--host", "0.0.0.0", ...jsonLines];
    const served = (listener: string) => config(upstream.url, { proxy: { listener } });
    const { shell, files, code } = startCommand(args, { files: { "mesh.json": served("node") } });
    await inTime(shell.says("listens on"), shell);
    files.set("mesh.json", served("deno"));
    shell.signal("SIGHUP");
    await inTime(shell.says("Reloaded"), shell);
    files.set("mesh.json", '{"pools":');
    shell.signal("SIGHUP");
    await inTime(shell.says("Not reloaded"), shell);
    shell.signal("SIGINT");
    assertEquals(await code, 0);
    const own = readLines(shell.err).filter(({ component }) => component === "proxy");
    const severities = own.map(({ severity, message }) => [severity, message.split(" ", 2).join(" ")]);
    assertEquals(severities, [
      ["warning", "Listening on"],
      ["info", "ModelMesh listens"],
      ["warning", "proxy.listener has"],
      ["warning", "Listening on"],
      ["info", "Reloaded mesh.json"],
      ["error", "Not reloaded,"],
      ["info", "SIGINT: finishing"],
    ]);
  });

  it("in the demo", async () => {
    const { err } = await withProxyCommand(["--demo", ...jsonLines], {}, async () => {});
    assertEquals(readLines(err).map(({ severity }) => severity), ["info", "info"]);
  });

  it("when the proxy cannot start, whatever the reason", async () => {
    await using blocked = await startUpstream(respond());
    const { port } = blocked;
    const files = { "mesh.json": config("http://127.0.0.1:9/v1"), "bad.json": config("no URL", { pool: {} }) };
    const rows: readonly (readonly [args: readonly string[], code: number, says: string])[] = [
      [[], 1, "No providers were detected"],
      [["--config", "nowhere.json"], 1, "nowhere.json"],
      [["--config", "bad.json"], 1, 'did you mean "pools"'],
      [["--config", "mesh.json", "--port", String(port)], 1, "in use"],
      [["--config", "mesh.json", "--port", "http"], 2, '"--port" takes a number'],
      [["--config", "mesh.json", "--wach"], 2, 'did you mean "--watch"?'],
      [["--config", "mesh.json", "--env-file", "nowhere.env"], 1, "nowhere.env"],
      [["--config", "mesh.json", "--workers", "none"], 2, '"--workers" takes'],
      [["--config", "mesh.json", "--token", "with a blank"], 1, "visible ASCII"],
    ];
    for (const spelling of spellings) {
      for (const [args, code, says] of rows) {
        const ended = await runCommand(["proxy", ...args, ...spelling], { files, listens: true });
        const [line, ...more] = readLines(ended.err);
        assertEquals([ended.code, more], [code, []], ended.err);
        assertEquals([line!.severity, line!.type], ["critical", "trace"]);
        assertStringIncludes(line!.message, says);
      }
    }
    const { err } = await runCommand(["proxy", "--config", "bad.json", ...jsonLines], { files });
    const paths = (readLines(err)[0]!.problems as { path: string }[]).map(({ path }) => path);
    assertEquals(paths.toSorted(), ["pool", "providers.first.base_url"]);
    const advised = readLines((await runCommand(["proxy", ...jsonLines])).err)[0]!;
    assertEquals(advised.advice, "Or try it without an API key: modelmesh proxy --demo");
  });

  it("of a supervisor, when workers come and go", async () => {
    const clock = fakeClock();
    const shell = fakeShell();
    const all: { end: (code: number | null) => void; say: (message: unknown) => void }[] = [];
    const start = () => {
      let end: (code: number | null) => void = () => {};
      const ended = new Promise<number | null>((resolve) => end = resolve);
      const worker = { end, say: (_: unknown) => {} };
      all.push(worker);
      return {
        ended,
        send: () => {},
        onMessage: (listener: (message: unknown) => void) => void (worker.say = listener),
      };
    };
    const workers = { cores: 2, start };
    const format = asJsonLines(clock);
    const err = format({ severity: "info", message: "ModelMesh listens" });
    const code = supervise({ shell, workers, runtime: { clock }, count: 2, format });
    const listens = { listening: { port: 8080, out: "", err } };
    all[0]!.say(listens);
    all[1]!.say(listens);
    all[1]!.end(137);
    await inTime(shell.says("restarting"), shell);
    await clock.advance(0);
    all[2]!.say(listens);
    shell.signal("SIGTERM");
    for (const { end } of all) end(0);
    assertEquals(await code, 0);
    const facts = readLines(shell.err).map(({ severity, workers, worker, exit_code, signal }) => ({
      severity,
      workers,
      worker,
      exit_code,
      signal,
    }));
    const none = { workers: undefined, worker: undefined, exit_code: undefined, signal: undefined };
    assertEquals(facts, [
      { ...none, severity: "info" },
      { ...none, severity: "info", workers: 2 },
      { ...none, severity: "error", worker: 2, exit_code: 137 },
      { ...none, severity: "info", worker: 2 },
      { ...none, severity: "info", signal: "SIGTERM" },
    ]);
  });
});
