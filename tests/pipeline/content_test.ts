import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ChatCompletion, ChatCompletionChunk } from "../../src/contracts/openai.ts";
import { carriesContent, isEmptyCompletion } from "../../src/pipeline/read_response.ts";

/** Parts of a message or a delta, and whether they say something. */
const parts: readonly (readonly [part: unknown, says: boolean])[] = [
  [{ content: "Hi" }, true],
  [{ content: " " }, true],
  [{ content: "" }, false],
  [{ content: null }, false],
  [{ content: [{ type: "text", text: "Hi" }] }, true],
  [{ content: [] }, false],
  [{}, false],
  [null, false],
  [undefined, false],
  [{ role: "assistant" }, false],
  [{ role: "assistant", content: "", refusal: null }, false],
  [{ refusal: "No" }, true],
  [{ refusal: "" }, false],
  [{ content: "", refusal: "No" }, true],
  [{ reasoning_content: "Hm" }, true],
  [{ reasoning_content: "" }, false],
  [{ reasoning: "Hm" }, true],
  [{ content: null, tool_calls: [{ index: 0, function: { name: "f" } }] }, true],
  [{ tool_calls: [] }, false],
  [{ tool_calls: null }, false],
  [{ function_call: { name: "f", arguments: "" } }, true],
  [{ audio: { id: "a", data: "" } }, true],
  [{ audio: null }, false],
  [{ annotations: [{}] }, false],
];

/** Ways to end, and whether they say why there is nothing. */
const ends: readonly (readonly [reason: string | null | undefined, says: boolean])[] = [
  [undefined, false],
  [null, false],
  ["stop", false],
  ["length", true],
  ["content_filter", true],
  ["tool_calls", true],
  ["function_call", true],
];

function chunk(...choices: readonly unknown[]): ChatCompletionChunk {
  return { id: "1", object: "chat.completion.chunk", created: 0, model: "m", choices } as ChatCompletionChunk;
}

function completion(...choices: readonly unknown[]): ChatCompletion {
  return { id: "1", object: "chat.completion", created: 0, model: "m", choices } as ChatCompletion;
}

describe("carriesContent() and isEmptyCompletion()", () => {
  for (const [part, partSays] of parts) {
    it(`find ${partSays ? "something" : "nothing"} in ${JSON.stringify(part)}, unless it ends for a reason`, () => {
      for (const [finish_reason, endSays] of ends) {
        const says = partSays || endSays;
        assertEquals(carriesContent(chunk({ index: 0, delta: part, finish_reason })), says, `${finish_reason}`);
        assertEquals(
          isEmptyCompletion(completion({ index: 0, message: part, finish_reason })),
          !says,
          `${finish_reason}`,
        );
      }
    });
  }

  it("look at every choice", () => {
    const empty = { delta: { content: "" }, message: { content: "" }, finish_reason: "stop" };
    const full = { delta: { content: "Hi" }, message: { content: "Hi" }, finish_reason: null };
    assertEquals([carriesContent(chunk(empty, full)), isEmptyCompletion(completion(empty, full))], [true, false]);
    assertEquals([carriesContent(chunk(empty, empty)), isEmptyCompletion(completion(empty, empty))], [false, true]);
  });

  it("take no choices for nothing, whatever the usage", () => {
    assertEquals(
      carriesContent({ ...chunk(), usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
      false,
    );
    assertEquals(isEmptyCompletion(completion()), true);
  });
});
