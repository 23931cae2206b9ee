/** A provider of the program's own that has no `stream` serves streams all the same, in every dialect. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  BaseProvider,
  type ChatCompletion,
  type CompletionRequest,
  create,
  DeadlineError,
  ModelMesh,
  type Provider,
  routingOf,
  UpstreamError,
} from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { createResponse, customProvider } from "../support/_custom_provider.ts";
import { fakeClock, messages } from "../support/_library.ts";

/** A provider without `stream`. */
function wholeProvider(complete: Provider["complete"]): Provider {
  const { stream: _, ...others } = customProvider({ complete });
  return others;
}

const answering = (body: object): Provider => wholeProvider(() => Promise.resolve({ body: body as ChatCompletion }));

const called = {
  ...createResponse(""),
  choices: [{
    index: 0,
    message: {
      role: "assistant" as const,
      content: null,
      refusal: null,
      tool_calls: ["a", "b"].map((id) => ({
        id,
        type: "function" as const,
        function: { name: "look", arguments: `{"at":"${id}"}` },
      })),
    },
    finish_reason: "tool_calls" as const,
    logprobs: null,
  }],
};

/** The configuration of a pool of providers, the first ones first. */
function configOf(providers: readonly Provider[], pool: object = {}) {
  const names = providers.map((_, index) => `m${index}`);
  return {
    providers: Object.fromEntries(providers.map((instance, index) => [`p${index}`, { instance }])),
    models: Object.fromEntries(
      names.map((name, index) => [name, { provider: `p${index}`, pricing: { input: 1, output: 1 } }]),
    ),
    pools: { chat: { models: names, strategy: "priority", retry: { max_attempts: 0 }, ...pool } },
  };
}

function clientOf(providers: readonly Provider[], { clock = fakeClock(), pool = {} } = {}) {
  return create({ config: configOf(providers, pool), clock });
}

async function read<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
}

const stream = { messages, stream: true } as const;

describe("A provider without stream", () => {
  it("streams its complete response, for which it is asked without stream", async () => {
    const seen: CompletionRequest[] = [];
    const provider = wholeProvider((request) => {
      seen.push(request);
      return Promise.resolve({ body: createResponse("All at once") });
    });
    await using client = clientOf([provider]);
    const result = await client.chat.completions.create({ ...stream, seed: 7 });
    const chunks = await read(result);
    assertEquals(chunks.map(({ choices: [choice] }) => [choice?.delta.content, choice?.finish_reason]), [
      ["All at once", null],
      [undefined, "stop"],
    ]);
    assertEquals(
      chunks.map(({ object, usage }) => [object, usage]),
      Array(2).fill(["chat.completion.chunk", undefined]),
    );
    assertEquals(seen.map(({ stream, body }) => [stream, "stream" in body, "stream_options" in body, body.seed]), [
      [false, false, false, 7],
    ]);
    assertEquals(routingOf(result)?.delivery, "stream");
  });

  it("has its usage counted, and in a last chunk where the client asks for it", async () => {
    await using client = clientOf([answering(createResponse("Hi"))]);
    const result = await client.chat.completions.create({ ...stream, stream_options: { include_usage: true } });
    const chunks = await read(result);
    assertEquals(chunks.at(-1)!.choices, []);
    assertEquals(chunks.map(({ usage }) => usage?.total_tokens), [undefined, undefined, 5]);
    const { tokens_in, tokens_out, estimated } = routingOf(result)!;
    assertEquals([tokens_in, tokens_out, estimated], [3, 2, undefined]);
  });

  it("has what the vendor bills counted although it has no usage", async () => {
    const { usage: _, ...body } = createResponse("Hi");
    const billed = { input: 30, output: 20, cost: 0.5 };
    await using client = clientOf([wholeProvider(() => Promise.resolve({ body, billed }))]);
    const result = await client.chat.completions.create(stream);
    await read(result);
    assertEquals(routingOf(result)?.cost_usd, 0.5);
  });

  it("streams tool calls, each with its index", async () => {
    await using client = clientOf([answering(called)]);
    const chunks = await read(await client.chat.completions.create(stream));
    assertEquals(chunks[0]?.choices[0]?.delta.tool_calls?.map(({ index, id }) => [index, id]), [[0, "a"], [1, "b"]]);
    assertEquals(chunks.at(-1)?.choices[0]?.finish_reason, "tool_calls");
  });

  it("may leave out what every completion has", async () => {
    const [choice] = called.choices;
    await using client = clientOf([answering({ choices: [{ message: { tool_calls: choice!.message.tool_calls } }] })]);
    const chunks = await read(await client.chat.completions.create(stream));
    assertEquals(chunks.at(-1)?.choices[0]?.finish_reason, "tool_calls");
    assert(chunks.every(({ id, model }) => id !== "" && model === "m0"));
  });

  const failures: Readonly<Record<string, Provider["complete"]>> = {
    "that is an error": () => Promise.reject(new UpstreamError("at its limit", { kind: "rate_limited" })),
    "that is thrown before anything is promised": () => {
      throw new Error("early");
    },
    "that is no completion": () => Promise.resolve({ body: { choices: "none" } as never }),
    "that is nothing": () => Promise.resolve(undefined as never),
    "that is empty": () => Promise.resolve({ body: createResponse("") }),
  };
  for (const [what, complete] of Object.entries(failures)) {
    it(`is left for the next one with a response ${what}`, async () => {
      await using client = clientOf([wholeProvider(complete), answering(createResponse("Second"))]);
      const result = await client.chat.completions.create(stream);
      const chunks = await read(result);
      assertEquals(chunks[0]?.choices[0]?.delta.content, "Second");
      assertEquals(routingOf(result)?.replaced_provider, "p0");
    });
  }

  it("has the time of a complete response, not that of a stream's first content", async () => {
    const clock = fakeClock();
    let finish: (body: ChatCompletion) => void = () => {};
    const slow = wholeProvider(() => new Promise((resolve) => finish = (body) => resolve({ body })));
    await using client = clientOf([slow, answering(createResponse("Second"))], { clock });
    const first = client.chat.completions.create(stream);
    await clock.advance(200_000);
    finish(createResponse("Late"));
    assertEquals((await read(await first))[0]?.choices[0]?.delta.content, "Late");
    const second = client.chat.completions.create(stream);
    await clock.advance(240_000);
    assertEquals((await read(await second))[0]?.choices[0]?.delta.content, "Second");
  });

  it("may be read for longer than it had time to respond", async () => {
    const clock = fakeClock();
    await using client = clientOf([answering(createResponse("Hi"))], { clock });
    const result = await client.chat.completions.create(stream);
    const chunks = result[Symbol.asyncIterator]();
    await chunks.next();
    await clock.advance(300_000);
    assertEquals((await chunks.next()).value?.choices[0]?.finish_reason, "stop");
  });

  it("is aborted with the client, and at the deadline", async () => {
    const signals: AbortSignal[] = [];
    const clock = fakeClock();
    const silent = wholeProvider((_request, { signal }) => (signals.push(signal), new Promise(() => {})));
    await using client = clientOf([silent], { clock });
    const controller = new AbortController();
    const left = client.chat.completions.create(stream, { signal: controller.signal }).catch((error) => error);
    await clock.advance(0);
    controller.abort("left");
    assertEquals(await left, "left");
    const late = assertRejects(() => client.chat.completions.create(stream, { timeout: 10 }), DeadlineError);
    await clock.advance(10);
    await late;
    assertEquals(signals.map(({ aborted }) => aborted), [true, true]);
  });

  it("streams where its pool commits to complete responses only", async () => {
    const failing = wholeProvider(() => Promise.reject(new Error("no")));
    await using client = clientOf([failing, answering(createResponse("Second"))], { pool: { commit: "complete" } });
    const chunks = await read(await client.chat.completions.create(stream));
    assertEquals(chunks[0]?.choices[0]?.delta.content, "Second");
  });
});

describe("A subclass of BaseProvider without stream", () => {
  class Acme extends BaseProvider {
    constructor() {
      super("acme", [{ id: "acme-small", capabilities: ["chat-completion"] }]);
    }

    override listModels() {
      return Promise.resolve([{ id: "acme-small", capabilities: ["chat-completion"] }]);
    }

    protected override chat() {
      return Promise.resolve({ body: createResponse("Acme") });
    }
  }

  it("streams as well, in a configuration and as an option", async () => {
    for (
      const options of [{ config: { providers: { acme: { instance: new Acme() } } } }, { providers: [new Acme()] }]
    ) {
      await using client = create("chat-completion", options);
      const chunks = await read(await client.chat.completions.create(stream));
      assertEquals(chunks[0]?.choices[0]?.delta.content, "Acme");
      assertEquals(client.mesh.listModels().map(({ name }) => name), ["acme.acme-small"]);
    }
  });
});

const dialects: Readonly<Record<string, readonly [path: string, body: object, end: RegExp]>> = {
  chat: ["/v1/chat/completions", { messages, stream: true }, /"finish_reason":"stop"[^]*data: \[DONE\]\n\n$/],
  completions: ["/v1/completions", { prompt: "Hi", stream: true }, /"finish_reason":"stop"[^]*data: \[DONE\]\n\n$/],
  messages: ["/v1/messages", { messages, max_tokens: 9, stream: true }, /"output_tokens":2[^]*event: message_stop/],
  responses: ["/v1/responses", { input: "Hi", stream: true }, /event: response\.completed[^]*"total_tokens":5/],
  gemini: ["/v1beta/models/chat:streamGenerateContent?alt=sse", {
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
  }, /"finishReason":"STOP"[^]*"totalTokenCount":5/],
};

describe("A provider without stream, behind a proxy", () => {
  for (const [name, [path, body, end]] of Object.entries(dialects)) {
    it(`serves streams of ${name}, after a failover`, async () => {
      const failing = {
        ...wholeProvider(() => Promise.reject(new Error("no"))),
        dialects: ["anthropic", "responses", "gemini"],
      };
      const mesh = new ModelMesh({ clock: fakeClock() });
      await mesh.initialize(configOf([failing, answering(createResponse("Custom"))]));
      const response = await createHandler(mesh)(
        new Request(`http://127.0.0.1${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ model: "chat", ...body }),
        }),
      );
      assertEquals([response.status, response.headers.get("x-mesh-fallbacks")], [200, "1"]);
      assertMatch(response.headers.get("content-type")!, /^text\/event-stream/);
      const text = await response.text();
      assertMatch(text, /Custom/);
      assertMatch(text, end);
      await mesh.close();
    });
  }
});
