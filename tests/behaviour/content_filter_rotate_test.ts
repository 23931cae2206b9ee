/** Refused content is carried to other models where the pool says so. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { after, isOpen, stage, type StageOptions } from "../support/_failover.ts";
import { b, fromB, policy, refusal, refuse } from "../support/_refusals.ts";
import { hangAfterHeaders, json, ok, stream } from "../support/upstream.ts";

const rotate: StageOptions = { pool: { on_content_filter: "rotate" } };

describe("on_content_filter: rotate", () => {
  it("carries refused content to the next model", async () => {
    await using scene = await stage({ a: refusal, b }, rotate);
    const seen = await scene.ask();
    assertEquals([seen.text, seen.route, scene.routing.rotation_reason], ["from b", "b 2/1", "content_filter"]);
    assertEquals((await scene.askStream()).text, "from b");
  });

  it("to three models at most, of which the first one's reason is the caller's", async () => {
    const other = refuse(400, { error: { ...policy, message: "Other" } });
    await using scene = await stage({ a: refusal, b: other, c: other, d: b }, rotate);
    assertEquals([(await scene.ask()).error, scene.calls], [policy, { a: 1, b: 1, c: 1, d: 0 }]);
  });

  const empty = { text: "", finishReason: "content_filter" } as const;
  const blocked = json({ promptFeedback: { blockReason: "SAFETY" } });

  it("carries on a response of which a filter has left nothing, and returns it as it came if there is no other", async () => {
    await using scene = await stage({ a: ok(empty), b }, rotate);
    assertEquals((await scene.ask()).route, "b 2/1");
    await using alone = await stage(
      { a: ok({ ...empty, id: "chatcmpl-a" }), b: ok({ ...empty, id: "chatcmpl-b" }) },
      rotate,
    );
    const { status: code, body } = await alone.ask();
    const { id, choices } = body as { id: string; choices: { finish_reason: string }[] };
    assertEquals([code, id, choices[0]!.finish_reason], [200, "chatcmpl-a", "content_filter"]);
    assertEquals(alone.states(), { a: "active", b: "active" });
  });

  it("carries on a blocked prompt of Gemini, and a stream that a filter has ended before its first content", async () => {
    const provider = (id: string) => id === "a" ? { connector: "google.gemini.v1" } : {};
    await using gemini = await stage({ a: blocked, b }, { ...rotate, provider });
    assertEquals((await gemini.ask()).route, "b 2/1");
    const a = stream({ pieces: [], finishReason: "content_filter" });
    await using scene = await stage({ a, b: fromB }, rotate);
    const seen = await scene.askStream();
    assertEquals([seen.text, seen.route, seen.done], ["from b", "b 2/1", 1]);
  });

  it("returns a stream as it came if a filter has ended all of them", async () => {
    const a = stream({ pieces: [], finishReason: "content_filter" });
    await using scene = await stage({ a, b: a }, rotate);
    const seen = await scene.askStream();
    assertEquals([seen.route, seen.done, seen.chunks.at(-1)!.choices[0]!.finish_reason], [
      "a 2/1",
      1,
      "content_filter",
    ]);
    assertEquals(scene.clock.pending, 0);
  });

  it("keeps a response that a filter has cut after some of its text", async () => {
    await using scene = await stage({ a: ok({ text: "So", finishReason: "content_filter" }), b }, rotate);
    assertEquals((await scene.ask()).text, "So");
    const a = stream({ pieces: ["So"], finishReason: "content_filter" });
    await using streamed = await stage({ a, b: fromB }, rotate);
    assertEquals([(await streamed.askStream()).text, streamed.calls.b], ["So", 0]);
  });

  it("is not the default: such responses are returned", async () => {
    await using scene = await stage({ a: [ok(empty), stream({ pieces: [], finishReason: "content_filter" })], b });
    assertEquals((await scene.ask()).route, "a 1/0");
    assertEquals((await scene.askStream()).route, "a 1/0");
  });

  it("applies to the pool that has it, and to all pools by *", async () => {
    await using scene = await stage({ a: refusal, b }, (urls) => ({
      config: {
        providers: Object.fromEntries(
          Object.entries(urls).map((
            [id, base_url],
          ) => [id, { connector: "openai.compatible.v1", base_url, api_key: "key-0123456789" }]),
        ),
        models: {
          a: { provider: "a", capabilities: ["chat-completion"] },
          b: { provider: "b", capabilities: ["chat-completion"] },
        },
        pools: {
          "*": { on_content_filter: "rotate", strategy: "priority", model_priority: ["a", "b"] },
          chat: { models: ["a", "b"], on_content_filter: "return" },
          other: { models: ["a", "b"] },
        },
      },
    }));
    assertEquals([(await scene.ask()).status, (await scene.ask({ model: "other" })).status], [400, 200]);
  });

  it("has its limit of the first content while a provider is silent about what it refuses", async () => {
    const options = { pool: { on_content_filter: "rotate", first_token_timeout: "5s" } };
    await using scene = await stage({ a: hangAfterHeaders("text/event-stream"), b: fromB }, options);
    const answer = scene.askStream();
    await scene.received("a");
    await isOpen(answer);
    assertEquals((await after(scene.clock, 5_000, answer)).text, "from b");
  });
});
