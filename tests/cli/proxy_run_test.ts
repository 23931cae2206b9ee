import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type CommandSetup, inTime, startCommand, withProxyCommand } from "../support/_cli.ts";
import { assertOutput } from "../support/_cli_outputs.ts";
import { goodBody } from "../support/_surface.ts";
import { respond, startUpstream, status } from "../support/upstream.ts";

const key = "canary-key/0123456789+==";

function files(url: string, proxy: Readonly<Record<string, unknown>> = {}): { "mesh.json": string } {
  const provider = { connector: "openai.compatible.v1", base_url: url, api_key: key };
  return {
    "mesh.json": JSON.stringify({
      providers: { first: provider, second: provider },
      models: {
        one: { provider: "first", capabilities: ["chat-completion"] },
        two: { provider: "second", capabilities: ["chat-completion"] },
      },
      pools: { chat: { models: ["one", "two"], strategy: "priority", model_priority: ["one", "two"] } },
      proxy,
    }),
  };
}

function chat(url: string, body: Readonly<Record<string, unknown>> = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...goodBody, ...body }),
  });
}

async function statusWith(url: string, token: string | undefined): Promise<number> {
  const init = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  const response = await fetch(`${url}/v1/models`, init);
  await response.text();
  return response.status;
}

/** Starts a proxy that does not really listen, and stops it once it has printed its start. */
async function greeting(args: readonly string[], setup: CommandSetup) {
  const { shell, code } = startCommand(["proxy", ...args], { listens: false, ...setup });
  await inTime(Promise.race([shell.says("pools:"), code]), shell);
  shell.signal("SIGINT");
  assertEquals(await code, 0, shell.err);
  return shell;
}

describe("modelmesh proxy", () => {
  it("detects providers by the environment, and serves a pool for what they can do", async () => {
    await using upstream = await startUpstream(respond({ text: "detected" }));
    const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: upstream.url, UNRELATED: "x" };
    const { code, out, err } = await withProxyCommand([], { env }, async (url) => {
      const response = await chat(url, { model: "chat-completion" });
      assertEquals((await response.json()).choices[0].message.content, "detected");
      assertEquals(response.headers.get("x-mesh-provider"), "openai.llm.v1");
      assertEquals((await (await chat(url, { model: "openai/gpt-5-mini" })).json()).model, "gpt-5-mini");
    });
    assertEquals([code, out], [0, ""], err);
    assertEquals(upstream.requests[0]?.headers.authorization, `Bearer ${key}`);
    assertMatch(err, /providers: openai\.llm\.v1 \(OPENAI_API_KEY\)/);
    assertMatch(err, /pools: .*chat-completion \(\d+\)/);
    assertNotMatch(err, /canary|UNRELATED/);
  });

  it("serves web pages of the origins that are passed to it, in the demo too", async () => {
    const pages = ["https://app.example", "https://other.example/"];
    const args = ["--demo", ...pages.flatMap((page) => ["--cors-origin", page])];
    const { code, err } = await withProxyCommand(args, {}, async (url) => {
      for (const origin of ["https://app.example", "https://other.example"]) {
        const response = await fetch(`${url}/v1/models`, { headers: { origin } });
        assertEquals([response.status, response.headers.get("access-control-allow-origin")], [200, origin]);
        await response.text();
      }
      const refused = await fetch(`${url}/v1/models`, { headers: { origin: "https://evil.example" } });
      assertEquals([refused.status, (await refused.json()).error.code], [403, "origin_not_allowed"]);
    });
    assertEquals(code, 0, err);
    assertMatch(err, /pages from \\?"https:\/\/evil\.example\\?" are refused/);
  });

  it("writes events as JSON lines on standard error, and nothing on standard output", async () => {
    await using upstream = await startUpstream((request) => request.json().model === "one" ? status(401) : respond());
    const setup = { files: files(upstream.url) };
    const { out, err } = await withProxyCommand(["--config", "mesh.json"], setup, async (url) => {
      const response = await chat(url);
      assertEquals(response.headers.get("x-mesh-model"), "two");
      await response.text();
    });
    assertEquals(out, "");
    const records = err.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    const [warning, rotation, routing] = records;
    assertEquals(records.map(({ type, event }) => [type, event]), [
      ["trace", undefined],
      ["event", "rotation"],
      ["routing", undefined],
    ]);
    assertMatch(warning.message, /answered 401 \(auth\)/);
    assertEquals([rotation.from, rotation.to, rotation.reason], ["one", "two", "auth"]);
    assertEquals(routing.fallback_chain.length, 2);
    assertNotMatch(err, /canary/);
  });

  it("writes lines for people on a terminal", async () => {
    await using upstream = await startUpstream(respond());
    const lineOf = async (env: Record<string, string>) => {
      const setup = { files: files(upstream.url), isTerminal: true, env };
      const { err } = await withProxyCommand(["--config", "mesh.json"], setup, async (url) => {
        await (await chat(url)).body?.cancel();
      });
      assertNotMatch(err, /^\{/m);
      return err;
    };
    assertMatch(await lineOf({ NO_COLOR: "1" }), /^\d\d:\d\d:\d\d routing chat: one ok \(/m);
    // deno-lint-ignore no-control-regex
    assertMatch(await lineOf({}), /^\u001b\[90m\d\d:\d\d:\d\d\u001b\[0m \u001b\[32mrouting\u001b\[0m chat: one ok \(/m);
  });

  it("leaves records to a console sink of the configuration, each printed once", async () => {
    await using upstream = await startUpstream(respond());
    const { "mesh.json": text } = files(upstream.url);
    const observability = { routing: { connector: "mesh.console.v1" } };
    const setup = { files: { "mesh.json": JSON.stringify({ ...JSON.parse(text), observability }) } };
    const linesOf = async (args: readonly string[], isTerminal: boolean) => {
      const { err } = await withProxyCommand(
        ["--config", "mesh.json", ...args],
        { ...setup, isTerminal, env: { NO_COLOR: "1" } },
        async (url) => {
          await (await chat(url)).body?.cancel();
          await (await chat(url, { model: "nothing" })).body?.cancel();
        },
      );
      const isLine = /"type":"(routing|log)"|\d\d:\d\d:\d\d (routing|warning)/;
      return err.split("\n").filter((line) => isLine.test(line)).map((line) => line.startsWith("{") ? "json" : "text");
    };
    assertEquals(await linesOf([], false), ["json", "json"]);
    assertEquals(await linesOf([], true), ["text", "text"]);
    assertEquals(await linesOf(["--log-format", "json"], true), ["json", "json"]);
    assertEquals(await linesOf(["--log-format", "text"], false), ["text", "text"]);
    assertEquals(await linesOf(["--log-level", "error"], false), ["json"], "a refusal is a warning");
  });

  it("writes records in the form of --log-format", async () => {
    await using upstream = await startUpstream(respond());
    for (const [format, isTerminal] of [["json", true], ["text", false]] as const) {
      const setup = { files: files(upstream.url), isTerminal };
      const { err } = await withProxyCommand(["--config", "mesh.json", "--log-format", format], setup, async (url) => {
        await (await chat(url)).body?.cancel();
      });
      assertMatch(err, format === "json" ? /^\{"type":"routing"/m : /^\d\d:\d\d:\d\d routing chat: one ok \(/m);
    }
    const { shell, code } = startCommand(["proxy", "--log-format", "yaml"]);
    assertEquals(await code, 2);
    assertStringIncludes(shell.err, 'The option "--log-format" takes text, json, not "yaml"');
  });

  it("prints its address as JSON when asked, and nothing else on standard output", async () => {
    const setup = { files: files("http://127.0.0.1:9/v1") };
    const { out } = await withProxyCommand(["--config", "mesh.json", "--json"], setup, async (url, shell) => {
      const { pools, ...others } = assertOutput("proxy", shell.out);
      assertEquals(others, { url });
      const [{ models, ...chat }] = pools;
      const capability = "generation.text-generation.chat-completion";
      assertEquals(chat, { name: "chat", capability, strategy: "mesh.priority-selection.v1" });
      assertEquals(models, [
        { name: "one", provider: "first", pricing: null },
        { name: "two", provider: "second", pricing: null },
      ]);
      assertEquals(await (await fetch(`${url}/live`)).json(), { status: "ok" });
    });
    assertMatch(out, /^\{[^\n]*\}\n$/);
  });

  it("takes the tokens of flags, of MODELMESH_TOKEN and of the file alike", async () => {
    const setup = {
      files: files("http://127.0.0.1:9/v1", { auth: { tokens: ["of-the-file-0123456789", "${secrets:OF_A_SECRET}"] } }),
      env: { MODELMESH_TOKEN: "of-the-variable-0123456789", OF_A_SECRET: "of-a-secret-0123456789" },
    };
    const flags = ["--token", "of-flag-one-0123456789", "--token=of-flag-two-0123456789"];
    const { err } = await withProxyCommand(["--config", "mesh.json", ...flags], setup, async (url) => {
      const accepted = ["file", "a-secret", "variable"].map((name) =>
        `of-${name === "a-secret" ? name : `the-${name}`}`
      );
      for (const name of [...accepted, "of-flag-one", "of-flag-two"]) {
        assertEquals(await statusWith(url, `${name}-0123456789`), 200, name);
      }
      for (const token of [undefined, "${secrets:OF_A_SECRET}", "of-flag-one-0123456789,of-flag-two-0123456789"]) {
        assertEquals(await statusWith(url, token), 401, token);
      }
    });
    assertNotMatch(err, /of-[\w-]+-0123456789/, "no token is shown");
  });

  it("is closed by MODELMESH_TOKEN alone", async () => {
    const setup = { files: files("http://127.0.0.1:9/v1"), env: { MODELMESH_TOKEN: "alone-0123456789" } };
    await withProxyCommand(["--config", "mesh.json"], setup, async (url) => {
      assertEquals(await statusWith(url, undefined), 401);
      assertEquals(await statusWith(url, "alone-0123456789"), 200);
    });
  });

  it("listens where the flags say, else the file, else on 127.0.0.1:8080", async () => {
    const inFile = files("http://127.0.0.1:9/v1", { host: "127.0.0.2", port: 8123 });
    const config = ["--config", "mesh.json"];
    const rows = [
      [[...config, "--host", "localhost", "--port", "8999"], inFile, { host: "localhost", port: 8999 }],
      [[...config, "--port", "0"], inFile, { host: "127.0.0.2", port: 0 }],
      [config, inFile, { host: "127.0.0.2", port: 8123 }],
      [config, files("http://127.0.0.1:9/v1", { host: "${secrets:HOST}" }), { host: "127.0.0.3", port: 8080 }],
      [config, files("http://127.0.0.1:9/v1"), { host: "127.0.0.1", port: 8080 }],
    ] as const;
    for (const [args, files, where] of rows) {
      assertEquals((await greeting(args, { files, env: { HOST: "127.0.0.3" } })).served, [{
        ...where,
        listener: undefined, // that of the runtime
        maxConnections: 10_000,
      }]);
    }
  });

  it("warns of an open address without a token, and of slow clients beyond loopback", async () => {
    const setup = { files: files("http://127.0.0.1:9/v1", { listener: "deno" }) };
    const config = ["--config", "mesh.json"];
    const risk = /^Warning: .*0\.0\.0\.0 without a token.*keys/m;
    const open = (await greeting([...config, "--host", "0.0.0.0"], setup)).err;
    assertMatch(open, risk);
    const slow = /^Warning: Deno\.serve .*slow request headers.*serve with proxy\.listener: node, or .*reverse proxy/m;
    assertMatch(open, slow);
    const closed = (await greeting([...config, "--host", "0.0.0.0", "--token", "long-token-0123456789"], setup)).err;
    assertNotMatch(closed, risk);
    assertMatch(closed, slow);
    const node = { files: files("http://127.0.0.1:9/v1", { listener: "node" }) };
    assertNotMatch((await greeting([...config, "--host", "0.0.0.0"], node)).err, slow, "it has time limits");
    for (const host of ["127.0.0.1", "localhost", "::1"]) {
      assertNotMatch((await greeting([...config, "--host", host], setup)).err, /Warning/, host);
    }
  });

  it("warns of a limit of connections that its server does not have", async () => {
    const limited = (listener: string) => ({ files: files("http://127.0.0.1:9/v1", { listener, max_connections: 5 }) });
    const line = /^Warning: proxy\.max_connections has no effect: it requires proxy\.listener: node$/m;
    assertMatch((await greeting(["--config", "mesh.json"], limited("deno"))).err, line);
    assertNotMatch((await greeting(["--config", "mesh.json"], limited("node"))).err, /Warning/);
  });

  it("shows an IPv6 address the way a URL has it", async () => {
    const setup = { files: files("http://127.0.0.1:9/v1") };
    for (const host of ["::1", "[::1]"]) {
      const { err } = await greeting(["--config", "mesh.json", "--host", host, "--port", "8080"], setup);
      assertStringIncludes(err, "listens on http://[::1]:8080\n");
    }
  });

  it("keeps traces below --log-level to itself", async () => {
    const setup = { files: files("http://gpu.example/v1") }; // a warning: the key goes out unencrypted
    const lines = ({ err }: { err: string }) =>
      err.split("\n").filter((line) => line.includes('"type":"trace"')).length;
    for (const [level, count] of [["debug", 3], ["warning", 2], ["error", 0], ["critical", 0]] as const) {
      assertEquals(lines(await greeting(["--config", "mesh.json", "--log-level", level], setup)), count, level);
    }
  });
});
