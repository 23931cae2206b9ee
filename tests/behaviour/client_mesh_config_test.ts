/** `client.mesh`: a client has what `ModelMesh` has, but `initialize`; its configuration is saved and extended. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, create, memoryStorage, mockClient, ModelMesh } from "../../mod.ts";
import { clientOver, environment, getText, messages, toVendorKey } from "../support/_library.ts";
import { ok, startUpstream } from "../support/upstream.ts";

function listMembers(value: object): string[] {
  const names = new Set<string>();
  for (let at = value; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  return [...names].sort();
}

describe("client.mesh", () => {
  it("has every member of ModelMesh, but initialize", async () => {
    const mesh = new ModelMesh();
    const client = create("chat-completion", { env: { OPENAI_API_KEY: "sk-0123456789" } });
    const inner = ["initialize", "start"]; // `start` is for shells
    assertEquals(listMembers(client.mesh), listMembers(mesh).filter((name) => !inner.includes(name)));
    assertEquals(client.mesh, client.mesh);
    await mesh.close();
    await client.close();
  });

  it("adds a provider, and saves the configuration with it", async () => {
    await using upstream = await startUpstream(ok({ text: "hello" }));
    await using made = clientOver({ upstreams: { a: upstream.url } });
    const { mesh } = made.client;
    const late = { connector: "openai.compatible.v1", base_url: upstream.url };
    await mesh.addProvider({ id: "late", ...late, models: { m: { capabilities: ["chat-completion"] } } });
    const answer = await made.client.chat.completions.create({ messages, model: "m" });
    assertEquals([getText(answer), upstream.requests.length], ["hello", 1]);
    const storage = memoryStorage();
    await mesh.saveConfig(storage);
    const again = await ModelMesh.fromStorage(storage);
    assertEquals(again.listModels().map(({ name }) => name), ["a", "m"]);
    await again.close();
  });
});

describe("client.mesh of a client without a configuration", () => {
  it("saves the providers it detected and its pools, which make the same client", async () => {
    const env = environment({ openai: "http://127.0.0.1:9/v1", groq: "http://127.0.0.1:9/v1" });
    const client = create("chat-completion", { env, providers: ["openai"], strategy: "cost-first" });
    const storage = memoryStorage();
    await client.mesh.saveConfig(storage);
    const text = new TextDecoder().decode(await storage.load("config"));
    assert(!text.includes(toVendorKey("openai")), text);
    const again = await ModelMesh.fromStorage(storage, { env });
    assertEquals(again.poolStatus(), client.mesh.poolStatus());
    await again.close();
    await client.close();
  });

  it("adds a provider", async () => {
    await using upstream = await startUpstream(ok({ text: "hello" }));
    const env = environment({ openai: upstream.url, groq: upstream.url });
    await using client = create("chat-completion", { env, providers: ["openai"] });
    await client.mesh.addProvider({ id: "groq.api.v1", api_key: "${secrets:GROQ_API_KEY}", base_url: upstream.url });
    assertEquals(client.mesh.activeProviders(), ["openai.llm.v1", "groq.api.v1"]);
  });

  it("cannot save an object of the program", async () => {
    await using client = mockClient({ responses: ["hello"] });
    const { problems } = await assertRejects(() => client.mesh.saveConfig(memoryStorage()), ConfigError);
    assertEquals(problems.map(({ path }) => path), ["providers.mock"]);
  });
});
