/**
 * JSON objects where text belongs, with a `toString` of their own, which no conversion to text survives; and names that
 * every object inherits.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startTestProxy } from "../support/proxy.ts";
import { json, respond, startUpstream } from "../support/upstream.ts";

const odd = { toString: 1 };

const post = (url: string, body: object) =>
  fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

describe("An object where text belongs", () => {
  it("in a request is refused or left out, and no fault of the model", async () => {
    await using upstream = await startUpstream(respond());
    const tool = { type: "function", function: { name: "f", parameters: { type: "object", required: [odd] } } };
    const call = { role: "assistant", content: null, tool_calls: [null] };
    const cases: readonly (readonly [connector: string, body: Readonly<Record<string, unknown>>, status: number])[] = [
      ["openai.compatible.v1", { mesh: { deadline: odd } }, 400],
      ["openai.compatible.v1", { tools: [tool] }, 200],
      ["anthropic.claude.v1", { messages: [{ role: "user", content: [{ type: odd }] }] }, 400],
      ["google.gemini.v1", { messages: [{ role: "user", content: [{ type: odd }] }] }, 400],
      ["google.gemini.v1", { tools: [{ type: odd }] }, 400],
      ["google.gemini.v1", { response_format: { type: odd } }, 400],
      ["anthropic.claude.v1", { response_format: { type: odd } }, 400],
      ["anthropic.claude.v1", { messages: [{ role: "user", content: "Hi" }, call] }, 400],
    ];
    for (const [connector, body, status] of cases) {
      await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, provider: { connector } });
      const response = await proxy.chat(body);
      const text = await response.text();
      assertEquals(response.status, status, `${connector} ${JSON.stringify(body)}: ${text}`);
      assertEquals(text.includes("all_attempts_failed"), false, text);
    }
  });

  it("in a response is an empty text of a text completion, non-streaming and streaming", async () => {
    const message = { role: "assistant", content: "Hello", refusal: odd };
    const whole = { id: "x", created: 1, model: "m", choices: [{ index: 0, message, finish_reason: "stop" }] };
    const usage = { prompt_tokens: odd, completion_tokens: 1, total_tokens: 1 };
    await using upstream = await startUpstream(() => json({ ...whole, usage }));
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    for (const prompt of ["Once", ["Once", "Twice"]]) {
      const response = await post(`${proxy.url}/v1/completions`, { model: "chat", prompt });
      assertEquals([response.status, (await response.json()).choices?.[0].text], [200, "Hello"]);
      const streamed = await post(`${proxy.url}/v1/completions`, { model: "chat", prompt, stream: true });
      const text = await streamed.text();
      assertEquals([text.includes('"text":"Hello"'), text.includes('"error"')], [true, false], text);
    }
  });
});

describe("A name that every object inherits", () => {
  it("is an unknown format", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    const inlineData = { mimeType: "audio/constructor", data: "aGk=" };
    const contents = [{ role: "user", parts: [{ inlineData }] }];
    await (await post(`${proxy.url}/v1beta/models/chat:generateContent`, { contents })).text();
    const { messages: [{ content: [part] }] } = upstream.requests[0]!.json();
    assertEquals(part.input_audio, { data: "aGk=", format: "constructor" });
  });
});
