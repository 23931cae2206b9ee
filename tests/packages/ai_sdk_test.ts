// deno-lint-ignore-file no-import-prefix -- an entry of `imports` would be downloaded before every task
/** `@modelmesh/core/ai-sdk` under Vercel's `ai`: models in process, without a proxy. */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type {
  EmbeddingModelV4,
  ImageModelV4,
  LanguageModelV4,
  ProviderV4,
  RerankingModelV4,
  SpeechModelV4,
  TranscriptionModelV4,
} from "npm:@ai-sdk/provider@4.0.38";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { mesh } from "../../ai_sdk.ts";
import { create, ModelNotFoundError, NoProvidersError, ProviderError, StreamInterruptedError } from "../../mod.ts";
import { dialectConfig } from "../support/_dialect_proxy.ts";
import { type Dialect, dialects, speaking } from "../support/_dialects.ts";
import { type OperationStage, operationStage } from "../support/_operations.ts";
import { Gate, ok, type Script, startUpstream, status, stream, type Upstream } from "../support/upstream.ts";

const text = "Hello world";
const hello = "Hello wörld, how are you?";
const calls = [
  { id: "call_a", name: "get_weather", input: { city: "Zürich", days: 2 }, state: "c2VhbA==" },
  { id: "call_b", name: "get_time", input: { zone: "Europe/Zurich" } },
];
const asked = { prompt: "Hi", maxRetries: 0 };

/** Two models, of which the first one always fails: what `ai` gets came by a failover. */
function stage(script: Script): Promise<OperationStage> {
  const capability = "chat-completion";
  return operationStage({ a: status(503), b: script }, { capability, pool: { retry: { max_attempts: 0 } } });
}

/** A model over one provider of a dialect. */
async function withModel(
  dialect: Dialect,
  script: Script,
  body: (model: LanguageModelV4, upstream: Upstream) => Promise<void>,
): Promise<void> {
  await using upstream = await startUpstream(script);
  await using client = create({ config: dialectConfig({ only: { dialect, url: upstream.url } }) });
  await body(mesh(client)("chat"), upstream);
}

const each = (title: string, test: (dialect: Dialect) => Promise<void>) =>
  dialects.forEach((dialect) => it(`${title} (${dialect})`, () => test(dialect)));

describe("mesh()", () => {
  it("is a provider of ai's specification", async () => {
    await using scene = await stage(ok());
    const provider = mesh(scene.client);
    const asGiven: ProviderV4 = provider;
    const models: [
      LanguageModelV4,
      EmbeddingModelV4,
      ImageModelV4,
      SpeechModelV4,
      TranscriptionModelV4,
      RerankingModelV4,
    ] = [
      provider("pool"),
      provider.embeddingModel("pool"),
      provider.imageModel("pool"),
      provider.speechModel("pool"),
      provider.transcriptionModel("pool"),
      provider.rerankingModel("pool"),
    ];
    assertEquals(asGiven.languageModel("x").modelId, "x");
    for (const { specificationVersion, provider: name, modelId } of models) {
      assertEquals([specificationVersion, name, modelId], ["v4", "mesh", "pool"]);
    }
  });

  it("takes a client's options, and says at once what is wrong with them", async () => {
    assertThrows(() => mesh({ env: {} }), NoProvidersError);
    const provider = mesh({ env: { OPENAI_API_KEY: "sk-0123456789" } });
    assertEquals(provider.client.describe().providers.map(({ id }) => id), ["openai.llm.v1"]);
    await provider.client.close();
  });
});

describe("a language model of mesh()", () => {
  it("answers after a failover, with the usage and who answered", async () => {
    await using scene = await stage(ok());
    const { text: said, usage, finishReason, providerMetadata, response } = await generateText({
      ...{ model: mesh(scene.client)("pool"), prompt: "Hi", system: "Be kind" },
      ...{ maxOutputTokens: 9, temperature: 0.5, stopSequences: ["END"], maxRetries: 0 },
    });
    assertEquals([said, usage.inputTokens, usage.outputTokens, finishReason], [text, 10, 5, "stop"]);
    assertEquals(providerMetadata?.mesh, { pool: "pool", model: "b", provider: "b" });
    assertEquals(response.modelId, "b");
    assertEquals(scene.upstreams.b!.requests[0]!.json(), {
      ...{ model: "b", max_tokens: 9, temperature: 0.5, stop: ["END"] },
      messages: [{ role: "system", content: "Be kind" }, { role: "user", content: "Hi" }],
    });
  });

  each(
    "streams text and thoughts",
    (dialect) =>
      withModel(dialect, speaking[dialect].respond({ thoughts: "Let me see" }), async (model) => {
        const result = streamText({ model, ...asked });
        assertEquals((await Array.fromAsync(result.textStream)).join(""), hello);
        assertEquals([await result.reasoningText, (await result.totalUsage).totalTokens], ["Let me see", 15]);
        assertEquals(await result.finishReason, "stop");
      }),
  );

  for (const isStream of [false, true]) {
    each(`calls tools over several steps, ${isStream ? "streamed" : "whole"}`, (dialect) => {
      const script = [speaking[dialect].respond({ calls }), speaking[dialect].respond()];
      return withModel(dialect, script, async (model, upstream) => {
        const tools = Object.fromEntries(calls.map(({ name }) => [
          name,
          tool({
            inputSchema: jsonSchema<object>({ type: "object", properties: {} }),
            execute: (input: object) => `of ${name}: ${JSON.stringify(input)}`,
          }),
        ]));
        const settings = { model, ...asked, tools, stopWhen: stepCountIs(3) };
        const result = isStream ? streamText(settings) : await generateText(settings);
        if ("textStream" in result) await result.consumeStream();
        assertEquals([await result.text, (await result.steps).length], [hello, 2]);
        const sent = JSON.stringify(upstream.requests[1]!.json());
        assertMatch(sent, /of get_weather.*Zürich.*of get_time/);
        if (dialect !== "openai") assertMatch(sent, /c2VhbA==/); // its vendor's state came back
      });
    });
  }

  for (const isStream of [false, true]) {
    it(`returns images, sources and the state of reasoning, ${isStream ? "streamed" : "whole"}`, async () => {
      const details = [
        { type: "reasoning.text", text: "Hm", format: "acme-v1", index: 0 },
        { type: "reasoning.encrypted", data: "c2VjcmV0", id: "rs_1", index: 1 },
      ];
      const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" }, index: 0 };
      const source = { url: "https://a.example/", title: "A" };
      const annotation = { type: "url_citation", url_citation: { start_index: 0, end_index: 2, ...source } };
      const says = { role: "assistant", content: "So", images: [image], annotations: [annotation, annotation] };
      const head = { id: "c1", created: 1, model: "m" };
      const chunk = (delta: object, finish_reason: string | null = null) =>
        `data: ${
          JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })
        }\n\n`;
      const reply = isStream
        ? status(200, {
          text: [
            chunk({ reasoning: "Hm", reasoning_details: [details[0]] }),
            chunk(says),
            chunk({ reasoning_details: [details[1]] }),
            chunk({}, "stop"),
            "data: [DONE]\n\n",
          ].join(""),
          headers: { "content-type": "text/event-stream" },
        })
        : status(200, {
          json: {
            ...{ ...head, object: "chat.completion" },
            choices: [{
              index: 0,
              message: { ...says, reasoning: "Hm", reasoning_details: details },
              finish_reason: "stop",
            }],
          },
        });
      await withModel("openai", [reply, speaking.openai.respond()], async (model, upstream) => {
        const result = isStream ? streamText({ model, ...asked }) : await generateText({ model, ...asked });
        if ("textStream" in result) await result.consumeStream();
        assertEquals((await result.files).map(({ base64, mediaType }) => [base64, mediaType]), [
          ["iVBORw0KGgo=", "image/png"],
        ]);
        assertEquals(
          (await result.sources).map((one) => one.sourceType === "url" ? [one.url, one.title] : []),
          [[source.url, source.title]],
        );
        const { messages } = await result.response;
        await generateText({
          model,
          maxRetries: 0,
          messages: [{ role: "user", content: "Hi" }, ...messages, { role: "user", content: "More" }],
        });
        const [, sent] = upstream.requests[1]!.json().messages;
        assertEquals([sent.reasoning_details, sent.images, sent.content], [details, [image], "So"]);
      });
    });
  }

  it("answers in JSON", async () => {
    await using scene = await stage(ok({ text: '{"at":1}' }));
    const schema = jsonSchema<{ at: number }>({ type: "object", properties: { at: { type: "number" } } });
    const { output } = await generateText({
      ...{ model: mesh(scene.client)("pool"), ...asked },
      output: Output.object({ schema, name: "place" }),
    });
    assertEquals(output, { at: 1 });
    const { json_schema } = scene.upstreams.b!.requests[0]!.json().response_format;
    assertEquals([json_schema.name, json_schema.schema.properties], ["place", { at: { type: "number" } }]);
  });

  it("sends images, sound and files, and files that a tool returned", async () => {
    await using scene = await stage(ok());
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    await generateText({
      model: mesh(scene.client)("pool"),
      maxRetries: 0,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See?" },
            { type: "image", image: png },
            { type: "file", data: "AAAA", mediaType: "audio/wav" },
            { type: "file", data: "JVBERg==", mediaType: "application/pdf", filename: "a.pdf" },
          ],
        },
        { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "look", input: { at: 1 } }] },
        {
          role: "tool",
          content: [{
            type: "tool-result",
            toolCallId: "c1",
            toolName: "look",
            output: {
              type: "content",
              value: [{ type: "text", text: "Here" }, {
                type: "file",
                mediaType: "image/png",
                data: { type: "data", data: "iVBORw0KGgo=" },
              }],
            },
          }],
        },
      ],
    });
    const url = "data:image/png;base64,iVBORw0KGgo=";
    assertEquals(scene.upstreams.b!.requests[0]!.json().messages, [
      {
        role: "user",
        content: [
          { type: "text", text: "See?" },
          { type: "image_url", image_url: { url } },
          { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: '{"at":1}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "Here" },
      {
        role: "user",
        content: [{ type: "text", text: "Of the result of the tool call c1:" }, {
          type: "image_url",
          image_url: { url },
        }],
      },
    ]);
  });

  it("takes further members of the request as providerOptions.mesh", async () => {
    await using scene = await stage(ok());
    const providerOptions = { mesh: { user: "u-1", mesh: { only: ["b"] } } };
    await generateText({ model: mesh(scene.client)("pool"), ...asked, providerOptions });
    assertEquals([scene.upstreams.b!.requests[0]!.json().user, scene.calls], ["u-1", { a: 0, b: 1 }]);
  });

  it("throws the mesh's own errors, which ai does not retry", async () => {
    await using scene = await stage(status(503));
    await assertRejects(() => generateText({ model: mesh(scene.client)("nothing"), prompt: "Hi" }), ModelNotFoundError);
    await assertRejects(() => generateText({ model: mesh(scene.client)("pool"), prompt: "Hi" }), ProviderError);
    assertEquals(scene.calls, { a: 1, b: 1 });
  });

  it("ends a stream that breaks midway with an error", async () => {
    await using scene = await stage(
      stream({ pieces: ["Hel", "lo"], cut: { after: 1, how: "reset" } }),
    );
    const errors: unknown[] = [];
    const { fullStream } = streamText({
      ...{ model: mesh(scene.client)("pool"), ...asked },
      onError: ({ error }) => void errors.push(error),
    });
    const parts = await Array.fromAsync(fullStream);
    assertEquals(parts.flatMap((part) => part.type === "text-delta" ? part.text : []).join(""), "Hel");
    assertEquals([errors.length, StreamInterruptedError.isInstance(errors[0])], [1, true]);
  });

  it("ends the provider's call with the signal", async () => {
    const gate = new Gate();
    await withModel("openai", speaking.openai.respond({ gate }), async (model, upstream) => {
      gate.open(3);
      const controller = new AbortController();
      const { textStream } = streamText({ model, ...asked, abortSignal: controller.signal });
      for await (const _ of textStream) controller.abort();
      const call = await upstream.received(1);
      await call.closed;
      assert(call.isClosed);
      gate.openAll();
    });
  });
});
