import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type CommandSetup, inTime, runCommand, startCommand } from "../support/_cli.ts";
import { names, tlsClient, tlsText } from "../support/_tls.ts";

const config = (tls: unknown = { cert: "own.pem", key: "own.key" }, listener?: string) =>
  JSON.stringify({
    providers: {
      local: {
        connector: "openai.compatible.v1",
        base_url: "http://127.0.0.1:9/v1",
        api_key: "key-0123456789",
      },
    },
    models: { small: { provider: "local", capabilities: ["chat-completion"] } },
    pools: { chat: { capability: "chat-completion" } },
    proxy: { tls, listener },
  });

const files = {
  "mesh.json": config(),
  "own.pem": tlsText("server.pem"),
  "own.key": tlsText("server.key"),
};
const args = ["proxy", "--port", "0", "--config", "mesh.json"];

/** Starts a proxy, runs a test on it, and stops it. */
async function withProxy(
  setup: CommandSetup,
  test: (started: ReturnType<typeof startCommand> & { port: number }) => Promise<void>,
): Promise<void> {
  const started = startCommand(args, { files, ...setup });
  const { shell, code } = started;
  await inTime(Promise.race([shell.says("listens on"), code]), shell);
  const url = /listens on (\S+)/.exec(shell.err)?.[1] ?? "";
  assertMatch(url, /^https:\/\/127\.0\.0\.1:\d+$/, shell.err);
  await test({ ...started, port: Number(new URL(url).port) });
  shell.signal("SIGTERM");
  assertEquals([await code, shell.running, started.clock.pending], [0, 0, 0]);
}

/** The name in the certificate that a new connection gets. */
async function served(port: number): Promise<string> {
  const { socket, name, get } = await tlsClient(port);
  assertEquals(await get("/live"), 200);
  socket.destroy();
  return name;
}

describe("proxy.tls", () => {
  const unusable: readonly [what: string, changed: Record<string, string | undefined>, expected: readonly string[]][] =
    [
      ["a missing certificate", { "own.pem": undefined }, ["proxy.tls.cert", '"own.pem" cannot be read', "not exist"]],
      ["a missing key", { "own.key": undefined }, ["proxy.tls.key", '"own.key" cannot be read', "not exist"]],
      ["rubbish", { "own.pem": "rubbish" }, ["proxy.tls.cert", "has no certificate", '"own.pem"']],
      ["the key of another", { "own.key": tlsText("other.key") }, ["proxy.tls.key", "is not the key", '"own.key"']],
      [
        "an expired certificate",
        { "own.pem": tlsText("expired.pem"), "own.key": tlsText("other.key") },
        ["proxy.tls.cert", "has expired", '"own.pem"'],
      ],
    ];

  for (const [what, changed, expected] of unusable) {
    it(`ends the start with 1 for ${what}, and nothing listens`, async () => {
      const present = Object.entries({ ...files, ...changed }).filter((file): file is [string, string] =>
        file[1] !== undefined
      );
      const { shell, code } = startCommand(args, { files: Object.fromEntries(present) });
      assertEquals([await inTime(code, shell), shell.running, shell.out], [1, 0, ""]);
      for (const text of expected) assertStringIncludes(shell.err, text);
      assertEquals(shell.err.includes("PRIVATE KEY"), false);
    });

    it(`is a problem of modelmesh check: ${what}`, async () => {
      const present = Object.entries({ ...files, ...changed }).filter((file): file is [string, string] =>
        file[1] !== undefined
      );
      const { code, out, err } = await runCommand(["check", "mesh.json"], { files: Object.fromEntries(present) });
      assertEquals([code, out], [1, ""]);
      for (const text of expected) assertStringIncludes(err, text);
      assertEquals(err.includes("PRIVATE KEY"), false);
    });

    it(`is served as before when its files come to hold ${what}, and that is reported once`, async () => {
      await withProxy({}, async ({ port, files: now, clock, shell }) => {
        for (const [name, text] of Object.entries(changed)) {
          if (text === undefined) now.delete(name);
          else now.set(name, text);
        }
        for (let look = 0; look < 5; look++) await clock.advance(400);
        const lines = shell.err.split("\n").filter((line) => line.includes("The certificate before stays"));
        assertEquals(lines.length, 1, shell.err);
        for (const text of expected) assertStringIncludes(lines[0]!.replaceAll('\\"', '"'), text);
        assertEquals(await served(port), names["server.pem"]);
        now.set("own.pem", tlsText("other.pem")).set("own.key", tlsText("other.key"));
        for (let look = 0; look < 2; look++) await clock.advance(400);
        assertEquals(await served(port), names["other.pem"]);
      });
    });
  }

  for (const listener of [undefined, "node"]) {
    it(`is taken anew when its files change, listener: ${listener}; connections that are open go on`, async () => {
      await withProxy({ files: { ...files, "mesh.json": config(undefined, listener) } }, async (proxy) => {
        const before = await tlsClient(proxy.port);
        assertEquals([before.name, await before.get("/live")], [names["server.pem"], 200]);
        proxy.files.set("own.pem", tlsText("other.pem"));
        await proxy.clock.advance(400); // between both files: no look finds the same twice
        proxy.files.set("own.key", tlsText("other.key"));
        for (let look = 0; look < 2; look++) await proxy.clock.advance(400);
        assertEquals([await served(proxy.port), await before.get("/live")], [names["other.pem"], 200]);
        assertStringIncludes(proxy.shell.err, "The certificate of proxy.tls has changed");
        assertEquals(proxy.shell.err.includes("before stays"), false, proxy.shell.err);
        before.socket.destroy();
      });
    });
  }

  it("is not a problem of modelmesh check where it is valid", async () => {
    const { code, err } = await runCommand(["check", "mesh.json"], { files });
    assertEquals([code, err], [0, ""]);
  });

  const malformed: readonly [what: string, tls: unknown, expected: string][] = [
    ["no key", { cert: "own.pem" }, "proxy.tls.key"],
    ["no certificate", { key: "own.key" }, "proxy.tls.cert"],
    ["an empty path", { cert: "", key: "own.key" }, "proxy.tls.cert"],
    ["a switch", true, "proxy.tls"],
    ["a key of another name", { cert: "own.pem", key: "own.key", ca: "ca.pem" }, "proxy.tls.ca"],
  ];

  for (const [what, tls, expected] of malformed) {
    it(`is refused with ${what}`, async () => {
      const { shell, code } = startCommand(args, { files: { ...files, "mesh.json": config(tls) } });
      assertEquals([await inTime(code, shell), shell.running], [1, 0]);
      assertStringIncludes(shell.err, expected);
    });
  }

  it("asks for a restart when it names other files", async () => {
    await withProxy({}, async ({ shell, files: now }) => {
      now.set("mesh.json", config({ cert: "another.pem", key: "own.key" }));
      shell.signal("SIGHUP");
      await inTime(shell.says("Reloaded"), shell);
      assertStringIncludes(shell.err, "proxy.tls has changed: it takes effect after a restart");
    });
  });
});
