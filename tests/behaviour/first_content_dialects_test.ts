/** The limit of the first content in every dialect, for speech, and in the library. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { routingOf } from "../../mod.ts";
import { after, isOpen, soon, stage } from "../support/_failover.ts";
import { clientOver, messages } from "../support/_library.ts";
import { operationStage } from "../support/_operations.ts";
import { completeResponse, hangAfterHeaders, holdOpen, startUpstream, stream } from "../support/upstream.ts";

const fromB = stream({ pieces: ["from", " b"] });

const dialects: Readonly<Record<string, readonly [path: string, body: object]>> = {
  chat: ["/v1/chat/completions", { messages, stream: true }],
  completions: ["/v1/completions", { prompt: "Hi", stream: true }],
  messages: ["/v1/messages", { messages, max_tokens: 9, stream: true }],
  responses: ["/v1/responses", { input: "Hi", stream: true }],
  gemini: ["/v1beta/models/chat:streamGenerateContent?alt=sse", {
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
  }],
};

describe("every dialect", () => {
  for (const [name, [path, body]] of Object.entries(dialects)) {
    it(`has the limit of the first content: ${name}`, async () => {
      await using scene = await stage({ a: hangAfterHeaders("text/event-stream"), b: fromB });
      const answer = fetch(scene.proxy.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "x-mesh-route": "first_token=5s" },
        body: JSON.stringify({ model: "chat", ...body }),
      }).then((response) => response.text());
      await scene.received("a");
      await isOpen(answer);
      await scene.clock.advance(4_999);
      assertEquals(await isOpen(answer), true);
      assertMatch(await after(scene.clock, 1, answer), /from[^]* b/);
      assertEquals([scene.calls, scene.routing.rotation_reason], [{ a: 1, b: 1 }, "first_token_timeout"]);
    });
  }

  it("has it at providers of every dialect", async () => {
    for (const connector of ["anthropic.claude.v1", "google.gemini.v1", "mistral.api.v1"]) {
      await using scene = await stage({ a: hangAfterHeaders("text/event-stream"), b: fromB }, {
        provider: (id) => id === "a" ? { connector } : {},
        pool: { first_token_timeout: "5s" },
      });
      const answer = scene.askStream();
      await scene.received("a");
      await isOpen(answer);
      assertEquals((await after(scene.clock, 5_000, answer)).text, "from b");
    }
  });
});

describe("speech", () => {
  const sound = completeResponse(200, new Uint8Array([255, 251, 0, 13]), "audio/mpeg");
  const events = completeResponse(200, 'data: {"type":"speech.audio.done"}\n\n', "text/event-stream");
  for (
    const [what, silent, body, spoken] of [
      ["bytes", hangAfterHeaders("audio/mpeg"), {}, sound],
      ["events", hangAfterHeaders("text/event-stream"), { stream_format: "sse" }, events],
    ] as const
  ) {
    it(`has the configured limit until its first ${what}`, async () => {
      await using scene = await operationStage({ a: silent, b: spoken }, {
        capability: "text-to-speech",
        pool: { first_token_timeout: "5s" },
      });
      const answer = scene.post("audio/speech", { input: "Hello", voice: "alloy", ...body });
      await soon(scene.upstreams.a!.received(1));
      await isOpen(answer);
      await scene.proxy.clock.advance(4_999);
      assertEquals(await isOpen(answer), true);
      const response = await after(scene.proxy.clock, 1, answer);
      assertEquals([response.status, scene.calls], [200, { a: 1, b: 1 }]);
      assertEquals(scene.routing.rotation_reason, "first_token_timeout");
    });
  }

  it("as events does not begin with a comment", async () => {
    const a = holdOpen();
    await using scene = await operationStage({ a, b: events }, {
      capability: "text-to-speech",
      pool: { first_token_timeout: "5s" },
    });
    const answer = scene.post("audio/speech", { input: "Hello", voice: "alloy", stream_format: "sse" });
    await soon(scene.upstreams.a!.received(1));
    await isOpen(answer);
    await a.send(": thinking\n\n");
    assertEquals(await isOpen(answer), true);
    assertEquals((await after(scene.proxy.clock, 5_000, answer)).text, 'data: {"type":"speech.audio.done"}\n\n');
  });

  it("that is whole has no limit of its own by default", async () => {
    await using scene = await operationStage({ a: hangAfterHeaders("audio/mpeg"), b: sound }, {
      capability: "text-to-speech",
    });
    const answer = scene.post("audio/speech", { input: "Hello", voice: "alloy" });
    await soon(scene.upstreams.a!.received(1));
    await isOpen(answer);
    await scene.proxy.clock.advance(239_999);
    assertEquals(await isOpen(answer), true);
    assertEquals((await after(scene.proxy.clock, 1, answer)).status, 200);
  });
});

describe("the library", () => {
  it("has the limit as an option of a call", async () => {
    await using a = await startUpstream(hangAfterHeaders("text/event-stream"));
    await using other = await startUpstream(fromB);
    await using test = await clientOver({ upstreams: { a: a.url, b: other.url } });
    const { client, clock } = test;
    const asked = client.chat.completions.create({ messages: [...messages], stream: true }, {
      route: { first_token: "5s" },
    });
    await soon(a.received(1));
    await isOpen(asked);
    await clock.advance(4_999);
    assertEquals(await isOpen(asked), true);
    const stream = await after(clock, 1, asked);
    const record = routingOf(stream)!;
    assertEquals([record.model, record.rotation_reason], ["b", "first_token_timeout"]);
    let text = "";
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    assertEquals(text, "from b");
  });
});
