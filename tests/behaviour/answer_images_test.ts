/**
 * Images that chat models generate: they come back in every dialect, and go back to the model with the conversation.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { dataIn, saidIn } from "../support/_dialect_responses.ts";
import { type Dialect, type Json, speaking } from "../support/_dialects.ts";
import { startDialectProxy } from "../support/_dialect_proxy.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { type Behaviour, json, startUpstream, status } from "../support/upstream.ts";

const data = "iVBORw0KGgo=";
const url = `data:image/png;base64,${data}`;
const signature = "c2lnbmF0dXJl";
const parts = [
  { inlineData: { mimeType: "image/png", data: "ZHJhZnQ=" }, thought: true },
  { inlineData: { mimeType: "image/png", data }, thoughtSignature: signature },
];
const content = {
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290, totalTokenCount: 1295 },
};
const usage = { prompt_tokens: 5, completion_tokens: 1290, total_tokens: 1295 };
const image = { type: "image_url", image_url: { url }, index: 0 };

/** The same response of each kind of provider. */
const replies: Readonly<Partial<Record<Dialect, (stream: boolean) => Behaviour>>> = {
  gemini: (stream) => stream ? createEvents([content]) : json(content),
  openai: (stream) => {
    const head = { id: "c1", created: 1, model: "acme/painter" };
    const message = { role: "assistant", content: "", images: [image] };
    return stream
      ? createEvents([
        { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta: message, finish_reason: null }] },
        { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage },
        "[DONE]",
      ])
      : json({
        ...{ ...head, object: "chat.completion", usage },
        choices: [{ index: 0, message: { ...message, refusal: null }, finish_reason: "stop", logprobs: null }],
      });
  },
};

function createEvents(list: readonly unknown[]): Behaviour {
  return status(200, {
    text: list.map((data) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`).join(""),
    headers: { "content-type": "text/event-stream" },
  });
}

async function post(address: string, client: string, body: Json, stream = false): Promise<Json> {
  const options = client === "chat" && stream ? { stream_options: { include_usage: true } } : {};
  const response = await fetch(address + saidIn[client]!.path(stream), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, ...(client === "gemini" ? {} : { stream }), ...options }),
  });
  const text = await response.text();
  assertEquals(response.status, 200, text);
  if (client === "chat" && !stream) assertMatchesSchema("CreateChatCompletionResponse", JSON.parse(text));
  return stream ? saidIn[client]!.gather(dataIn(text)) : JSON.parse(text);
}

const hello = { user: ["Draw a cat"] };

describe("A response that is only an image", () => {
  for (const [from, reply] of Object.entries(replies)) {
    for (const client of Object.keys(saidIn)) {
      for (const stream of [false, true]) {
        const form = stream ? "streamed" : "whole";
        it(`of a model of ${from} comes to ${client}, ${form}, and goes back with its signature`, async () => {
          await using upstream = await startUpstream(reply!(stream));
          await using other = await startUpstream(speaking.openai.respond());
          const dialect = from as Dialect;
          await using proxy = await startDialectProxy({
            only: { dialect, url: upstream.url },
            other: { dialect: "openai", url: other.url },
          });
          const { ask, keep, read } = saidIn[client]!;
          const answer = await post(proxy.url, client, ask([hello]), stream);
          assertEquals(other.requests.length, 0, "an image is content");
          const { images, finish, text } = read(answer);
          // a native response has the draft, too
          const isNative = client === from;
          assertEquals([images.at(-1), images.length, text], [url, isNative ? 2 : 1, ""]);
          assertEquals(finish, "stop");

          await post(proxy.url, client, ask([hello, { kept: keep(answer) }, { user: ["Bigger"] }]));
          const sent = upstream.requests[1]!;
          assert(sent.body.includes(data), sent.body);
          assert(!/mesh:|extra_content/.test(sent.body), sent.body);
          assertEquals(sent.body.includes(signature), from === "gemini");
          if (from === "gemini" && !isNative) {
            assertEquals(sent.json().contents[1], { role: "model", parts: [parts[1]] });
          }
        });
      }
    }
  }
});

describe("An image among the parts of a text", () => {
  for (const [client, { ask, read }] of Object.entries(saidIn)) {
    it(`comes to ${client} beside the text`, async () => {
      const content = [{ type: "text", text: "Here: " }, { type: "image_url", image_url: { url } }];
      await using upstream = await startUpstream(json({
        ...{ id: "c1", object: "chat.completion", created: 1, model: "m", usage },
        choices: [{
          index: 0,
          message: { role: "assistant", content, refusal: null },
          finish_reason: "stop",
          logprobs: null,
        }],
      }));
      await using proxy = await startDialectProxy({ only: { dialect: "openai", url: upstream.url } });
      const { text, images } = read(await post(proxy.url, client, ask([hello])));
      assertEquals([text, images], ["Here: ", [url]]);
    });
  }
});

describe("A conversation with generated images", () => {
  const turns = [hello, { model: { text: "Here", images: [url] } }, { user: ["Thanks"] }];
  for (const client of Object.keys(saidIn)) {
    it(`goes to Claude without them, since they are the model's: by ${client}`, async () => {
      await using claude = await startUpstream(speaking.anthropic.respond());
      await using proxy = await startDialectProxy({ only: { dialect: "anthropic", url: claude.url } });
      await post(proxy.url, client, saidIn[client]!.ask(turns));
      assertEquals(claude.requests[0]!.json().messages[1].content, [{ type: "text", text: "Here" }]);
    });
  }

  it("has their content, else only a provider with the Responses API can take it", async () => {
    await using upstream = await startUpstream(speaking.openai.respond());
    await using proxy = await startDialectProxy({ only: { dialect: "openai", url: upstream.url } });
    const input = [{ role: "user", content: "Hi" }, { type: "image_generation_call", id: "ig_1", result: null }];
    const response = await fetch(`${proxy.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", input }),
    });
    const { error } = await response.json();
    assertEquals([response.status, error.param], [400, "input[1]"]);
  });
});

describe("A request for images", () => {
  it("asks Gemini for them, in the form that was requested", async () => {
    await using upstream = await startUpstream(replies.gemini!(false));
    await using proxy = await startDialectProxy({ only: { dialect: "gemini", url: upstream.url } });
    const response = await proxy.chat({ modalities: ["image", "text"], image_config: { aspect_ratio: "16:9" } });
    await response.body?.cancel();
    const { responseModalities, imageConfig } = upstream.requests[0]!.json().generationConfig;
    assertEquals([responseModalities, imageConfig], [["IMAGE", "TEXT"], { aspectRatio: "16:9" }]);
    assertEquals(response.headers.get("x-mesh-dropped-params"), null);
  });
});
