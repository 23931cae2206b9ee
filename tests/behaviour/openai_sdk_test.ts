/**
 * The official `openai` package as a client of the proxy, whatever dialect the provider behind it speaks.
 */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import OpenAI from "openai";
import { type Dialect, dialects, type Reply, speaking } from "../support/_dialects.ts";
import { arrival, assertCloses } from "../support/_leaving.ts";
import { createSdk, startDialectProxy } from "../support/_dialect_proxy.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import {
  type Behaviour,
  formatHead,
  Gate,
  hang,
  ok,
  respond,
  startUpstream,
  type Upstream,
} from "../support/upstream.ts";

type Chunk = OpenAI.ChatCompletionChunk;
const ask = { model: "chat", messages: [{ role: "user" as const, content: "Hi" }] };
const askStream = { ...ask, stream: true as const };
const text = "Hello wörld, how are you?";
const calls = [
  { id: "call_a", name: "get_weather", input: { city: "Zürich", days: 2 } },
  { id: "call_b", name: "get_time", input: { zone: "Europe/Zurich" } },
  { id: "call_c", name: "get_date", input: {} },
];
const tools = calls.map(({ name }) => ({
  type: "function" as const,
  function: { name, parameters: { type: "object", properties: { city: { type: "string" } } } },
}));

/** Whose dialect the provider speaks, and which server the proxy listens with. */
interface Setup {
  readonly dialect: Dialect;
  readonly listener?: "node" | "deno";
}

const nodeServer: Setup = { dialect: "openai", listener: "node" };
const setups: readonly Setup[] = [...dialects.map((dialect) => ({ dialect })), nodeServer];

/** A proxy over one provider, and a client of it. */
async function withClient(
  { dialect, listener }: Setup,
  script: Behaviour,
  body: (client: OpenAI, upstream: Upstream, proxy: TestProxy) => Promise<void>,
): Promise<void> {
  await using upstream = await startUpstream(script);
  const options = listener === undefined ? {} : { listener };
  await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url } }, options);
  await body(createSdk(proxy), upstream, proxy);
}

/** All chunks of a stream, each checked. */
async function collect(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  for (const chunk of chunks) assertMatchesSchema("CreateChatCompletionStreamResponse", chunk);
  return chunks;
}

/** The id that the package puts beside a response. */
function getId(answer: object): unknown {
  return Reflect.get(answer, "_request_id");
}

function joinChunkTexts(chunks: readonly Chunk[]): string {
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
}

function listFunctions(calls: readonly OpenAI.ChatCompletionMessageToolCall[] | undefined): unknown[] {
  return (calls ?? []).map((call) =>
    call.type === "function" ? [call.id, call.function.name, JSON.parse(call.function.arguments)] : call
  );
}

const expectedCalls = calls.map(({ id, name, input }) => [id, name, input]);

for (const setup of setups) {
  const { dialect, listener = "default" } = setup;
  const { respond: answer, model, eventsToContent } = speaking[dialect];
  const run = (reply: Reply, body: Parameters<typeof withClient>[2]) => withClient(setup, answer(reply), body);

  describe(`The openai package over a provider of the ${dialect} dialect, ${listener} listener`, () => {
    it("gets a non-streaming response with its request id", () =>
      run({}, async (client) => {
        const { data, response, request_id } = await client.chat.completions.create(ask).withResponse();
        assertMatchesSchema("CreateChatCompletionResponse", data);
        assertEquals(data.choices[0]!.message.content, text);
        assertEquals([data.choices[0]!.finish_reason, data.usage?.total_tokens], ["stop", 15]);
        assertMatch(data.model, new RegExp(`^${model}`));
        assertMatch(request_id ?? "", /^[0-9a-f-]{36}$/);
        assertEquals([response.headers.get("x-request-id"), getId(data)], [request_id, request_id]);
      }));

    it("gets a stream without usage unless it asks", () =>
      run({}, async (client) => {
        for (const stream_options of [undefined, { include_usage: false }]) {
          const stream = await client.chat.completions.create({ ...askStream, stream_options });
          const chunks = await collect(stream);
          assertEquals(joinChunkTexts(chunks), text);
          assertEquals(chunks.at(-1)!.choices[0]!.finish_reason, "stop");
          assert(chunks.every(({ usage, choices }) => choices.length === 1 && (usage ?? null) === null));
          assertEquals([...new Set(chunks.map(({ id }) => id))].length, 1);
        }
      }));

    it("gets the usage once, in the last chunk, when it asks", () =>
      run({}, async (client) => {
        const stream = await client.chat.completions.create({ ...askStream, stream_options: { include_usage: true } });
        const chunks = await collect(stream);
        assertEquals(joinChunkTexts(chunks), text);
        const withUsage = chunks.filter(({ usage }) => (usage ?? null) !== null);
        assertEquals([withUsage.length, withUsage[0]], [1, chunks.at(-1)]);
        assertEquals([withUsage[0]!.choices, withUsage[0]!.usage?.total_tokens], [[], 15]);
      }));

    it("gets several parallel tool calls, non-streaming and streaming", () =>
      run({ calls }, async (client) => {
        const whole = await client.chat.completions.create({ ...ask, tools });
        assertMatchesSchema("CreateChatCompletionResponse", whole);
        assertEquals(whole.choices[0]!.finish_reason, "tool_calls");
        assertEquals(listFunctions(whole.choices[0]!.message.tool_calls), expectedCalls);
        const chunks = await collect(await client.chat.completions.create({ ...askStream, tools }));
        const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
        assertEquals([...new Set(pieces.map(({ index }) => index))], [0, 1, 2]);
        for (const { id, type, function: named } of pieces) {
          assertEquals([typeof id, type], id === undefined ? ["undefined", undefined] : ["string", "function"]);
          assertEquals(typeof named?.arguments, "string");
        }
        assertEquals(chunks.at(-1)!.choices[0]!.finish_reason, "tool_calls");
      }));

    it("puts streamed text and streamed tool calls together with its own helper", async () => {
      await run({}, async (client) => {
        const final = await client.chat.completions.stream(ask).finalChatCompletion();
        assertMatchesSchema("CreateChatCompletionResponse", final);
        assertEquals(final.choices[0]!.message.content, text);
      });
      await run({ calls }, async (client) => {
        const final = await client.chat.completions.stream({ ...ask, tools }).finalChatCompletion();
        assertEquals(listFunctions(final.choices[0]!.message.tool_calls), expectedCalls);
        assertEquals(final.choices[0]!.finish_reason, "tool_calls");
      });
    });

    it("ends the provider's call by leaving the loop, and by the stream's controller", async () => {
      for (const leave of ["break", "controller"]) {
        const gate = new Gate();
        gate.open(eventsToContent);
        await run({ gate }, async (client, upstream) => {
          const stream = await client.chat.completions.create(askStream);
          for await (const chunk of stream) {
            if ((chunk.choices[0]?.delta.content ?? "") === "") continue;
            if (leave === "break") break;
            stream.controller.abort();
          }
          await assertCloses(upstream.requests[0]!, () => {}); // it has left already
        });
      }
    });
  });
}

describe("The openai package", () => {
  it("ends the provider's call by an AbortController before the response, streaming or not", async () => {
    for (const request of [ask, askStream]) {
      await withClient({ dialect: "openai", listener: "node" }, hang(), async (client, upstream, proxy) => {
        const controller = new AbortController();
        const { signal } = controller;
        const failed = assertRejects(
          async () => await client.chat.completions.create(request, { signal }),
          OpenAI.APIUserAbortError,
        );
        const received = await arrival(upstream);
        await assertCloses(received, () => controller.abort());
        await failed;
        assertEquals(proxy.mesh.poolStatus().chat!.status, "ok");
      });
    }
  });

  it("lists pools and models, and retrieves one by any name", async () => {
    await using upstream = await startUpstream(ok());
    const provider = { dialect: "openai" as const, url: upstream.url };
    await using proxy = await startDialectProxy({ first: provider, "acme/große-2 100%": provider });
    const client = createSdk(proxy);
    const list = await client.models.list();
    assertMatchesSchema("ListModelsResponse", await client.models.list().asResponse().then((it) => it.json()));
    assertEquals(list.data.map(({ id, owned_by }) => [id, owned_by]), [
      ["chat", "mesh"],
      ["first", "openai-compatible"],
      ["acme/große-2 100%", "openai-compatible"],
    ]);
    for (const { id } of list.data) {
      const model = await client.models.retrieve(id);
      assertMatchesSchema("Model", model);
      assertEquals(model.id, id);
    }
    assertEquals(upstream.calls, 0);
  });

  it("sends a request id of its own and gets it back", () =>
    withClient({ dialect: "openai" }, respond(), async (client) => {
      const headers = { "x-request-id": "mine-1" };
      assertEquals(getId(await client.chat.completions.create(ask, { headers })), "mine-1");
      const { request_id, data } = await client.chat.completions.create(askStream, { headers }).withResponse();
      assertEquals([request_id, joinChunkTexts(await collect(data))], ["mine-1", "Hello world"]);
    }));
});

const head = { id: "c1", object: "chat.completion.chunk", created: 1, model: "small" };
type Piece = { index?: number; id?: string; type?: string; function: { name?: string; arguments?: string } };

/** A stream of tool calls, its deltas as a server of that dialect may write them. */
function callStream(...deltas: readonly (readonly Piece[])[]): Behaviour {
  const events = [
    { delta: { role: "assistant", content: null }, finish_reason: null },
    ...deltas.map((tool_calls) => ({ delta: { tool_calls }, finish_reason: null })),
    { delta: {}, finish_reason: "tool_calls" },
  ].map((choice) => `data: ${JSON.stringify({ ...head, choices: [{ index: 0, ...choice }] })}\n\n`);
  return {
    async play(exchange) {
      await exchange.write(formatHead(200, { "content-type": "text/event-stream" }));
      await exchange.write(`${events.join("")}data: [DONE]\n\n`);
      exchange.close();
    },
  };
}

describe("Tool calls of servers that leave out what clients rely on", () => {
  const a = (part: string) => ({ name: part === "" ? "get_a" : undefined, arguments: part });
  const rows: [name: string, deltas: Piece[][]][] = [
    ["no type", [
      [{ index: 0, id: "call_1", function: a("") }],
      [{ index: 0, function: { arguments: '{"a":' } }],
      [{ index: 0, function: { arguments: "1}" } }],
      [{ index: 1, id: "call_2", function: { name: "get_b", arguments: "{}" } }],
    ]],
    ["no index, all calls in one delta", [[
      { id: "call_1", type: "function", function: { name: "get_a", arguments: '{"a":1}' } },
      { id: "call_2", type: "function", function: { name: "get_b", arguments: "{}" } },
    ]]],
    ["no index, each call in a delta of its own", [
      [{ id: "call_1", type: "function", function: { name: "get_a", arguments: '{"a":1}' } }],
      [{ id: "call_2", type: "function", function: { name: "get_b", arguments: "{}" } }],
    ]],
    ["no index, arguments in pieces", [
      [{ id: "call_1", function: a("") }],
      [{ function: { arguments: '{"a":' } }],
      [{ function: { arguments: "1}" } }],
      [{ id: "call_2", function: { name: "get_b", arguments: "{}" } }],
    ]],
    ["an id that is repeated in every delta", [
      [{ index: 0, id: "call_1", type: "function", function: { name: "get_a", arguments: '{"a":' } }],
      [{ index: 0, id: "call_1", type: "function", function: { arguments: "1}" } }],
      [{ index: 1, id: "call_2", type: "function", function: { name: "get_b", arguments: "{}" } }],
    ]],
  ];
  for (const [name, deltas] of rows) {
    it(`come together all the same: ${name}`, async () => {
      await using upstream = await startUpstream(callStream(...deltas));
      await using proxy = await startTestProxy({ upstreams: { one: upstream.url } });
      const client = createSdk(proxy);
      await collect(await client.chat.completions.create({ ...askStream, tools }));
      const final = await client.chat.completions.stream({ ...ask, tools }).finalChatCompletion();
      assertEquals(listFunctions(final.choices[0]!.message.tool_calls), [
        ["call_1", "get_a", { a: 1 }],
        ["call_2", "get_b", {}],
      ]);
    });
  }
});
