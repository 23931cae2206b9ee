/** `providers.<id>.headers`: what providers receive, and where values appear. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type CallOptions, type ConfigDocument, create } from "../../mod.ts";
import { messages } from "../support/_library.ts";
import { until } from "../support/patience.ts";
import { startTestProxy, testConfig, type TestProxyOptions } from "../support/proxy.ts";
import { json, ok, type ReceivedRequest, startUpstream, status, stream } from "../support/upstream.ts";

const secret = "gateway-secret-of-tests-0123456789";
const organization = "org-of-tests-42";
const choice = {
  index: 0,
  message: { role: "assistant", content: "Hi", refusal: null },
  finish_reason: "stop",
  logprobs: null,
};
const headers = { "OpenAI-Organization": organization, "x-gateway-key": "Key ${secrets:GATEWAY_KEY}" };

/** A vendor with tokens, a model list, files, batches, embeddings, and chat, which repeats headers in its errors. */
function answer({ path, body, headers }: ReceivedRequest) {
  if (path.endsWith("/token")) return json({ access_token: "fetched-0123456789", token_type: "Bearer" });
  if (path.endsWith("/models")) return json({ object: "list", data: [{ id: "a", object: "model" }] });
  if (path.endsWith("/files")) return json({ id: "file-1", object: "file", bytes: 1, filename: "a", purpose: "x" });
  if (path.endsWith("/content")) return json({ text: "the content" });
  if (path.endsWith("/embeddings")) {
    return json({ object: "list", model: "e", data: [{ object: "embedding", index: 0, embedding: [1] }] });
  }
  if (body.includes("fail")) return status(403, { error: { message: `refused: ${JSON.stringify(headers)}` } });
  return JSON.parse(body).stream ? stream() : ok();
}

async function open(more: Partial<TestProxyOptions> = {}, provider: object = {}) {
  const upstream = await startUpstream(answer);
  const options: TestProxyOptions = {
    upstreams: { a: upstream.url },
    provider: { headers, discovery: { enumerate_models: true }, files: { upload: true }, ...provider },
    env: { GATEWAY_KEY: secret },
    config: {
      secrets: { store: "mesh.env.v1" },
      models: {
        a: { provider: "a", capabilities: ["chat-completion"] },
        e: { provider: "a", capabilities: ["text-embeddings"] },
      },
      discovery: { health: { interval: "1m" } },
    },
    ...more,
  };
  const proxy = await startTestProxy(options);
  return {
    upstream,
    proxy,
    options,
    async post(path: string, body: object, expected = 200) {
      const isForm = body instanceof FormData;
      const response = await fetch(`${proxy.url}/v1/${path}`, {
        method: "POST",
        headers: isForm ? {} : { "content-type": "application/json" },
        body: isForm ? body : JSON.stringify(body),
      });
      const text = await response.text();
      assertEquals(response.status, expected, text);
      return text;
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

describe("headers of a provider", () => {
  it("are in every call: lists, probes, chat, streams, embeddings and files", async () => {
    await using scene = await open();
    const { upstream, proxy, post } = scene;
    await post("chat/completions", { model: "chat", messages });
    await post("chat/completions", { model: "chat", messages, stream: true });
    await post("messages", { model: "chat", max_tokens: 9, messages });
    await post("embeddings", { model: "e", input: "x" });
    const form = new FormData();
    form.append("purpose", "user_data");
    form.append("file", new Blob(["x"]), "a.txt");
    const { id } = JSON.parse(await post("files", form));
    await (await fetch(`${proxy.url}/v1/files/${id}/content`)).text();
    const lists = upstream.requests.length;
    await proxy.clock.advance(60_000);
    await until(() => upstream.requests.length > lists, "a health probe");
    for (const { path, headers } of upstream.requests) {
      assertEquals(headers["openai-organization"], organization, path);
      assertEquals(headers["x-gateway-key"], `Key ${secret}`, path);
      assertEquals(headers.authorization, "Bearer key-of-a-0123456789", path);
    }
  });

  it("are in calls with access tokens, but not in the request for the token, which another server gets", async () => {
    const issuer = await startUpstream(answer);
    const auth = {
      method: "oauth",
      token_url: new URL("/token", issuer.url).href,
      client_id: "mesh",
      client_secret: "secret-of-mesh-0123456789",
    };
    {
      await using scene = await open({}, { api_key: undefined, auth });
      await scene.post("chat/completions", { model: "chat", messages });
      const { headers } = scene.upstream.requests.at(-1)!;
      assertEquals([headers.authorization, headers["x-gateway-key"]], ["Bearer fetched-0123456789", `Key ${secret}`]);
      assertEquals(issuer.requests.map(({ headers }) => headers["x-gateway-key"]), [undefined]);
    }
    await issuer.close();
  });

  it("replace those of the connector, and join the features that a caller asks for", async () => {
    await using scene = await open({}, {
      connector: "anthropic.claude.v1",
      headers: { "anthropic-version": "2024-01-01", "anthropic-beta": "files-2025" },
      discovery: {},
      files: {},
    });
    await fetch(`${scene.proxy.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "anthropic-beta": "tools-2024" },
      body: JSON.stringify({ model: "a", max_tokens: 9, messages, fail: true }),
    }).then((response) => response.text());
    const { headers } = scene.upstream.requests.at(-1)!;
    assertEquals(headers["anthropic-version"], "2024-01-01");
    assertEquals(headers["anthropic-beta"], "tools-2024,files-2025");
    assertEquals(headers["x-api-key"], "key-of-a-0123456789");
  });

  it("are sent once in the calls of a program's own provider, however it writes their names", async () => {
    const sent: Headers[] = [];
    const respond = (_: unknown, init?: RequestInit) => {
      sent.push(new Headers(init?.headers));
      return Promise.resolve(Response.json({}));
    };
    const body = { id: "c", object: "chat.completion", created: 1, model: "m", choices: [choice] };
    const instance = {
      id: "own",
      listModels: () => Promise.resolve([{ id: "m", capabilities: ["chat-completion"] }]),
      complete: async (_: unknown, { send }: CallOptions) => {
        await send({ url: "https://own.test/chat", headers: { "X-Team": "own", "x-other": "kept" }, body: "{}" });
        return { body };
      },
      stream: () => {
        throw new Error("nothing is streamed");
      },
    };
    const config = { providers: { own: { instance, headers: { "x-team": "configured" } } } };
    await using library = create({ config: config as unknown as ConfigDocument, fetch: respond as typeof fetch });
    await library.chat.completions.create({ model: "m", messages });
    assertEquals(sent.map((headers) => [headers.get("x-team"), headers.get("x-other")]), [["configured", "kept"]]);
  });

  it("appear nowhere: not in answers, records, the status or the saved configuration, though a vendor repeats them", async () => {
    await using scene = await open();
    const { proxy, post, options } = scene;
    const texts = [
      await post("chat/completions", { model: "chat", messages: [{ role: "user", content: "fail" }] }, 502),
    ];
    for (const path of ["mesh/status", "metrics", "v1/models", "health"]) {
      texts.push(await (await fetch(`${proxy.url}/${path}`)).text());
    }
    texts.push(JSON.stringify(proxy.records), JSON.stringify(proxy.mesh.activeProviders()));
    assertStringIncludes(texts.at(-2)!, "[redacted]");
    for (const text of texts) {
      assert(!text.includes(secret) && !text.includes(organization), text);
    }
    await using library = create({ config: testConfig(options), env: { GATEWAY_KEY: secret } });
    await library.ready();
    assert(!JSON.stringify(library.describe()).includes(organization));
  });

  it("have the current values of their secrets, as keys do, when requests rotate to the provider", async () => {
    const [a, b] = [await startUpstream(status(500)), await startUpstream(ok())];
    const values: Record<string, string> = { GATEWAY_KEY: "the-first-gateway-key" };
    const config = testConfig({
      upstreams: { a: a.url, b: b.url },
      pool: { retry: { max_attempts: 0 } },
      provider: { headers },
      config: { secrets: { store: "mesh.env.v1" } },
    });
    {
      await using library = create({ config, env: (name: string) => values[name] });
      await library.ready();
      values.GATEWAY_KEY = "the-second-gateway-key";
      await library.chat.completions.create({ model: "chat", messages });
    }
    assertEquals(a.requests[0]?.headers["x-gateway-key"], "Key the-first-gateway-key");
    assertEquals(b.requests.map(({ headers }) => headers["x-gateway-key"]), ["Key the-second-gateway-key"]);
    await a.close();
    await b.close();
  });
});
