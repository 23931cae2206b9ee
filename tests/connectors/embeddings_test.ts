/** What a text is embedded for, in the format of each vendor, and what their models have in common. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { CompletionRequest, EmbeddingRequest } from "../../mod.ts";
import { UpstreamError } from "../../src/errors.ts";
import { json, type Script, startUpstream } from "../support/upstream.ts";
import { loadedProviders } from "../support/connectors.ts";
import { connected } from "./_provider_calls.ts";

const shaped = {
  embeddings: { float: [[1]] },
  data: [{ index: 0, embedding: [1] }],
};
const connectors = { cohere: "cohere.nlp.v1", jina: "jina.ai.v1", voyage: "voyage.embeddings.v1" } as const;

/** What a vendor gets, and what is named as left out. */
async function asked(connector: string, body: JsonObject): Promise<{ sent: JsonObject; dropped: readonly string[] }> {
  await using upstream = await startUpstream(json(shaped));
  const { provider, options } = connected({ connector }, upstream);
  let dropped: readonly string[] = [];
  const request = { operation: "embeddings", model: { id: "m" }, stream: false, body: { input: "a", ...body } };
  await provider.complete(request as unknown as CompletionRequest, {
    ...options,
    reportDropped: (names) => dropped = names,
  });
  return { sent: upstream.requests[0]!.json() as JsonObject, dropped };
}

describe("What a text is embedded for", () => {
  const rows: readonly (readonly [JsonObject, Readonly<Record<keyof typeof connectors, unknown>>])[] = [
    [{}, { cohere: "search_document", jina: undefined, voyage: undefined }],
    [{ input_type: "query" }, { cohere: "search_query", jina: "retrieval.query", voyage: "query" }],
    [{ input_type: "search_query" }, { cohere: "search_query", jina: "retrieval.query", voyage: "query" }],
    [{ task: "retrieval.query" }, { cohere: "search_query", jina: "retrieval.query", voyage: "query" }],
    [{ input_type: "passage" }, { cohere: "search_document", jina: "retrieval.passage", voyage: "document" }],
    [{ task: "retrieval.passage" }, { cohere: "search_document", jina: "retrieval.passage", voyage: "document" }],
  ];
  for (const [body, words] of rows) {
    it(`goes in each vendor's word: ${JSON.stringify(body)}`, async () => {
      for (const [name, word] of Object.entries(words)) {
        const { sent, dropped } = await asked(connectors[name as keyof typeof connectors], body);
        assertEquals([sent.input_type ?? sent.task, dropped], [word, []], name);
      }
    });
  }

  it("goes as it is where the vendor alone knows the word, and is named where it has none", async () => {
    assertEquals((await asked(connectors.jina, { task: "code.query" })).sent.task, "code.query");
    assertEquals((await asked(connectors.cohere, { input_type: "image" })).sent.input_type, "image");
    const classified = await asked(connectors.voyage, { input_type: "classification" });
    assertEquals([classified.sent.input_type, classified.dropped], [undefined, ["input_type"]]);
    const strange = await asked(connectors.voyage, { task: "constructor" });
    assertEquals([strange.sent.input_type, strange.dropped], [undefined, ["task"]]);
  });
});

describe("Parameters of embeddings", () => {
  it("that are a vendor's own go to it alone", async () => {
    const own = { truncation: false, late_chunking: true, user: "u" };
    const [voyage, jina] = [await asked(connectors.voyage, own), await asked(connectors.jina, own)];
    assertEquals([voyage.sent.truncation, voyage.dropped], [false, ["late_chunking", "user"]]);
    assertEquals([jina.sent.late_chunking, jina.dropped], [true, ["user"]]);
  });

  it("are texts: tokens are another vendor's", async () => {
    for (const connector of Object.values(connectors)) {
      await assertRejects(
        () => asked(connector, { input: [[1, 2]] as unknown as EmbeddingRequest["input"] }),
        UpstreamError,
      );
      await assertRejects(() => asked(connector, { input: [1, 2] }), UpstreamError, "not token ids");
    }
  });
});

describe("Embedding spaces of the catalogue", () => {
  it("are one for Voyage's fourth generation, and else each model's own", () => {
    const spaces = (id: string) =>
      loadedProviders.find((one) => one.id === id)!.models.flatMap(({ embedding_space }) => embedding_space ?? []);
    assertEquals(spaces("voyage.embeddings.v1"), [
      "voyage-4",
      "voyage-4",
      "voyage-4",
      "voyage-code-4",
      "voyage-code-3",
    ]);
    assertEquals(new Set(spaces("jina.ai.v1")).size, 5);
  });
});

describe("Embeddings by clouds", () => {
  const texts = Array.from({ length: 10 }, (_, at) => String(at));
  /** What becomes of ten texts, and how many calls it takes. */
  async function embed(
    connector: string,
    model: string,
    more: { config: JsonObject; body?: JsonObject; reply: Script },
  ) {
    await using upstream = await startUpstream(more.reply);
    const { provider, options } = connected({ connector, config: more.config }, upstream);
    const body = { input: texts, ...more.body };
    const request = { operation: "embeddings", model: { id: model }, stream: false, body };
    const response = await provider.complete(request as unknown as CompletionRequest, options);
    const { data, usage } = (response as unknown as { body: JsonObject & { data: { embedding: number[] }[] } }).body;
    return { vectors: data.map(({ embedding }) => embedding), usage, requests: upstream.requests };
  }
  const region = { region: "eu-central-1" };

  it("take one text for a call of Titan, eight at once; the vectors are in order, the tokens added up", async () => {
    const reply: Script = (request) => json({ embedding: [Number(request.json().inputText)], inputTextTokenCount: 2 });
    const { vectors, usage, requests } = await embed("aws.bedrock.v1", "amazon.titan-embed-text-v2:0", {
      config: region,
      reply,
    });
    assertEquals(vectors, texts.map((text) => [Number(text)]));
    assertEquals([usage, requests.length], [{ prompt_tokens: 20, total_tokens: 20 }, 10]);
    assertEquals(requests[0]!.path, "/v1/model/amazon.titan-embed-text-v2%3A0/invoke");
  });

  it("take many for one of Cohere's, whose tokens a header counts", async () => {
    const headers = { "x-amzn-bedrock-input-token-count": "12" };
    const reply = json({ embeddings: texts.map((text) => [Number(text)]) }, headers);
    const { vectors, usage, requests } = await embed("aws.bedrock.v1", "cohere.embed-multilingual-v3", {
      config: region,
      reply,
    });
    assertEquals([vectors.length, usage, requests.length], [10, { prompt_tokens: 12, total_tokens: 12 }, 1]);
    assertEquals(requests[0]!.json(), { texts, input_type: "search_document" });
  });

  it("take one for a call of Vertex AI's newer models, and need no usage", async () => {
    const reply: Script = (request) =>
      json({ predictions: [{ embeddings: { values: [Number(request.json().instances[0].content)] } }] });
    const config = { project: "p", location: "global" };
    const { vectors, usage, requests } = await embed("google.vertex.v1", "gemini-embedding-001", { config, reply });
    assertEquals([vectors[9], usage, requests.length], [[9], undefined, 10]);
  });

  it("refuse a model whose words are unknown, and vectors that are too few", async () => {
    const short = json({ embeddings: [[1]] });
    const cohere = () => embed("aws.bedrock.v1", "cohere.embed-english-v3", { config: region, reply: short });
    const unknown = () => embed("aws.bedrock.v1", "acme.embed-v1", { config: region, reply: short });
    assertEquals((await assertRejects(cohere, UpstreamError)).kind, "invalid_response");
    assertEquals((await assertRejects(unknown, UpstreamError)).kind, "request");
  });
});
