/**
 * Streams that are odd and yet complete: however a provider writes its events, and wherever the network cuts them, the
 * client reads the same well-formed stream.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { after, breathe, isOpen, readStream, soon, type Stage, stage } from "../support/_failover.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { type Behaviour, formatHead, Gate, ok, raw, status, stream, type StreamOptions } from "../support/upstream.ts";

const oneOutcome = { pool: { deactivation: { retry_limit: 1 } } };
const pieces = ["Zoë", " says 🙂", " naïvely"];
const plain: StreamOptions = { pieces, usage: null };

/** The events of a plain stream, one by one. */
const events = [{ role: "assistant" }, ...pieces.map((content) => ({ content })), {}].map((delta, place, all) => {
  const finish_reason = place === all.length - 1 ? "stop" : null;
  const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "a" };
  return JSON.stringify({ ...head, choices });
});
const lines = events.map((event) => `data: ${event}\n\n`);
const sse = (text: string) => raw(formatHead(200, { "content-type": "text/event-stream" }) + text);

async function fetchStreamText(
  scene: Stage,
  behaviour: Behaviour,
  body: Record<string, unknown> = {},
): Promise<string> {
  scene.upstreams.a!.follow(behaviour);
  return await (await scene.proxy.chat({ stream: true, ...body })).text();
}

describe("a stream", () => {
  it("goes to the client event by event as the provider wrote it, and fits OpenAI's schema", async () => {
    await using scene = await stage({ a: stream(plain), b: ok() }, oneOutcome);
    const response = await scene.proxy.chat({ stream: true });
    assertEquals(response.headers.get("content-type"), "text/event-stream");
    assertEquals(response.headers.get("x-mesh-cost-usd"), null);
    const seen = readStream(await response.text());
    assertEquals([seen.text, seen.done, seen.last, seen.chunks.length], [pieces.join(""), 1, "done", 5]);
    for (const chunk of seen.chunks) assertMatchesSchema("CreateChatCompletionStreamResponse", chunk);
    assertEquals([scene.calls, scene.states()], [{ a: 1, b: 0 }, { a: "active", b: "active" }]);
  });

  it("reads the same whatever its line ends and wherever it is split", async () => {
    await using scene = await stage({ a: stream(plain) }, oneOutcome);
    const expected = await fetchStreamText(scene, stream(plain));
    for (const lineEnd of ["\n", "\r\n", "\r"] as const) {
      for (const split of [1, 2, 3, 7]) {
        assertEquals(
          await fetchStreamText(scene, stream({ ...plain, lineEnd, split })),
          expected,
          `${lineEnd} by ${split}`,
        );
      }
    }
  });

  const whole = lines.join("");
  const same: readonly [name: string, text: string][] = [
    ["no [DONE] after its finish reason", whole],
    ["[DONE] without a blank line", `${whole}data: [DONE]\n`],
    ["[DONE] without even a line end", `${whole}data: [DONE]`],
    ["[DONE] twice", `${whole}data: [DONE]\n\ndata: [DONE]\n\n`],
    ["more data after [DONE]", `${whole}data: [DONE]\n\n${lines[1]}data: {"error":{"message":"late"}}\n\n`],
    ["rubbish after [DONE]", `${whole}data: [DONE]\n\ndata: {"bro\n\n`],
    ["[DONE] and no finish reason", `${lines.slice(0, 4).join("")}data: [DONE]\n\n`],
    ["comments between its events", lines.map((line) => `: ping\n\n${line}: pong\n`).join("")],
    ["a byte order mark first", `\ufeff${whole}`],
    ["no space after the colon", whole.replaceAll("data: ", "data:")],
    ["names, ids and retry times", lines.map((line) => `id: 1\nevent: message\nretry: 10\n${line}`).join("")],
    ["fields nobody knows", lines.map((line) => `x: y\nnonsense\n${line}`).join("")],
    ["empty events between its own", lines.map((line) => `data:\n\n\n\n${line}`).join("")],
  ];
  for (const [name, text] of same) {
    it(`with ${name} is complete: the client reads the plain events and one [DONE]`, async () => {
      await using scene = await stage({ a: sse(text), b: ok() }, oneOutcome);
      const given = lines.filter((line) => text.includes(line.slice("data: ".length, -2))).join("");
      const read = (await fetchStreamText(scene, sse(text))).replaceAll(": heartbeat\n\n", ""); // comments are passed on
      assertEquals(read, `${given}data: [DONE]\n\n`);
      assertEquals([scene.calls, scene.states()], [{ a: 1, b: 0 }, { a: "active", b: "active" }]);
    });
  }

  it("with events over several lines is passed on as events of one line, wherever it is split", async () => {
    const text = whole.replaceAll(',"choices"', ',\ndata: "choices"').replaceAll("\n", "\r\n");
    const bytes = new TextEncoder().encode(text);
    const byByte: Behaviour = {
      async play(exchange) {
        await exchange.write(formatHead(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" }));
        for (const byte of bytes) await exchange.write(new Uint8Array([0x31, 13, 10, byte, 13, 10]));
        await exchange.write("0\r\n\r\n");
      },
    };
    await using scene = await stage({ a: ok() }, oneOutcome);
    for (const behaviour of [sse(text), byByte]) {
      const seen = readStream(await fetchStreamText(scene, behaviour));
      assertEquals([seen.text, seen.last], [pieces.join(""), "done"]);
    }
  });

  it("that stays open after [DONE] ends for the client, and its call is given up", async () => {
    await using scene = await stage({ a: ok() }, oneOutcome);
    const open = raw(formatHead(200, { "content-type": "text/event-stream" }) + whole + "data: [DONE]\n\n", "hang");
    assertEquals(readStream(await soon(fetchStreamText(scene, open))).last, "done");
    await soon((await scene.received("a")).closed);
    assertEquals(scene.states(), { a: "active" });
  });
});

describe("the usage of a stream", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const asked = { stream_options: { include_usage: true } };

  it("is asked for upstream, and not sent to a client that did not ask", async () => {
    await using scene = await stage({ a: stream({ pieces }) });
    const seen = await scene.askStream();
    assertEquals((await scene.received("a")).json().stream_options, { include_usage: true });
    assertEquals([seen.chunks.length, seen.chunks.some((chunk) => chunk.usage || chunk.choices.length === 0)], [
      5,
      false,
    ]);
  });

  it("comes once, in the last chunk before [DONE], to a client that asked", async () => {
    await using scene = await stage({ a: stream({ pieces }) });
    const seen = await scene.askStream(asked);
    assertEquals([seen.chunks.length, seen.last], [6, "done"]);
    assertEquals([seen.chunks[5]!.choices.length, seen.chunks[5]!.usage], [0, usage]);
    assertEquals(seen.chunks.slice(0, 5).some((chunk) => chunk.usage), false);
  });

  it("comes so, too, when the provider sends it with the finish reason", async () => {
    const reported = events[4]!.replace('"choices"', `"usage":${JSON.stringify(usage)},"choices"`);
    const text = `${lines.slice(0, 4).join("")}data: ${reported}\n\ndata: [DONE]\n\n`;
    await using scene = await stage({ a: sse(text) });
    const seen = readStream(await fetchStreamText(scene, sse(text), asked));
    assertEquals([seen.chunks.at(-1)!.choices.length, seen.chunks.at(-1)!.usage], [0, usage]);
    assertEquals(seen.chunks.filter(({ choices }) => choices.length === 0).length, 1);
  });
});

describe("a whole JSON response to a request for a stream", () => {
  it("is turned into a stream, with its usage where it was asked for", async () => {
    await using scene = await stage({ a: ok({ text: "Hello there" }), b: ok() }, oneOutcome);
    const seen = await scene.askStream();
    assertEquals([seen.text, seen.done, seen.last], ["Hello there", 1, "done"]);
    assertEquals(seen.chunks.at(-1)!.choices[0]!.finish_reason, "stop");
    for (const chunk of seen.chunks) assertMatchesSchema("CreateChatCompletionStreamResponse", chunk);
    const withUsage = await scene.askStream({ stream_options: { include_usage: true } });
    assertEquals([withUsage.chunks.at(-1)!.choices.length, withUsage.chunks.length], [0, seen.chunks.length + 1]);
    assertEquals([scene.calls, scene.states()], [{ a: 2, b: 0 }, { a: "active", b: "active" }]);
  });

  it("keeps tool calls, each with its index", async () => {
    const toolCalls = [{ name: "look", arguments: '{"at":1}' }, { name: "listen", arguments: "{}" }];
    await using scene = await stage({ a: ok({ toolCalls }) });
    const { chunks } = await scene.askStream();
    const calls = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
    assertEquals((calls as { index: number }[]).map(({ index }) => index), [0, 1]);
    assertEquals(chunks.at(-1)!.choices[0]!.finish_reason, "tool_calls");
  });
});

describe("a stream of which nothing is said for long", () => {
  const role = lines[0]!.replace("assistant", "assistant".padEnd(200));

  it("is passed on once 64 KiB are buffered", async () => {
    const open = raw(formatHead(200, { "content-type": "text/event-stream" }) + role.repeat(250), "hang");
    await using scene = await stage({ a: open, b: ok() }, oneOutcome);
    const response = await soon(scene.proxy.chat({ stream: true }));
    assertEquals([response.status, response.headers.get("x-mesh-model")], [200, "a"]);
    await response.body!.cancel();
    await soon((await scene.received("a")).closed);
  });

  it("and then breaks has been passed on: an error ends it", async () => {
    await using scene = await stage({ a: sse(role.repeat(250)), b: ok() }, oneOutcome);
    const seen = await scene.askStream();
    assertEquals([seen.chunks.length, seen.last, seen.error?.code], [250, "error", "stream_interrupted"]);
    assertEquals([scene.calls, scene.states().a], [{ a: 1, b: 0 }, "retry_limit for 60s"]);
  });

  it("and breaks before that goes to the other provider", async () => {
    await using scene = await stage({ a: sse(role.repeat(150)), b: ok({ text: "from b" }) }, oneOutcome);
    assertEquals((await scene.askStream()).text, "from b");
  });
});

describe("comments of a stream are signs of life", () => {
  /** The head at once; then a comment, and at last what is left, each at the gate. */
  const pinging = (gate: Gate, first: string, rest: string): Behaviour => ({
    async play(exchange) {
      await exchange.write(formatHead(200, { "content-type": "text/event-stream" }) + first);
      for (let count = 0; count < 3; count++) {
        await gate.pass();
        await exchange.write(": ping\n\n");
      }
      await gate.pass();
      await exchange.write(rest);
      exchange.close();
    },
  });

  for (const [name, held] of [["before its first content", 0], ["after its first content", 2]] as const) {
    it(`${name}: 40 s apart, they keep it open beyond 60 s`, async () => {
      const gate = new Gate();
      const rest = lines.slice(held).join("") + "data: [DONE]\n\n";
      const behaviour = pinging(gate, lines.slice(0, held).join(""), rest);
      const options = { ...oneOutcome, provider: { execution: { first_token_timeout: "300s" } } };
      await using scene = await stage({ a: behaviour, b: status(500) }, options);
      const text = scene.proxy.chat({ stream: true }).then((response) => response.text());
      for (let count = 0; count < 3; count++) {
        await gate.reached(count + 1);
        await breathe();
        await scene.clock.advance(40_000);
        gate.open();
        assertEquals(await isOpen(text), true);
      }
      await scene.clock.advance(40_000);
      gate.open();
      assertMatch(await after(scene.clock, 0, text), /naïvely[^]*\[DONE\]/);
      assertEquals([scene.calls, scene.states().a], [{ a: 1, b: 0 }, "active"]);
    });
  }
});
