/** What the proxy says to a client that is nearly right: a base URL, a path or a name that is a little off. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { version } from "../../src/version.ts";
import { startTestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { json, respond, startUpstream } from "../support/upstream.ts";

async function open(options: Omit<TestProxyOptions, "upstreams"> = {}) {
  const upstream = await startUpstream(respond());
  const proxy = await startTestProxy({ upstreams: { a: upstream.url }, ...options });
  return {
    proxy,
    upstream,
    get: (path: string, headers: Record<string, string> = {}) =>
      fetch(proxy.url + path, { headers, redirect: "manual" }),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

describe("An unknown path", () => {
  const hints: readonly (readonly [method: string, path: string, hint: string | undefined])[] = [
    ["POST", "/chat/completions", 'Add "/v1" to the base URL: /v1/chat/completions'],
    ["POST", "/embeddings", 'Add "/v1" to the base URL: /v1/embeddings'],
    ["POST", "/messages", 'Add "/v1" to the base URL: /v1/messages'],
    ["GET", "/models", 'Add "/v1" to the base URL: /v1/models'],
    ["POST", "/files", 'Add "/v1" to the base URL: /v1/files'],
    ["POST", "/v1/v1/chat/completions", 'Remove one "/v1" from the base URL: /v1/chat/completions'],
    ["POST", "/v1/v1/messages", 'Remove one "/v1" from the base URL: /v1/messages'],
    ["POST", "/v1/v1beta/models/chat:generateContent", 'Remove one "/v1" from the base URL: /v1beta/models/'],
    ["POST", "/v1/assistants", '"assistants" is not served. Served are: chat/completions, '],
    ["GET", "/v1/threads/thread_1/messages", '"threads" is not served. Served are: '],
    ["POST", "/v1/realtime/sessions", '"realtime" is not served.'],
    ["POST", "/v1/vector_stores", '"vector_stores" is not served.'],
    ["POST", "/v1/images/variations", '"images/variations" is not served.'],
    ["POST", "/v1/messages/batches", '"messages/batches" is not served.'],
    ["GET", "/v1/responses/resp_1/input_items", '"responses/resp_1" is not served.'],
    ["GET", "/chat/completions/chatcmpl-1", '"chat/completions/chatcmpl-1" is not served.'],
    ["POST", "/openai/v1/chat/completions", "The base URL has too much before /v1/chat/completions"],
    ["POST", "/v1/chat/completions/v1/messages", "The base URL has too much before /v1/messages"],
    ["POST", "/v1/embeddings/embeddings", "The base URL has too much before /v1/embeddings"],
    ["GET", "/api/v1beta/models", "The base URL has too much before /v1beta/models"],
    ["GET", `${"/v1".repeat(20)}/models`, undefined],
    ["GET", "/nothing", undefined],
    ["GET", "/v1/nothing", undefined],
  ];
  for (const [method, path, hint] of hints) {
    it(`${method} ${path} ${hint === undefined ? "is only unknown" : "has a hint"}`, async () => {
      await using scene = await open();
      const response = await fetch(scene.proxy.url + path, { method, ...(method === "POST" ? { body: "{}" } : {}) });
      const { error } = await response.json();
      assertEquals([response.status, error.code], [404, "unknown_url"]);
      if (hint === undefined) assertEquals(error.message, `Unknown request URL: ${method} ${path}`);
      else assertStringIncludes(error.message, hint);
    });
  }

  it("of Gemini's dialect with two prefixes says to remove one", async () => {
    await using scene = await open();
    for (const path of ["/v1beta/models/chat:generateContent", "/v1/models/chat:generateContent", "/v1beta/models"]) {
      const response = await fetch(`${scene.proxy.url}/v1beta${path}`, { method: "POST", body: "{}" });
      const { error } = await response.json();
      assertEquals([response.status, error.status], [404, "NOT_FOUND"]);
      assertStringIncludes(error.message, `. Remove "/v1beta" from the base URL: ${path}`);
    }
  });

  it("has no hint to an endpoint that is not exposed", async () => {
    await using scene = await open({ config: { proxy: { endpoints: ["chat/completions"] } } });
    const { error } = await (await scene.get("/embeddings")).json();
    assertEquals(error.message, "Unknown request URL: GET /embeddings");
    const other = await (await scene.get("/v1/assistants")).json();
    assertMatch(other.error.message, /Served are: chat\/completions$/);
  });

  it("has no hint for a client without a token", async () => {
    await using scene = await open({ tokens: ["a-token-of-16-chars"] });
    const response = await scene.get("/chat/completions");
    await response.body?.cancel();
    assertEquals(response.status, 401);
  });
});

describe("GET /", () => {
  it("leads a browser to the dashboard", async () => {
    await using scene = await open({ tokens: ["a-token-of-16-chars"] });
    const response = await scene.get("/", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("location")], [302, "/ui"]);
  });

  it("answers a program with name and version", async () => {
    await using scene = await open({ tokens: ["a-token-of-16-chars"] });
    const response = await scene.get("/", { accept: "application/json" });
    const body = await response.json();
    assertEquals([response.status, body.name, body.version], [200, "modelmesh", version]);
    assertMatch(body.documentation, /modelmesh/);
  });
});

describe("A model's name", () => {
  const config = {
    providers: {
      claude: { connector: "anthropic.claude.v1", api_key: "sk-ant-0123456789abcdef", base_url: "" },
      local: { connector: "ollama.local.v1", base_url: "" },
    },
    models: {
      haiku: { provider: "claude", model: "claude-haiku-4-5", capabilities: ["chat-completion"] },
      "llama3.2:latest": { provider: "local", capabilities: ["chat-completion"] },
      mistral: { provider: "local", capabilities: ["chat-completion"] },
    },
    pools: { chat: { models: ["haiku"] } },
    aliases: { fast: "haiku", everyone: "chat" },
  };

  async function askFor(model: string, path = "/v1/chat/completions") {
    const message = {
      id: "1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "Hi" }],
    };
    const usage = { input_tokens: 1, output_tokens: 1 };
    await using upstream = await startUpstream((request) =>
      request.path.endsWith("/messages") ? json({ ...message, stop_reason: "end_turn", usage }) : respond()
    );
    const url = upstream.url;
    const providers = {
      claude: { ...config.providers.claude, base_url: url },
      local: { ...config.providers.local, base_url: url },
    };
    await using proxy = await startTestProxy({ upstreams: {}, config: { ...config, providers } });
    const body = { model, max_tokens: 5, messages: [{ role: "user", content: "Hi" }] };
    const response = await fetch(proxy.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answered = await response.json();
    const sent = upstream.requests.filter(({ path }) => !path.endsWith("/models")).map((one) => one.json().model);
    return { status: response.status, sent, by: response.headers.get("x-mesh-model"), answered };
  }

  for (const path of ["/v1/chat/completions", "/v1/messages"]) {
    for (const name of ["claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5-20251001"]) {
      it(`${name} is a release of a known model, and is sent as it came: ${path}`, async () => {
        const { status, sent, by } = await askFor(name, path);
        assertEquals([status, sent, by], [200, ["claude-haiku-4-5-20251001"], "haiku"]);
      });
    }
  }

  it("of a local server may lack its tag, or have the default one", async () => {
    assertEquals((await askFor("llama3.2")).sent, ["llama3.2:latest"]);
    assertEquals((await askFor("mistral:latest")).sent, ["mistral"]);
  });

  it("that is unknown has an error which says how to add it", async () => {
    const { status, answered } = await askFor("claude-opus-9");
    assertEquals([status, answered.error.code], [404, "model_not_found"]);
    assertMatch(answered.error.message, /(exist\.|\?) To add a model, name it and its provider under "models"$/);
  });

  it("is in the list of models, aliases too, for each client its own", async () => {
    const tokens = [{ token: "a-token-of-16-chars", name: "app", pools: ["other"] }, "an-admin-of-16-chars"];
    const withClients = {
      ...config,
      pools: { ...config.pools, other: { models: ["mistral"] } },
      aliases: { ...config.aliases, mine: "other" },
      proxy: { auth: { tokens } },
      providers: {
        claude: { ...config.providers.claude, base_url: "http://127.0.0.1:9" },
        local: { ...config.providers.local, base_url: "http://127.0.0.1:9" },
      },
    };
    await using proxy = await startTestProxy({ upstreams: {}, config: withClients });
    const idsFor = async (token: string) => {
      const response = await fetch(`${proxy.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
      const { data } = await response.json();
      return data.map(({ id, mesh }: { id: string; mesh: { type: string } }) => `${mesh.type} ${id}`);
    };
    const all = await idsFor("an-admin-of-16-chars");
    assertEquals(all.slice(0, 5), ["pool chat", "pool other", "alias fast", "alias everyone", "alias mine"]);
    assertEquals(await idsFor("a-token-of-16-chars"), ["pool other", "alias mine", "model mistral"]);
  });

  it("is listed in Anthropic's shape for clients that name a version of its API", async () => {
    await using scene = await open({ tokens: ["a-token-of-16-chars"] });
    const headers = { "anthropic-version": "2023-06-01", "x-api-key": "a-token-of-16-chars" };
    const list = await (await scene.get("/v1/models", headers)).json();
    assertEquals(list, {
      data: ["chat", "a"].map((id) => ({
        type: "model",
        id,
        display_name: id,
        created_at: "1970-01-01T00:00:00.000Z",
      })),
      has_more: false,
      first_id: "chat",
      last_id: "a",
    });
    const one = await (await scene.get("/v1/models/chat", headers)).json();
    assertEquals(one, list.data[0]);
    const none = await scene.get("/v1/models/none", headers);
    assertEquals([none.status, (await none.json()).type], [404, "error"]);
    const refused = await scene.get("/v1/models", { "anthropic-version": "2023-06-01" });
    assertEquals([refused.status, (await refused.json()).type], [401, "error"]);
  });
});
