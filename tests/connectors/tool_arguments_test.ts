/**
 * Arguments of functions that are not JSON, in the format of the vendors whose words are not OpenAI's: what a model wrote
 * comes to the client as it is, and goes back in an object. Vendors of OpenAI's dialect are in `recorded_test.ts`.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ChatCompletionRequest } from "../../src/contracts/openai.ts";
import { bedrock } from "../support/_bedrock.ts";
import { speaking } from "../support/_dialects.ts";
import { event } from "../support/event_frames.ts";
import { completeResponse, json, type Script } from "../support/upstream.ts";
import { gather } from "./_anthropic.ts";
import { type Call, catchFailure, createScene, type ProviderFixture } from "./_provider_calls.ts";

const written = '{"city": "Zü';
const region = { region: "eu-central-1" };
const vertex = { project: "my-project", location: "europe-west1" };

const sse = (...events: readonly object[]) =>
  completeResponse(200, events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""), "text/event-stream");
const frames = (...all: readonly Uint8Array[]) =>
  completeResponse(200, Uint8Array.from(all.flatMap((one) => [...one])), "application/vnd.amazon.eventstream");

const anthropicStream = sse(
  { type: "message_start", message: { id: "m", model: "x", usage: { input_tokens: 1, output_tokens: 1 } } },
  {
    type: "content_block_start",
    index: 0,
    content_block: { type: "tool_use", id: "call_1", name: "weather", input: {} },
  },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"city":' } },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: ' "Zü' } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
  { type: "message_stop" },
);
const bedrockStream = frames(
  event("messageStart", { role: "assistant" }),
  event("contentBlockStart", { contentBlockIndex: 0, start: { toolUse: { toolUseId: "call_1", name: "weather" } } }),
  event("contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input: '{"city":' } } }),
  event("contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input: ' "Zü' } } }),
  event("contentBlockStop", { contentBlockIndex: 0 }),
  event("messageStop", { stopReason: "tool_use" }),
);

type Fixture = Pick<ProviderFixture, "connector" | "model" | "config">;
const claude: Fixture = speaking.anthropic;
const fixtures: Readonly<Record<string, Fixture>> = {
  anthropic: claude,
  bedrock: { ...bedrock, config: region },
  gemini: speaking.gemini,
  "Claude at Vertex": { ...claude, connector: "google.vertex.v1", config: vertex },
  "Gemini at Vertex": { ...speaking.gemini, connector: "google.vertex.v1", config: vertex },
};

function over<Result>(name: string, script: Script, use: (call: Call) => Promise<Result>): Promise<Result> {
  return createScene({ ...speaking.openai, unknownEvent: "", ...fixtures[name]! }).over(script, use);
}

describe("Arguments that are not JSON", () => {
  for (
    const [name, script] of [["anthropic", anthropicStream], ["Claude at Vertex", anthropicStream], [
      "bedrock",
      bedrockStream,
    ]] as const
  ) {
    it(`are streamed as ${name} wrote them`, async () => {
      const chunks = await over(name, script, ({ stream }) => Array.fromAsync(stream()));
      assertEquals(gather(chunks).tool_calls, [{
        id: "call_1",
        type: "function",
        function: { name: "weather", arguments: written },
      }]);
    });
  }

  for (const args of ["text", null, undefined, [1]]) {
    it(`of Gemini's that are ${JSON.stringify(args)}, which is not an object, are its JSON text; without any, of an empty object`, async () => {
      const candidate = {
        content: { parts: [{ functionCall: { id: "call_1", name: "weather", args } }] },
        finishReason: "STOP",
      };
      const { body } = await over("gemini", json({ candidates: [candidate] }), ({ complete }) => complete());
      assertEquals(body.choices[0]!.message.tool_calls?.map(({ function: { arguments: text } }) => text), [
        JSON.stringify(args ?? {}),
      ]);
    });
  }

  for (const name of Object.keys(fixtures)) {
    it(`of an earlier response go to ${name} as the member of an object`, async () => {
      const call = { id: "call_1", type: "function", function: { name: "weather", arguments: written } };
      const messages = [
        { role: "user", content: "Weather?" },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: "18" },
      ] as ChatCompletionRequest["messages"];
      await over(name, json({}), async ({ upstream, complete, stream }) => {
        for (const ask of [() => complete({ messages }), () => Array.fromAsync(stream({ messages }))]) {
          await catchFailure(ask); // the empty reply
          assertStringIncludes(upstream.requests.at(-1)!.body, JSON.stringify({ INVALID_JSON: written }));
        }
        assertEquals(upstream.calls, 2);
      });
    });
  }
});
