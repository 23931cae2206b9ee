import { assertEquals, assertRejects, assertStrictEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, mockClient, type MockResponse, RateLimitError, routingOf } from "../../mod.ts";
import { createResponse } from "../support/_custom_provider.ts";
import { getText, messages } from "../support/_library.ts";

async function ask(client: ReturnType<typeof mockClient>, content = "Hi"): Promise<string | null | undefined> {
  return getText(await client.chat.completions.create({ messages: [{ role: "user", content }] }));
}

describe("mockClient()", () => {
  const echo: MockResponse = ({ messages }) => `You said ${messages.at(-1)?.content}`;

  it("answers in order: a text, a completion, what a function makes of the request; the last one repeats", async () => {
    await using client = mockClient({ responses: ["One", createResponse("Two"), echo] });
    assertEquals([await ask(client), await ask(client), await ask(client, "a"), await ask(client, "b")], [
      "One",
      "Two",
      "You said a",
      "You said b",
    ]);
  });

  it("throws an error where it is configured to, and goes on after it", async () => {
    const error = new RateLimitError("Later", { code: "rate_limit_exceeded", retryAfterMs: 1000 });
    await using client = mockClient({ responses: [error, () => error, "Now"] });
    assertStrictEquals(await assertRejects(() => ask(client)), error);
    assertStrictEquals(await assertRejects(() => ask(client)), error);
    assertEquals([await ask(client), await ask(client)], ["Now", "Now"]);
    assertEquals(client.describe().pools[0]?.models.map(({ status }) => status), ["active"]);
  });

  it("streams as well, and has routing and a description like any client", async () => {
    await using client = mockClient({ responses: ["Some words to stream"] });
    const answer = await client.chat.completions.create({ messages, stream: true });
    let text = "";
    let finish: string | null | undefined;
    for await (const { choices: [choice] } of answer) {
      text += choice?.delta.content ?? "";
      finish = choice?.finish_reason ?? finish;
    }
    assertEquals([text, finish], ["Some words to stream", "stop"]);
    assertEquals(routingOf(answer)?.fallback_chain.map(({ outcome }) => outcome), ["ok"]);
    assertEquals(client.describe().providers.map(({ status }) => status), ["active"]);
  });

  it("answers other operations with non-streaming responses", async () => {
    const vectors = {
      object: "list" as const,
      data: [{ object: "embedding" as const, index: 0, embedding: [1, 2] }],
      model: "mock",
      usage: { prompt_tokens: 1, total_tokens: 1 },
    };
    const found = { object: "search" as const, model: "mock", results: [] };
    await using client = mockClient({ responses: [vectors, found, "a text"] });
    assertEquals((await client.embeddings.create({ input: "red" })).data, vectors.data);
    assertEquals(await client.search.create({ query: "red" }), found);
    const error = await assertRejects(() => client.rerank.create({ query: "red", documents: ["rose"] }), TypeError);
    assertEquals(error.message.includes("rerank has to be a complete response"), true);
  });

  it("answers requests for documents, images, transcripts and speech", async () => {
    const parsed = {
      object: "document" as const,
      model: "mock",
      text: "# One",
      pages: [{ page: 1, markdown: "# One" }],
    };
    const drawn = { created: 1, data: [{ b64_json: "AAAA" }] };
    const file = new File([new Uint8Array([1])], "a.mp3", { type: "audio/mpeg" });
    const image = new File([new Uint8Array([1])], "a.png", { type: "image/png" });
    const sound = Uint8Array.of(1, 2, 3);
    await using client = mockClient({
      responses: [parsed, drawn, drawn, { text: "Red." }, { text: "Red." }, sound, sound, parsed],
    });
    assertEquals(await client.documents.parse({ url: "https://papers.example/one.pdf" }), parsed);
    assertEquals((await client.images.generate({ prompt: "red" })).data, drawn.data);
    assertEquals((await client.images.edit({ image, prompt: "red" })).data, drawn.data);
    assertEquals((await client.audio.transcriptions.create({ file })).text, "Red.");
    assertEquals(await client.audio.translations.create({ file, response_format: "text" }), "Red.");
    const speech = await client.audio.speech.create({ input: "red", voice: "alloy" });
    assertEquals([speech.headers.get("content-type"), await speech.bytes()], ["audio/mpeg", sound]);
    await assertRejects(() => ask(client), TypeError, "has to be bytes");
    await assertRejects(
      () => client.audio.speech.create({ input: "red", voice: "alloy" }),
      TypeError,
      "has to be bytes",
    );
  });

  it("hands out exactly one response a call, however many are under way", async () => {
    const responses = Array.from({ length: 20 }, (_, place) => `${place}`);
    await using client = mockClient({ responses });
    const answers = await Promise.all(responses.map(() => ask(client)));
    assertEquals(answers.sort(), [...responses].sort());
  });
});

describe("The responses of mockClient()", () => {
  const look = { id: "call_1", type: "function" as const, function: { name: "look", arguments: "{}" } };

  it("are at least one", () => {
    for (const options of [{ responses: [] }, {}, { responses: "Hello" }, undefined]) {
      const error = assertThrows(() => mockClient(options as never), ConfigError);
      assertStringIncludes(error.message, "responses: expected a list of at least one response");
    }
  });

  it("are texts, bodies, errors and functions", () => {
    const error = assertThrows(() => mockClient({ responses: ["a", 42, null, ["b"]] as never }), ConfigError);
    assertEquals(error.problems.map(({ path }) => path), ["responses[1]", "responses[2]", "responses[3]"]);
  });

  it("may be a tool call alone, streamed or not", async () => {
    const responses: MockResponse[] = [{ choices: [{ message: { tool_calls: [look] } }] }];
    await using client = mockClient({ responses });
    const { choices: [choice] } = await client.chat.completions.create({ messages });
    assertEquals([choice?.finish_reason, choice?.message.content, choice?.message.tool_calls], [
      "tool_calls",
      null,
      [look],
    ]);
    const chunks = await Array.fromAsync(await client.chat.completions.create({ messages, stream: true }));
    assertEquals(chunks[0]?.choices[0]?.delta.tool_calls, [{ index: 0, ...look }]);
    assertEquals(chunks.at(-1)?.choices[0]?.finish_reason, "tool_calls");
  });

  it("may lack what a tool call needs, too", async () => {
    await using client = mockClient({
      responses: [{ choices: [{ message: { tool_calls: [{ function: { name: "look" } }] } }] }],
    });
    const { choices: [choice] } = await client.chat.completions.create({ messages });
    const [call] = choice?.message.tool_calls ?? [];
    assertEquals([call?.type, call?.function.arguments, call?.id !== ""], ["function", "{}", true]);
  });

  it("are not changed by a call, so that they repeat", async () => {
    const scripted = { choices: [{ message: { content: "Hello" } }] };
    const before = JSON.stringify(scripted);
    await using client = mockClient({ responses: [scripted] });
    assertEquals([await ask(client), await ask(client)], ["Hello", "Hello"]);
    assertEquals(JSON.stringify(scripted), before);
  });

  it("of other operations may be partial as well", async () => {
    await using client = mockClient({
      responses: [
        { data: [{ embedding: [1, 2] }] },
        { results: [{ flagged: true }] },
        { results: [{ index: 0, relevance_score: 1 }] },
        { results: [{ title: "Red", url: "https://red.example" }] },
        { text: "# Red", pages: [] },
        { data: [{ b64_json: "AAAA" }] },
      ],
    });
    const embedded = await client.embeddings.create({ input: "red" });
    assertEquals([embedded.model, embedded.object, embedded.data[0]?.index], ["mock", "list", 0]);
    const moderated = await client.moderations.create({ input: "red" });
    assertEquals([moderated.model, moderated.results[0]?.flagged], ["mock", true]);
    assertEquals((await client.rerank.create({ query: "red", documents: ["rose"] })).model, "mock");
    assertEquals((await client.search.create({ query: "red" })).object, "search");
    assertEquals((await client.documents.parse({ url: "https://papers.example/one.pdf" })).object, "document");
    assertEquals((await client.images.generate({ prompt: "red" })).created, 0);
  });

  it("serve responses.create(), streamed or not", async () => {
    await using client = mockClient({ responses: ["Hello there", { choices: [{ message: { tool_calls: [look] } }] }] });
    assertEquals((await client.responses.create({ input: "Hi" })).output_text, "Hello there");
    const events = await Array.fromAsync(await client.responses.create({ input: "Hi", stream: true }));
    assertEquals(events.at(-1)?.type, "response.completed");
    assertStringIncludes(JSON.stringify(events.at(-1)), `"name":"look"`);
  });
});
