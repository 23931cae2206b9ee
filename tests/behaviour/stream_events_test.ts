/**
 * What stands in the events of a stream: usage is sent once, at the end and to a client that asked; one event that cannot be
 * read is skipped, two in a row end the stream as a failure. Events come together, so that those which only say more are joined.
 */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type ChatCompletionChunk, StreamInterruptedError } from "../../mod.ts";
import { readStream, stage } from "../support/_failover.ts";
import { clientOver, messages } from "../support/_library.ts";
import { formatHead, ok, raw, startUpstream } from "../support/upstream.ts";

const oneOutcome = { pool: { deactivation: { retry_limit: 1 } } };
const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "a" };
const usageOf = (tokens: number) => ({ prompt_tokens: 10, completion_tokens: tokens, total_tokens: 10 + tokens });
const asked = { stream_options: { include_usage: true } };

/** An event of a delta; a finish reason where there is no delta. */
function event(delta: Record<string, unknown> | undefined, more: Record<string, unknown> = {}): string {
  const finish_reason = delta === undefined ? "stop" : null;
  return JSON.stringify({
    ...head,
    ...more,
    choices: [{ index: 0, delta: delta ?? {}, logprobs: null, finish_reason }],
  });
}
const counts = (tokens: number) => JSON.stringify({ ...head, choices: [], usage: usageOf(tokens) });
const text = (content: string, more: Record<string, unknown> = {}) => event({ content }, more);
const spaced = (data: string) => data.replaceAll('":', '" : ');

/** A stream of events that all come at once. */
function sse(...datas: readonly string[]) {
  const body = datas.map((data) => `data: ${data}\n\n`).join("");
  return raw(formatHead(200, { "content-type": "text/event-stream" }) + body);
}

const opening = [event({ role: "assistant", content: "" }), text("one")];
const closing = [event(undefined), "[DONE]"];

/** Streams that report usage where they should not; all say "one two three" and count 7 tokens in the end. */
const telling: Readonly<Record<string, readonly string[]>> = {
  "every event, as it grows": [
    event({ role: "assistant", content: "" }, { usage: usageOf(0) }),
    ...["one", " two", " three"].map((word, at) => text(word, { usage: usageOf(at) })),
    event(undefined, { usage: usageOf(7) }),
    "[DONE]",
  ],
  "events written with blanks": [
    ...opening,
    spaced(text(" two", { usage: usageOf(6) })),
    spaced(text(" three", { usage: usageOf(7) })),
    ...closing,
  ],
  "an event amid plain ones": [...opening, text(" two", { usage: usageOf(7) }), text(" three"), ...closing],
  "the last event alone": [...opening, text(" two"), text(" three"), event(undefined, { usage: usageOf(7) }), "[DONE]"],
  "events of its own, as it grows": [
    ...opening,
    counts(1),
    text(" two"),
    counts(2),
    text(" three"),
    counts(7),
    ...closing,
  ],
  "both": [...opening, text(" two"), text(" three", { usage: usageOf(3) }), event(undefined), counts(7), "[DONE]"],
  "null but for the end": [
    ...[event({ role: "assistant" }), text("one"), text(" two"), text(" three"), event(undefined)]
      .map((data) => data.replace('"choices"', '"usage":null,"choices"')),
    counts(7),
    "[DONE]",
  ],
};

/** Events that no reader of JSON, or of a chunk, can make sense of. */
const unreadable: Readonly<Record<string, string>> = {
  "a quote too many": text('two" three').replace('\\"', '"'),
  "a piece missing in the middle": text("two").replace('"finish_reason":null', '"finish_reason":null,,'),
  "two events run together": text("two") + text("three"),
  "a raw control character": text("two").replace("two", "t\u0001wo"),
  "an escape that is none": text("two").replace("two", "t\\xwo"),
  "a cut": text("two").slice(0, -1),
  "a list": `[${text("two")}]`,
  "a number": "7",
  "choices that are none": JSON.stringify({ ...head, choices: [null] }),
};

describe("usage in the events of a stream", () => {
  for (const [what, events] of Object.entries(telling)) {
    it(`is kept from a client that did not ask: in ${what}`, async () => {
      await using scene = await stage({ a: sse(...events), b: ok() }, oneOutcome);
      const all = await (await scene.proxy.chat({ stream: true })).text();
      const seen = readStream(all);
      assertEquals([seen.text, seen.last, all.includes("_tokens")], ["one two three", "done", false]);
      assertEquals(seen.chunks.every(({ choices }) => choices.length === 1), true);
      assertEquals(scene.states().a, "active");
    });

    it(`is sent once, at the end, to a client that asked: in ${what}`, async () => {
      await using scene = await stage({ a: sse(...events), b: ok() }, oneOutcome);
      const seen = await scene.askStream(asked);
      assertEquals([seen.text, seen.last], ["one two three", "done"]);
      assertEquals(seen.chunks.flatMap(({ usage }) => usage ?? []), [usageOf(7)]);
      const last = seen.chunks.at(-1)!;
      assertEquals([last.choices, last.usage], [[], usageOf(7)]);
    });
  }

  it("is taken out alone: what else the provider wrote stays, byte by byte", async () => {
    const odd = spaced(text(" two", { seed: 0 })).replace(" : 0", " : 12345678901234567890");
    const withUsage = odd.replace('"seed"', '"usage" : {"total_tokens":1}, "seed"');
    await using scene = await stage({ a: sse(...opening, withUsage, text(" three"), ...closing) });
    const all = await (await scene.proxy.chat({ stream: true })).text();
    assert(all.includes('"seed" : 12345678901234567890'), all);
    assertEquals([readStream(all).text, all.includes("total_tokens")], ["one two three", false]);
  });

  it("is kept and reported in programs as over HTTP", async () => {
    await using upstream = await startUpstream(sse(...telling.both!));
    await using one = clientOver({ upstreams: { a: upstream.url } });
    for (const options of [{}, asked]) {
      const chunks: ChatCompletionChunk[] = [];
      const answer = await one.client.chat.completions.create({ messages, stream: true, ...options });
      for await (const chunk of answer) chunks.push(chunk);
      assertEquals(chunks.flatMap(({ usage }) => usage ?? []), options === asked ? [usageOf(7)] : []);
    }
  });
});

describe("an event that cannot be read", () => {
  for (const [what, broken] of Object.entries(unreadable)) {
    it(`is skipped between two that can: ${what}`, async () => {
      const events = [opening[0]!, broken, opening[1]!, text(" two"), broken, text(" three"), ...closing];
      await using scene = await stage({ a: sse(...events), b: ok() }, oneOutcome);
      const seen = await scene.askStream();
      assertEquals([seen.text, seen.last, scene.states().a], ["one two three", "done", "active"]);
    });

    it(`ends a stream that has begun as a failure of its model after another one: ${what}`, async () => {
      const events = [...opening, text(" two"), broken, broken, text(" three"), ...closing];
      await using scene = await stage({ a: sse(...events), b: ok() }, oneOutcome);
      const all = await (await scene.proxy.chat({ stream: true })).text();
      const seen = readStream(all);
      assertEquals([seen.text, seen.last, seen.error?.code], ["one two", "error", "stream_interrupted"]);
      assertMatch(seen.error!.message, /cut short/);
      assertEquals([scene.calls, scene.states().a], [{ a: 1, b: 0 }, "retry_limit for 60s"]);
    });

    it(`before the first content leads to another model after another one: ${what}`, async () => {
      await using scene = await stage(
        { a: sse(opening[0]!, broken, broken, ...opening, ...closing), b: ok({ text: "from b" }) },
        oneOutcome,
      );
      const seen = await scene.askStream();
      assertEquals([seen.text, seen.last, scene.states().a], ["from b", "done", "retry_limit for 60s"]);
    });
  }

  it("is skipped after the finish reason, too", async () => {
    await using scene = await stage(
      { a: sse(...opening, event(undefined), '{"usage":{', "[DONE]"), b: ok() },
      oneOutcome,
    );
    const seen = await scene.askStream();
    assertEquals([seen.text, seen.last, scene.states().a], ["one", "done", "active"]);
  });

  it("ends a program's stream with what came before it and another one", async () => {
    const cut = unreadable["a cut"]!;
    await using upstream = await startUpstream(sse(...opening, text(" two"), cut, cut, ...closing));
    await using one = clientOver({ upstreams: { a: upstream.url } });
    const answer = await one.client.chat.completions.create({ messages, stream: true });
    const error = await assertRejects(async () => {
      for await (const _ of answer);
    }, StreamInterruptedError);
    assertEquals(error.partialText, "one two");
  });
});
