/** Chat requests become requests of the Responses API, and these mean the same as chat requests. */
import { assertEquals } from "@std/assert";
import { OutputEvents } from "../../connectors/providers/_responses_events.ts";
import { toCompletion } from "../../connectors/providers/_responses_output.ts";
import { toResponsesRequest } from "../../connectors/providers/_responses_request.ts";
import type { ChatCompletionRequest, JsonObject, ToolCall } from "../../src/contracts/openai.ts";
import { responses } from "../../src/dialects/responses/responses.ts";
import { Dice } from "./_chance.ts";

const rounds = 80;
const image = "data:image/png;base64,iVBORw0KGgo=";

/** A conversation that a client of the Responses API could have as well. */
function createRequest(dice: Dice): ChatCompletionRequest {
  const messages: ChatCompletionRequest["messages"] = [{ role: "system", content: `${dice.word()}!` }];
  const sayByUser = () =>
    messages.push({
      role: "user",
      content: dice.roll(2) === 0
        ? `${dice.word()}!`
        : [{ type: "text", text: dice.word() }, { type: "image_url", image_url: { url: image, detail: "low" } }, {
          type: "file",
          file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" },
        }],
    });
  sayByUser();
  for (let turn = 0; turn < dice.roll(4); turn++) {
    const calls = dice.times(3, (index): ToolCall => ({
      id: `call_${turn}_${index}`,
      type: "function",
      function: { name: `tool_${index}`, arguments: JSON.stringify(dice.object()) },
    }));
    const refusal = calls.length === 0 && dice.roll(4) === 0 ? dice.word() : "";
    const text = calls.length + refusal.length === 0 || dice.roll(2) === 0 ? dice.word() : "";
    messages.push({
      role: "assistant",
      content: text === "" ? null : text,
      ...(refusal === "" ? {} : { refusal }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    });
    for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: dice.word() });
    sayByUser();
  }
  const schema = { type: "object", properties: {} };
  return {
    model: "m",
    messages,
    tools: [{
      type: "function",
      function: { name: "tool_0", description: dice.word(), parameters: schema, strict: false },
    }],
    tool_choice: [{ type: "function", function: { name: "tool_0" } }, "auto", "required"][dice.roll(3)]!,
    parallel_tool_calls: dice.roll(2) === 0,
    reasoning_effort: ["low", "high"][dice.roll(2)]!,
    response_format: [{ type: "json_object" }, {
      type: "json_schema",
      json_schema: { name: "s", schema, strict: true },
    }][
      dice.roll(2)
    ]!,
    user: "u",
  };
}

Deno.test("a chat request comes back from its translation to Responses as it was", () => {
  for (let seed = 0; seed < rounds; seed++) {
    const request = createRequest(new Dice(seed));
    const { store: _, ...sent } = toResponsesRequest({ model: { id: "m" }, stream: false, body: request }, "v");
    const { chat } = responses.translate(sent, { url: "http://localhost/v1/responses", headers: new Headers() });
    assertEquals(chat as unknown, request, `seed ${seed}`);
  }
});

/** The output of a response: reasoning first, then reasoning, texts and calls in any order. */
function createOutput(dice: Dice): JsonObject[] {
  const items = dice.times(8, (index): JsonObject => {
    const kind = index === 0 ? 0 : dice.roll(3);
    if (kind === 0) return { type: "reasoning", id: `rs_${index}`, summary: [], encrypted_content: `sealed-${index}` };
    if (kind === 2) {
      const { call_id, name, given } = { call_id: `call_${index}`, name: "f", given: JSON.stringify(dice.object()) };
      return { type: "function_call", call_id, name, arguments: given };
    }
    const phase = ["commentary", "final_answer"][dice.roll(4)];
    const content = [{ type: "output_text", text: `${index}${dice.word()}`, annotations: [] }];
    return { type: "message", role: "assistant", content, ...(phase === undefined ? {} : { phase }) };
  });
  // reasoning after the last call belongs to no call, and the API does not need it
  const last = items.findLastIndex(({ type }) => type === "function_call");
  return items.filter(({ type }, index) => index <= last || type === "message" && last >= 0);
}

/** Adjacent texts are one, and nothing else differs. */
function joinTexts(items: readonly JsonObject[]): string[] {
  const lines: string[] = [];
  for (const { type, content, encrypted_content, call_id } of items) {
    const text = type === "message" ? (content as JsonObject[]).map((part) => part.text).join("") : undefined;
    if (text !== undefined && lines.at(-1)?.startsWith("text ")) lines.push(`${lines.pop()}${text}`);
    else lines.push(text === undefined ? String(encrypted_content ?? call_id) : `text ${text}`);
  }
  return lines;
}

Deno.test("what a model has created goes back to it in its order, complete and streamed", () => {
  let sealed = 0;
  for (let seed = 0; seed < rounds; seed++) {
    const output = createOutput(new Dice(seed));
    const last = output.findLastIndex(({ type }) => type === "function_call");
    if (last < 0) continue;
    const message = toCompletion({ status: "completed", output }, { vendor: "v" }).choices[0]!.message;
    const reader = new OutputEvents({ vendor: "v" });
    const calls: ToolCall[] = [];
    let text = "";
    for (const [output_index, item] of output.entries()) {
      for (const type of ["response.output_item.added", "response.output_item.done"]) {
        const [choice] = reader.read({ type, output_index, item }).choices;
        text += choice?.delta.content ?? "";
        for (const { index, ...call } of choice?.delta.tool_calls ?? []) {
          if (calls[index] === undefined) calls[index] = structuredClone(call) as ToolCall;
          else calls[index].function.arguments += call.function?.arguments ?? "";
        }
      }
    }
    assertEquals(text === "" ? null : text, message.content, `seed ${seed}`);
    assertEquals(calls, message.tool_calls, `seed ${seed}`);
    const body = { model: "m", messages: [message as never] };
    const { input } = toResponsesRequest({ model: { id: "m" }, stream: false, body }, "v");
    assertEquals(joinTexts(input as JsonObject[]), joinTexts(output), `seed ${seed}`);
    const stripped = toResponsesRequest({ model: { id: "m" }, stream: false, body }, "another");
    assertEquals(JSON.stringify(stripped).includes("sealed"), false);
    sealed++;
  }
  assertEquals(sealed > rounds / 4, true);
});
