/** The default export of the proxy's module, without a server. Nothing is sent beyond the process. */
import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { serverConnectors } from "../../connectors/server.ts";
import proxy from "../../proxy.ts";
import { createFetchProxy } from "../../src/proxy/fetch_proxy.ts";
import { toFetch } from "../../src/runtime/server_shell.ts";
import { createFakeResponse, testRuntime, type TestRuntimeOptions } from "../../src/runtime/test.ts";
import { fakeShell } from "../support/_cli.ts";
import { assertRefused, goodBody } from "../support/_surface.ts";
import { testConfig } from "../support/proxy.ts";
import { until } from "../support/patience.ts";
import { completion } from "../support/upstream.ts";

const key = "sk-child-0123456789";
const config = JSON.stringify(testConfig({ upstreams: { a: "http://127.0.0.1:9/v1" } }));

/** A proxy in a runtime with these files and variables, whose provider answers. */
function createProxy(options: Pick<TestRuntimeOptions, "env" | "files">) {
  let runtimes = 0;
  const reports: string[] = [];
  const ends: (() => Promise<void>)[] = [];
  const exits: number[] = [];
  const body = JSON.stringify(completion({ model: "a" }));
  const { fetch, onListen } = createFetchProxy({
    connectors: serverConnectors,
    runtime(bindings) {
      runtimes++;
      const env = { ...options.env, ...bindings };
      return testRuntime({ send: () => Promise.resolve(createFakeResponse({ body })), ...options, env });
    },
    shell: () => ({ ...shell, exit: (code) => exits.push(code) as never }),
    report: (line) => reports.push(line),
    toFetch,
    beforeEnd: (task) => {
      ends.push(task);
      return () => {};
    },
  });
  const shell = fakeShell();
  return {
    fetch,
    onListen,
    shell,
    reports,
    exits,
    end: () => Promise.all(ends.map((task) => task())),
    runtimes: () => runtimes,
  };
}

const ask = (model: string, url = "http://localhost", token?: string) =>
  new Request(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ ...goodBody, model }),
  });

async function assertAnswers(response: Response): Promise<void> {
  assertEquals([response.status, (await response.json()).object], [200, "chat.completion"]);
}

describe("The default export of the proxy", () => {
  it("has what servers call as members of its own", () => {
    assertEquals(Object.keys(proxy).sort(), ["fetch", "onListen"]);
  });

  it("starts once for requests that come at once, with the file that MODELMESH_CONFIG names", async () => {
    const { fetch, end, runtimes } = createProxy({
      env: { MODELMESH_CONFIG: "mesh.json" },
      files: { "mesh.json": config },
    });
    assertEquals(runtimes(), 0, "it does nothing before");
    const responses = await Promise.all(Array.from({ length: 20 }, () => fetch(ask("chat"))));
    for (const response of responses) await assertAnswers(response);
    assertEquals(runtimes(), 1);
    await end();
  });

  it("starts with the variables that an edge runtime passes with the first request", async () => {
    const token = "a-long-secret-0123456789";
    const { fetch, end, runtimes } = createProxy({});
    const bindings = { OPENAI_API_KEY: key, MODELMESH_TOKEN: token, A_BUCKET: {} };
    await assertRefused(await fetch(ask("chat-completion"), bindings), { status: 401, code: "invalid_api_key" });
    await assertAnswers(await fetch(ask("chat-completion", undefined, token), bindings));
    assertEquals(runtimes(), 1);
    await end();
  });

  it("detects providers without MODELMESH_CONFIG, or with an empty one", async () => {
    for (const others of [{}, { MODELMESH_CONFIG: "" }] as Record<string, string>[]) {
      const { fetch, end } = createProxy({ env: { OPENAI_API_KEY: key, ...others } });
      await assertAnswers(await fetch(ask("chat-completion")));
      await end();
    }
  });

  it("requires MODELMESH_TOKEN, and without a token serves loopback names only", async () => {
    const token = "a-long-secret-0123456789";
    const named = "https://gateway.example.com";
    const closed = createProxy({ env: { OPENAI_API_KEY: key, MODELMESH_TOKEN: token } });
    await assertRefused(await closed.fetch(ask("chat-completion", named)), { status: 401, code: "invalid_api_key" });
    await assertAnswers(await closed.fetch(ask("chat-completion", named, token)));
    const open = createProxy({ env: { OPENAI_API_KEY: key } });
    await assertRefused(await open.fetch(ask("chat-completion", named)), { status: 403, code: "host_not_allowed" });
    await closed.end();
    await open.end();
  });

  it("reports why it cannot start, and not to its clients; the next request tries again", async () => {
    const files: Record<string, string> = {};
    const { fetch, reports, end } = createProxy({ env: { MODELMESH_CONFIG: "mesh.json" }, files });
    for (const refused of await Promise.all([1, 2, 3].map(() => fetch(ask("chat"))))) {
      const { message } = await assertRefused(refused, { status: 500, type: "server_error", code: "internal_error" });
      assertNotMatch(message, /mesh\.json/);
    }
    assertEquals([reports.length, /mesh\.json/.test(reports.join())], [1, true], "one start, one line");
    files["mesh.json"] = config;
    await assertAnswers(await fetch(ask("chat")));
    assertEquals(reports.length, 1);
    await end();
  });

  it("starts when its server listens, and ends the process if it cannot", async () => {
    const good = createProxy({ env: { OPENAI_API_KEY: key } });
    good.onListen({ hostname: "::1", port: 8000 });
    await good.shell.says("listens on http://[::1]:8000\n  providers: openai");
    await good.shell.says("openai.llm.v1  $"); // what requests use, and its price
    await good.end();
    const bad = createProxy({});
    bad.onListen({ hostname: "127.0.0.1", port: 8000 });
    await until(() => bad.exits.length > 0, "it ends");
    assertEquals(bad.exits, [1]);
    assertMatch(bad.reports.join(), /OPENAI_API_KEY/);
  });

  it("ends the process if a provider's address is that of the server", async () => {
    const looping = createProxy({ env: { OPENAI_API_KEY: key, OPENAI_BASE_URL: "http://localhost:8000/v1" } });
    looping.onListen({ hostname: "0.0.0.0", port: 8000 });
    await until(() => looping.exits.length > 0, "it ends");
    assertEquals(looping.exits, [1]);
    assertMatch(looping.reports.join(), /is this proxy itself \(port 8000\)/);
    await looping.end();
  });
});
