/** Models in the lists of a configuration have the names that they have in requests. */
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, create, type MeshClient } from "../../../mod.ts";
import { fakeClock, messages } from "../../support/_library.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { json, respond, startUpstream, status, type Upstream } from "../../support/upstream.ts";

const key = "key-0123456789";

/** A vendor with a catalogue, and a local server that lists `listed`, both at one address. */
function configAt(url: string, more: object): Record<string, unknown> {
  return {
    providers: {
      "openai.llm.v1": { api_key: key, base_url: url },
      "ollama.local.v1": { base_url: url },
    },
    models: {
      mine: { provider: "openai.llm.v1", model: "gpt-4o-mini" },
      tagged: { provider: "openai.llm.v1", model: "qwen3:latest", capabilities: ["chat-completion"] },
    },
    ...more,
  };
}

function startServers(listed: readonly string[] = []): Promise<Upstream> {
  return startUpstream(({ path, json: body }) => {
    if (path.endsWith("/models")) return json({ object: "list", data: listed.map((id) => ({ id, object: "model" })) });
    return body().model.startsWith("down") ? status(503) : respond();
  });
}

function clientAt({ url }: Upstream, more: object): MeshClient {
  return create({ config: configAt(url, more), clock: fakeClock({ skipSleeps: true }), random: () => 0.5 });
}

/** Collects what a client logs. */
function collectTraces({ mesh }: MeshClient): string[] {
  const messages: string[] = [];
  mesh.addSink({ emit() {}, trace: ({ message }) => void messages.push(message), flush: () => Promise.resolve() });
  return messages;
}

/** Ids that the servers were asked for. */
function sentIds({ requests }: Upstream): string[] {
  return requests.filter(({ path }) => path.endsWith("/chat/completions")).map((one) => one.json().model);
}

const members = (client: MeshClient) => client.describe().pools[0]!.models.map(({ name }) => name);

const rows: readonly [name: string, member: string, sent: string][] = [
  ["mine", "mine", "gpt-4o-mini"],
  ["gpt-4o-mini", "mine", "gpt-4o-mini"],
  ["openai.gpt-4o-mini", "mine", "gpt-4o-mini"],
  ["openai/gpt-4o-mini", "mine", "gpt-4o-mini"],
  ["gpt-4o", "openai.gpt-4o", "gpt-4o"],
  ["openai/gpt-4o", "openai.gpt-4o", "gpt-4o"],
  ["gpt-4o-2024-11-20", "openai.gpt-4o-2024-11-20", "gpt-4o-2024-11-20"],
  ["openai/gpt-4o-mini-20240718", "openai.gpt-4o-mini-20240718", "gpt-4o-mini-20240718"],
  ["qwen3", "tagged", "qwen3:latest"],
  ["gpt-4o-mini:latest", "mine", "gpt-4o-mini"],
  ["an-alias", "mine", "gpt-4o-mini"],
  ["dated-alias", "openai.gpt-4o-2024-11-20", "gpt-4o-2024-11-20"],
  ["llama3.2", "ollama.llama3.2:latest", "llama3.2:latest"],
  ["ollama/phi4:latest", "ollama.phi4", "phi4"],
];
const aliases = { "an-alias": "mine", "dated-alias": "gpt-4o-2024-11-20" };

describe("A name in the list of a pool", () => {
  for (const [name, member, sent] of rows) {
    it(`${name} means ${member}, and ${sent} is sent`, async () => {
      await using upstream = await startServers(["llama3.2:latest", "phi4"]);
      await using client = clientAt(upstream, { pools: { chat: { models: [name] } }, aliases });
      await client.ready();
      assertEquals(members(client), [member]);
      await client.chat.completions.create({ model: "chat", messages });
      assertEquals(sentIds(upstream), [sent]);
    });
  }

  it("is the model that it is in a request", async () => {
    await using upstream = await startServers(["llama3.2:latest", "phi4"]);
    await using client = clientAt(upstream, { pools: { chat: { models: rows.map(([name]) => name) } }, aliases });
    for (const [name, , sent] of rows) {
      await client.chat.completions.create({ model: name, messages });
      assertEquals([name, sentIds(upstream).at(-1)], [name, sent]);
    }
  });

  it("that means none is a problem with the nearest name; so is an alias of a pool", () => {
    const pools = { other: { capability: "chat-completion" }, chat: { models: ["gpt-4p-mini", "minne", "of-a-pool"] } };
    const config = {
      ...configAt("http://127.0.0.1:9/v1", { pools, aliases: { "of-a-pool": "other" } }),
      providers: { "openai.llm.v1": { api_key: key } },
    };
    const { problems } = assertThrows(() => create({ config }), ConfigError);
    assertEquals(problems.map(({ path }) => path), [0, 1, 2].map((index) => `pools.chat.models[${index}]`));
    assertStringIncludes(problems[1]!.message, 'no model "minne", did you mean "mine"?');
    assertEquals(problems[2]!.message, 'is an alias of "other", which is not a model');
  });

  it("that no provider has listed is a warning of the start", async () => {
    await using upstream = await startServers(["llama3.2:latest"]);
    await using client = clientAt(upstream, { pools: { chat: { models: ["mine", "llama3.9"] } } });
    const warnings = collectTraces(client);
    await client.ready();
    assertEquals(warnings.filter((line) => line.includes("llama3.9")), [
      'pools.chat.models[1]: no provider has listed the model "llama3.9"',
    ]);
  });

  it("means a model that its server lists later", async () => {
    let listed: string[] = [];
    await using upstream = await startUpstream(({ path }) => {
      if (!path.endsWith("/models")) return respond();
      return listed.length === 0 ? status(503) : json({ data: listed.map((id) => ({ id, object: "model" })) });
    });
    const pools = {
      chat: { models: ["phi4", "llama3.2"], strategy: "priority", model_priority: ["llama3.2", "phi4"] },
    };
    const clock = fakeClock({ skipSleeps: true });
    await using client = create({ config: configAt(upstream.url, { pools }), clock });
    await client.ready();
    assertEquals(members(client), []);
    listed = ["phi4:latest", "llama3.2:latest"];
    await clock.advance(6_000);
    await client.chat.completions.create({ model: "chat", messages });
    assertEquals([members(client).sort(), sentIds(upstream)], [
      ["ollama.llama3.2:latest", "ollama.phi4:latest"],
      ["llama3.2:latest"],
    ]);
  });
});

describe("A name in model_priority", () => {
  for (const [name, member, sent] of rows) {
    it(`${name} means ${member}`, async () => {
      await using upstream = await startServers(["llama3.2:latest", "phi4"]);
      const pool = { models: ["gpt-4.1", name], strategy: "priority", model_priority: [name, "gpt-4.1"] };
      await using client = clientAt(upstream, { pools: { chat: pool }, aliases });
      const warnings = collectTraces(client);
      await client.chat.completions.create({ model: "chat", messages });
      assertEquals(sentIds(upstream), [sent]);
      assertEquals(warnings.filter((line) => line.includes("model_priority")), []);
    });
  }
});

describe("The names of models elsewhere", () => {
  it("may be dated as the target of an alias, and are sent so", async () => {
    await using upstream = await startServers();
    await using client = clientAt(upstream, { pools: { chat: { models: ["mine"] } }, aliases });
    await client.chat.completions.create({ model: "dated-alias", messages });
    assertEquals(sentIds(upstream), ["gpt-4o-2024-11-20"]);
  });

  it("may be dated in the option `models` of create", async () => {
    await using upstream = await startServers();
    await using client = create("chat-completion", {
      env: { OPENAI_API_KEY: key, OPENAI_BASE_URL: upstream.url },
      models: ["gpt-4o-2024-11-20"],
    });
    await client.chat.completions.create({ messages });
    assertEquals(sentIds(upstream), ["gpt-4o-2024-11-20"]);
  });

  it("in the pools of a client may be aliases of pools", async () => {
    await using upstream = await startServers();
    const token = "a-token-of-16-chars";
    await using proxy = await startTestProxy({
      upstreams: { a: upstream.url, b: upstream.url },
      config: {
        pools: { chat: { models: ["a"] }, other: { models: ["b"] } },
        aliases: { mine: "other" },
        proxy: { auth: { tokens: [{ token, name: "app", pools: ["mine"] }] } },
      },
    });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const statuses = [];
    for (const model of ["mine", "other", "chat"]) {
      const response = await proxy.chat({}, { headers, body: JSON.stringify({ model, messages }) });
      await response.text();
      statuses.push(response.status);
    }
    assertEquals(statuses, [200, 200, 404]);
  });

  it("in the list for a client with pools are the aliases that it may use, whatever they stand for", async () => {
    await using upstream = await startServers();
    const token = "a-token-of-16-chars";
    await using proxy = await startTestProxy({
      upstreams: { a: upstream.url, b: upstream.url },
      config: {
        models: {
          a: { provider: "a", model: "id", capabilities: ["chat-completion"] },
          b: { provider: "b", capabilities: ["chat-completion"] },
        },
        pools: { "chat-completion": { models: ["a"] }, other: { models: ["b"] } },
        aliases: { one: "id", two: "generation.text-generation.chat-completion", three: "b", four: "other" },
        proxy: { auth: { tokens: [{ token, name: "app", pools: ["chat-completion"] }] } },
      },
    });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const { data } = await (await fetch(`${proxy.url}/v1/models`, { headers })).json();
    assertEquals(data.map(({ id }: { id: string }) => id), ["chat-completion", "one", "two", "a"]);
    for (const model of ["one", "two"]) {
      const response = await proxy.chat({}, { headers, body: JSON.stringify({ model, messages }) });
      assertEquals(response.status, 200, await response.text());
    }
  });
});
