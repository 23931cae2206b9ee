/** `User-Agent`: what providers receive, and `execution.user_agent`. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create } from "../../mod.ts";
import { version } from "../../src/version.ts";
import { messages } from "../support/_library.ts";
import { startTestProxy, testConfig, type TestProxyOptions } from "../support/proxy.ts";
import { json, ok, type ReceivedRequest, startUpstream, stream } from "../support/upstream.ts";

const own = `modelmesh/${version}`;
const client = "coding-agent/7.1 (linux)";

/** A vendor with tokens, a model list, files, embeddings, and chat. */
function answer({ path, body }: ReceivedRequest) {
  if (path.endsWith("/token")) return json({ access_token: "fetched-0123456789", token_type: "Bearer" });
  if (path.endsWith("/models")) return json({ object: "list", data: [{ id: "a", object: "model" }] });
  if (path.endsWith("/files")) return json({ id: "file-1", object: "file", bytes: 1, filename: "a", purpose: "x" });
  if (path.endsWith("/content")) return json({ text: "the content" });
  if (path.endsWith("/embeddings")) {
    return json({ object: "list", model: "e", data: [{ object: "embedding", index: 0, embedding: [1] }] });
  }
  return JSON.parse(body).stream ? stream() : ok();
}

/** A proxy and a client of the library over one vendor, and what that receives. */
async function open(execution: object) {
  const upstream = await startUpstream(answer);
  const auth = {
    method: "oauth",
    token_url: new URL("/token", upstream.url).href,
    client_id: "mesh",
    client_secret: "secret-of-mesh-0123456789",
  };
  const options: TestProxyOptions = {
    upstreams: { a: upstream.url },
    provider: { api_key: undefined, auth, execution, discovery: { enumerate_models: true }, files: { upload: true } },
    config: {
      models: {
        a: { provider: "a", capabilities: ["chat-completion"] },
        e: { provider: "a", capabilities: ["text-embeddings"] },
      },
    },
  };
  const proxy = await startTestProxy(options);
  const library = create({ config: testConfig(options), pool: "chat", clock: proxy.clock });
  return {
    library,
    async post(path: string, body: object) {
      const isForm = body instanceof FormData;
      const response = await fetch(`${proxy.url}/v1/${path}`, {
        method: "POST",
        headers: { "user-agent": client, ...(isForm ? {} : { "content-type": "application/json" }) },
        body: isForm ? body : JSON.stringify(body),
      });
      const text = await response.text();
      assertEquals(response.status, 200, text);
      return text;
    },
    async get(path: string) {
      await (await fetch(`${proxy.url}/v1/${path}`, { headers: { "user-agent": client } })).text();
    },
    /** `User-Agent` by path; of several requests to a path, that of the last one. */
    get agents() {
      return Object.fromEntries(upstream.requests.map(({ path, headers }) => [path, headers["user-agent"]]));
    },
    async [Symbol.asyncDispose]() {
      await library.close();
      await proxy[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

/** Calls everything, each with its own `User-Agent`. */
async function callAll({ post, get }: Awaited<ReturnType<typeof open>>): Promise<void> {
  await post("chat/completions", { model: "chat", messages });
  await post("embeddings", { model: "e", input: "x" });
  const form = new FormData();
  form.append("purpose", "user_data");
  form.append("file", new Blob(["x"]), "a.txt");
  const { id } = JSON.parse(await post("files", form));
  await get(`files/${id}/content`);
}

describe("User-Agent", () => {
  it("is this software's in every request, to token endpoints and for model lists too", async () => {
    await using scene = await open({});
    await callAll(scene);
    assertEquals(scene.agents, {
      "/token": own,
      "/v1/models": own,
      "/v1/chat/completions": own,
      "/v1/embeddings": own,
      "/v1/files": own,
      "/v1/files/file-1/content": own,
    });
  });

  it("is the client's where the provider's settings say so, in requests that serve one", async () => {
    await using scene = await open({ user_agent: "client" });
    await callAll(scene);
    assertEquals(scene.agents, {
      "/token": own,
      "/v1/models": own,
      "/v1/chat/completions": client,
      "/v1/embeddings": client,
      "/v1/files": client,
      "/v1/files/file-1/content": client,
    });
  });

  it("is the client's in a request of another dialect, streamed", async () => {
    await using scene = await open({ user_agent: "client" });
    await scene.post("messages", { model: "chat", max_tokens: 9, messages, stream: true });
    assertEquals(scene.agents["/v1/chat/completions"], client);
  });

  it("is a program's where it passes one, and else this software's", async () => {
    await using scene = await open({ user_agent: "client" });
    const request = { model: "chat", messages };
    await scene.library.chat.completions.create(request, { headers: { "User-Agent": "program/2" } });
    assertEquals(scene.agents["/v1/chat/completions"], "program/2");
    await scene.library.chat.completions.create(request);
    assertEquals(scene.agents["/v1/chat/completions"], own);
  });

  it("is this software's with a fetch of the program's own", async () => {
    const agents: (string | null)[] = [];
    const respond = (_: unknown, init?: RequestInit) => {
      agents.push(new Headers(init?.headers).get("user-agent"));
      const message = { role: "assistant", content: "Hi" };
      return Promise.resolve(Response.json({ id: "c", choices: [{ index: 0, message, finish_reason: "stop" }] }));
    };
    const config = testConfig({ upstreams: { a: "https://a.test/v1" } });
    await using library = create({ config, pool: "chat", fetch: respond as typeof fetch });
    await library.chat.completions.create({ model: "chat", messages });
    assertEquals(agents, [own]);
  });
});
