/**
 * What every provider connector does, whatever its vendor's dialect: one suite for all of them, over real HTTP.
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ChatCompletionRequest } from "../../src/contracts/openai.ts";
import type { FailureKind } from "../../src/contracts/provider.ts";
import type { Json } from "../support/_dialects.ts";
import { happens } from "../support/patience.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import {
  type Behaviour,
  completeResponse,
  emptyBody,
  Gate,
  html200,
  json,
  reset,
  status,
  truncatedJson,
} from "../support/upstream.ts";
import { gather } from "./_anthropic.ts";
import {
  catchFailure,
  catchFaults,
  createScene,
  inBytes,
  listTexts,
  pieces,
  type ProviderFixture,
  type Scene,
  withEvent,
} from "./_provider_calls.ts";

const text = pieces.join("");
const weather = { id: "call_1", name: "weather", input: { city: "Zürich", days: 2 } };
const tools: ChatCompletionRequest["tools"] = [{
  type: "function",
  function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
}];

/** Failures by status, and whether the same model may be asked again. A body says more only where it is the vendor's own. */
export const kinds: Readonly<Record<number, readonly [kind: FailureKind, isRetryable: boolean]>> = {
  400: ["request", false],
  401: ["auth", false],
  402: ["quota_exhausted", false],
  403: ["auth", false],
  404: ["misconfigured", false],
  405: ["misconfigured", false],
  408: ["server", true],
  413: ["request", false],
  422: ["request", false],
  429: ["rate_limited", true],
  500: ["server", true],
  502: ["server", true],
  503: ["server", true],
  504: ["server", true],
  529: ["server", true],
};

/** Answers of no provider. */
export const senseless: Readonly<Record<string, Behaviour>> = {
  "a web page": html200(),
  "nothing": emptyBody(),
  "half an answer": truncatedJson(),
  "a list": json([]),
  "null": json(null),
  "an object of something else": json({ ok: true }),
  "bytes that are no text": completeResponse(200, Uint8Array.of(0xff, 0xfe, 0x00, 0x80), "application/json"),
};

/** In the format of every vendor: no numbers, or none that can be. */
const oddUsages: readonly Json[] = [-1, "many", null, [], {}, 1e400].map((count) => ({
  ...{ prompt_tokens: count, completion_tokens: count, total_tokens: count },
  ...{ input_tokens: count, output_tokens: count },
  ...{ promptTokenCount: count, candidatesTokenCount: count, totalTokenCount: count },
  ...{ inputTokens: count, outputTokens: count, totalTokens: count },
}));

/**
 * Tests a connector.
 *
 * @param fixture The connector, and its vendor's replies.
 *
 * @example
 * ```ts
 * import { speaking } from "../support/_dialects.ts";
 *
 * testProvider({ ...speaking.openai, connector: "groq.api.v1", unknownEvent: "event: news\ndata: {}\n\n" });
 * ```
 */
export function testProvider(fixture: ProviderFixture): void {
  const name = `${fixture.connector} (${fixture.model})`;
  const scene = createScene(fixture);
  describe(`${name}: a non-streaming response`, () => {
    testAnswers(scene);
    testSenselessAnswers(scene);
  });
  describe(`${name}: a stream`, () => {
    testStreams(scene);
    testStreamEnds(scene);
  });
  describe(`${name}: a failure`, () => testFailures(scene));
}

function testAnswers({ over, reply }: Scene): void {
  it("has OpenAI's shape, with text, reason and usage", async () => {
    const { body } = await over(reply(), ({ complete }) => complete());
    assertMatchesSchema("CreateChatCompletionResponse", body);
    const { message, finish_reason } = body.choices[0]!;
    assertEquals([message.role, message.content, finish_reason], ["assistant", text, "stop"]);
    const { prompt_tokens, completion_tokens, total_tokens } = body.usage!;
    assertEquals([prompt_tokens, completion_tokens, total_tokens], [10, 5, 15]);
  });

  it("has calls of functions, their arguments as JSON text", async () => {
    const { body } = await over(reply({ pieces: [], calls: [weather] }), ({ complete }) => complete({ tools }));
    assertMatchesSchema("CreateChatCompletionResponse", body);
    const { message: { tool_calls }, finish_reason } = body.choices[0]!;
    const { id, type, function: { name, arguments: written } } = tool_calls![0]!;
    assert(id !== "");
    assertEquals([type, name, JSON.parse(written)], ["function", "weather", weather.input]);
    assertEquals([tool_calls!.length, finish_reason], [1, "tool_calls"]);
  });

  it("is given up when the call is aborted, for the reason of the abort", async () => {
    await over({ play: () => Promise.resolve() }, async ({ upstream, controller, complete }) => {
      const end = catchFailure(() => complete());
      const { closed } = await upstream.received(1);
      const reason = new DOMException("enough", "AbortError");
      controller.abort(reason);
      assertEquals(await happens("the call ends", end), reason);
      await happens("the connection closes", closed);
    });
  });
}

function testSenselessAnswers({ over, reply }: Scene): void {
  it("counts though its usage cannot be", async () => {
    for (const usage of [...oddUsages, "none" as unknown as Json]) {
      const script = reply({ usage });
      const { body } = await over(script, ({ complete }) => complete());
      assertEquals(body.choices[0]?.message.content, text);
      assertEquals(await over(script, ({ stream }) => listTexts(stream())), text);
    }
  });

  for (const [name, behaviour] of Object.entries(senseless)) {
    it(`that is ${name} is refused`, async () => {
      const kind = await over(behaviour, async ({ provider, complete }) => {
        return provider.classifyError(await catchFailure(() => complete()));
      });
      assertEquals(kind, "invalid_response");
    });
  }
}

function testStreams({ over, reply, eventsToContent, unknownEvent }: Scene): void {
  const shapes: Readonly<Record<string, Behaviour>> = {
    "event by event": reply(),
    "in single bytes": inBytes(reply()),
    "after an unknown event": withEvent(unknownEvent, reply()),
  };
  for (const [name, behaviour] of Object.entries(shapes)) {
    it(`has the text in chunks of OpenAI's shape, then the reason, then the usage: ${name}`, async () => {
      const chunks = await over(behaviour, ({ stream }) => Array.fromAsync(stream()));
      for (const chunk of chunks) assertMatchesSchema("CreateChatCompletionStreamResponse", chunk);
      assertEquals(gather(chunks).content, text);
      const reasons = chunks.flatMap(({ choices }) => choices.map(({ finish_reason }) => finish_reason));
      assertEquals([reasons.at(-1), reasons.filter((reason) => reason).length], ["stop", 1]);
      const counted = chunks.filter(({ usage }) => usage).at(-1)?.usage;
      assertEquals([counted?.prompt_tokens, counted?.completion_tokens], [10, 5]);
    });
  }

  it("may have an event of a megabyte", async () => {
    const long = "wörld ".repeat(170_000);
    assertEquals(await over(reply({ pieces: [long] }), ({ stream }) => listTexts(stream())), long);
  });

  it("has calls of functions", async () => {
    const script = reply({ pieces: [], calls: [weather] });
    const chunks = await over(script, ({ stream }) => Array.fromAsync(stream({ tools })));
    const { name, arguments: written } = gather(chunks).tool_calls![0]!.function;
    assertEquals([name, JSON.parse(written)], ["weather", weather.input]);
    const reasons = chunks.flatMap(({ choices }) => choices.map(({ finish_reason }) => finish_reason));
    assertEquals(reasons.at(-1), "tool_calls");
  });

  it("is passed on as it comes", async () => {
    const gate = new Gate();
    gate.open(eventsToContent);
    await over(reply({ gate }), async ({ stream }) => {
      const texts: (string | null | undefined)[] = [];
      const read = async () => {
        for await (const chunk of stream()) {
          const { content } = gather([chunk]);
          if (content) texts.push(content);
          if (texts.length === 1) gate.openAll(); // nothing more is sent before the first text has arrived
        }
      };
      await happens("the stream ends", read());
      assertEquals(texts.join(""), text);
    });
  });
}

function testStreamEnds({ over, reply }: Scene): void {
  it("ends the call when its reader leaves", async () => {
    await over(reply({ cut: { after: 4, how: "hang" } }), async ({ upstream, stream }) => {
      for await (const chunk of stream()) if (gather([chunk]).content) break;
      await happens("the connection closes", upstream.requests[0]!.closed);
    });
  });

  it("is given up when the call is aborted midway, for the reason of the abort", async () => {
    await over(reply({ cut: { after: 4, how: "hang" } }), async ({ upstream, controller, stream }) => {
      const reason = new DOMException("enough", "AbortError");
      const end = catchFailure(async () => {
        for await (const chunk of stream()) if (gather([chunk]).content) controller.abort(reason);
      });
      assertEquals(await happens("the call ends", end), reason);
      await happens("the connection closes", upstream.requests[0]!.closed);
    });
  });

  it("that breaks off, or ends before its end, is a failure", async () => {
    for (const how of ["end", "close", "reset"] as const) {
      await over(reply({ cut: { after: 4, how } }), async ({ provider, stream }) => {
        const kind = provider.classifyError(await catchFailure(() => listTexts(stream())));
        assert(kind === "network" || kind === "invalid_response", `${how}: ${kind}`);
      });
    }
  });

  it("that says an error midway is a failure of the vendor", async () => {
    await over(reply({ failsAfter: 4 }), async ({ provider, stream }) => {
      assertEquals(provider.classifyError(await catchFailure(() => listTexts(stream()))), "server");
    });
  });
}

function testFailures({ over }: Scene): void {
  for (const [code, expected] of Object.entries(kinds)) {
    it(`${code} without a word is ${expected[0]}`, async () => {
      assertEquals(await catchFaults(status(Number(code), { text: "<h1>Sorry</h1>" }), { over }), expected);
    });
  }

  it("of the connection is one of the network", async () => {
    assertEquals((await catchFaults(reset(), { over }))[0], "network");
  });

  it("says how long to wait", async () => {
    const script = status(429, { text: "", headers: { "retry-after": "7" } });
    const error = await over(script, ({ complete }) => catchFailure(() => complete()));
    assertEquals((error as { fault?: { retryAfterMs?: number } }).fault?.retryAfterMs, 7_000);
  });
}
