/** `base_model`: a deployment or a fine-tuned model has the catalogue's facts about the model that it is. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, create } from "../../mod.ts";
import { messages } from "../support/_library.ts";
import { startTestProxy } from "../support/proxy.ts";
import { embeddings, ok, type ReceivedRequest, startUpstream } from "../support/upstream.ts";

/** Models of a vendor, and a client of them. */
async function open(models: Readonly<Record<string, object>>, provider: object = {}, more: object = {}) {
  const upstream = await startUpstream(({ path }: ReceivedRequest) =>
    path.endsWith("/embeddings") ? embeddings() : ok()
  );
  const proxy = await startTestProxy({
    upstreams: {},
    config: {
      providers: {
        cloud: { connector: "azure.openai.v1", base_url: upstream.url, api_key: "k0123456789", ...provider },
      },
      models: Object.fromEntries(
        Object.entries(models).map(([name, model]) => [name, { provider: "cloud", ...model }]),
      ),
      pools: { all: { models: Object.keys(models) } },
      ...more,
    },
  });
  return {
    async ask(body: object, path = "chat/completions") {
      const response = await fetch(`${proxy.url}/v1/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "all", messages, ...body }),
      });
      const text = await response.text();
      return { response, text, sent: JSON.parse(upstream.requests.at(-1)?.body ?? "{}") };
    },
    async capabilities() {
      const { data } = await (await fetch(`${proxy.url}/v1/models`)).json();
      return Object.fromEntries(
        data.filter(({ mesh }: { mesh: { type: string } }) => mesh.type === "model").map(
          ({ id, mesh }: { id: string; mesh: { capabilities: string[] } }) => [id, mesh.capabilities],
        ),
      );
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

const image = [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] }];

/** The problems of a configuration with one model. */
async function findProblems(model: object): Promise<readonly string[]> {
  const config = {
    providers: { cloud: { connector: "azure.openai.v1", base_url: "http://127.0.0.1:9/v1", api_key: "k0123456789" } },
    models: { deployed: { provider: "cloud", ...model } },
  };
  const error = await assertRejects(async () => {
    await using client = create({ config });
    await client.ready();
  }, ConfigError);
  return error.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe("base_model", () => {
  it("brings prices, so that costs are known and a budget holds", async () => {
    const budget = { budget: { daily_limit: 100 } };
    await using scene = await open({ production: { base_model: "gpt-4o-mini" } }, {}, budget);
    const { response } = await scene.ask({});
    assertEquals(response.headers.get("x-mesh-cost-usd"), "0.0000045");
  });

  it("brings the rules of parameters: nothing is dropped that the model accepts", async () => {
    await using scene = await open({ production: { base_model: "openai/gpt-4o" } });
    const { response, sent } = await scene.ask({ temperature: 0.2 });
    assertEquals([sent.model, sent.temperature], ["production", 0.2]);
    assertEquals(response.headers.get("x-mesh-dropped-params"), null);
  });

  it("brings capabilities, features and limits, each of which the entry may set otherwise", async () => {
    await using scene = await open({
      seeing: { base_model: "gpt-4o", constraints: { context_window: 10_000 } },
      blind: { base_model: "gpt-4o", features: { vision: false } },
      vectors: { base_model: "text-embedding-3-small" },
    });
    const { seeing, blind, vectors } = await scene.capabilities();
    assertEquals(vectors, ["representation.embeddings.text-embeddings"]);
    assertEquals(seeing, blind);
    assertEquals((await scene.ask({ model: "seeing", messages: image })).response.status, 200);
    assertEquals((await scene.ask({ model: "blind", messages: image })).response.status, 400);
    const long = [{ role: "user", content: "word ".repeat(110_000) }];
    assertEquals((await scene.ask({ model: "seeing", messages: long })).response.status, 400);
    const embedded = await scene.ask({ model: "vectors", messages: undefined, input: "x" }, "embeddings");
    assertEquals(embedded.response.status, 200, embedded.text);
  });

  it("is found in the provider's own catalogue first, dated or not", async () => {
    const own = { connector: "openai.llm.v1" };
    await using scene = await open({ tuned: { model: "ft:mini:acme::1", base_model: "gpt-4o-mini-2024-07-18" } }, own);
    const { response, sent } = await scene.ask({});
    assertEquals([sent.model, response.headers.get("x-mesh-cost-usd")], ["ft:mini:acme::1", "0.0000045"]);
  });

  it("may have the provider's own vendor before it, as in other gateways", async () => {
    await using scene = await open({ production: { base_model: "azure/gpt-4o-mini" } });
    assertEquals((await scene.ask({})).response.headers.get("x-mesh-cost-usd"), "0.0000045");
  });

  it("does not price a local server", async () => {
    const local = { connector: "vllm.local.v1" };
    await using scene = await open({ tuned: { base_model: "openai/gpt-4o" } }, local);
    assertEquals((await scene.ask({})).response.headers.get("x-mesh-cost-usd"), "0");
  });

  it("is a problem if no catalogue has it, or several have", async () => {
    assertEquals(await findProblems({ base_model: "gpt-4o-minni" }), [
      'models.deployed.base_model: no catalogue has the model "gpt-4o-minni", did you mean "gpt-4o-mini"?',
    ]);
    assertEquals(await findProblems({ base_model: "gemini-3.5-flash" }), [
      'models.deployed.base_model: several catalogues have "gemini-3.5-flash": write "google/gemini-3.5-flash" or "vertex/gemini-3.5-flash"',
    ]);
    assertEquals(await findProblems({ base_model: "xyz" }), [
      'models.deployed.base_model: no catalogue has the model "xyz": "modelmesh models --catalogue" lists them',
    ]);
  });
});
