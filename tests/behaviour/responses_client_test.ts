/** `client.responses` of the library, and the types of the official client's beside its own. */
import type OpenAI from "openai";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type ModelResponse,
  type ResponseEvent,
  routingOf,
  StreamInterruptedError,
  UnsupportedRequestError,
} from "../../mod.ts";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { createResponse, respondWithResponse } from "../support/_responses_behaviours.ts";
import { ok, respond, type Script, status, stream } from "../support/upstream.ts";

const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "chat-completion", pool: { retry: { max_attempts: 0 } }, ...options });
const native = { provider: { config: { responses: true } } };

// what is typed with the official client's types can be passed in, and its responses' types can be used for ours
type Sdk = OpenAI.Responses.Response;
export const asTheirs = (own: ModelResponse): Sdk => own;
export const eventAsTheirs = (own: ResponseEvent): OpenAI.Responses.ResponseStreamEvent => own;
const asked: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
  input: [{ role: "user", content: [{ type: "input_text", text: "Hello" }] }],
  tools: [{ type: "function", name: "look", parameters: { type: "object" }, strict: true }],
  tool_choice: "auto",
};

describe("client.responses", () => {
  it("answers by any model of the pool, after a failover", async () => {
    await using scene = await stage({ a: status(500), b: ok({ text: "Good day" }) });
    const response = await scene.client.responses.create(asked);
    assertEquals([response.output_text, response.status, response.model], ["Good day", "completed", "b"]);
    assertEquals(response.usage?.total_tokens, 15);
    assertEquals([routingOf(response)?.model, scene.calls], ["b", { a: 1, b: 1 }]);
    assertEquals(scene.upstreams.b!.requests[0]!.json().tools[0].function.name, "look");
  });

  it("streams events", async () => {
    await using scene = await stage({
      a: stream({ error: { after: "headers" } }),
      b: stream({ pieces: ["Good", " day"] }),
    });
    const events = await Array.fromAsync(await scene.client.responses.create({ input: "Hello", stream: true }));
    const deltas = events.map((event) => event.type === "response.output_text.delta" ? event.delta : "");
    assertEquals([deltas.join(""), events[0]!.type], ["Good day", "response.created"]);
    const last = events.at(-1)!;
    assert(last.type === "response.completed");
    assertEquals([last.response.usage?.total_tokens, last.sequence_number], [15, events.length - 1]);
  });

  it("throws where a stream breaks midway, with the text so far", async () => {
    await using scene = await stage({ a: stream({ pieces: ["Good", " day"], cut: { after: 1, how: "reset" } }) });
    const events = await scene.client.responses.create({ input: "Hello", stream: true });
    const { partialText } = await assertRejects(() => Array.fromAsync(events), StreamInterruptedError);
    assertEquals(partialText, "Good");
  });

  it("gives a provider of that API the request as it is, and the response and its events as they came", async () => {
    const reply = { text: "Hi", calls: ["look"] };
    await using scene = await stage({ a: respondWithResponse(reply) }, native);
    const response = await scene.client.responses.create({
      input: "Hello",
      mesh: { tags: ["t"] },
      metadata: { a: "b" },
    });
    assertEquals<unknown>(response, { access_programs: null, ...createResponse(reply), output_text: "Hi" });
    assertEquals(scene.upstreams.a!.requests[0]!.json(), { input: "Hello", metadata: { a: "b" }, model: "a" });
    const events = await Array.fromAsync(await scene.client.responses.create({ input: "Hello", stream: true }));
    const last = events.at(-1)!;
    assertEquals<unknown>(last.type === "response.completed" && last.response, createResponse(reply));
  });

  it("ends the provider's call when its stream is left", async () => {
    await using scene = await stage({ a: respond({ pieces: ["a", "b", "c", "d"] }) });
    for await (const event of await scene.client.responses.create({ input: "Hello", stream: true })) {
      if (event.type === "response.output_text.delta") break;
    }
    const again = await scene.client.responses.create({ input: "Hello" });
    assertEquals(again.status, "completed");
  });

  it("refuses what would have to be kept, without asking a model", async () => {
    await using scene = await stage({ a: ok() });
    const { param } = await assertRejects(
      () => scene.client.responses.create({ input: "Hello", previous_response_id: "resp_1" }),
      UnsupportedRequestError,
      "send all of it",
    );
    assertEquals([param, scene.calls], ["previous_response_id", { a: 0 }]);
  });

  it("answers many at once, each its own request", async () => {
    const echo: Script = ({ json }) => ok({ text: json().messages[0].content });
    await using scene = await stage({ a: echo });
    const inputs = Array.from({ length: 20 }, (_, index) => `request ${index}`);
    const all = await Promise.all(inputs.map((input) => scene.client.responses.create({ input })));
    assertEquals(all.map(({ output_text }) => output_text), inputs);
  });
});
