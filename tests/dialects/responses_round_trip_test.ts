/** Responses → chat → Responses: what goes there comes back as it was, whatever the conversation has in it. */
import { assertEquals } from "@std/assert";
import type { ChatCompletionRequest, ChatMessage, ContentPart, JsonObject } from "../../src/contracts/openai.ts";
import { responses } from "../../src/dialects/responses/responses.ts";
import { createResponse, Dice, toChunks } from "./_chance.ts";

const rounds = 80;
const request = { url: "http://localhost/v1/responses", headers: new Headers() };
const translate = (body: JsonObject) => responses.translate({ model: "m", ...body }, request);

const text = (value: string) => ({ type: "input_text", text: value });

function userPart(dice: Dice): JsonObject {
  const data = "data:image/png;base64,iVBORw0KGgo=";
  return [
    text(dice.word()),
    { type: "input_image", image_url: dice.roll(2) === 0 ? data : "https://img.example/1.png", detail: "low" },
    { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" },
  ][dice.roll(3)]!;
}

const user = (...content: JsonObject[]) => ({ type: "message", role: "user", content });

/** One turn of a model, with the results of all its calls, in any order. */
function toTurn(dice: Dice, turn: number): JsonObject[] {
  const calls = dice.times(3, (index) => ({
    ...{ type: "function_call", call_id: `call_${turn}_${index}`, name: `tool_${dice.roll(3)}` },
    arguments: JSON.stringify(dice.object()),
  }));
  const parts = [
    ...(calls.length > 0 && dice.roll(2) === 0 ? [] : [{ type: "output_text", text: dice.word() }]),
    ...(dice.roll(4) > 0 ? [] : [{ type: "refusal", refusal: dice.word() }]),
  ];
  const results = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: dice.word() }));
  return [
    ...(dice.roll(2) === 0 ? [] : [{ type: "reasoning", summary: [{ type: "summary_text", text: dice.word() }] }]),
    ...(parts.length === 0 ? [] : [{ type: "message", role: "assistant", content: parts }]),
    ...calls,
    ...(dice.roll(2) === 0 ? results : results.reverse()),
  ];
}

function conversation(dice: Dice): JsonObject[] {
  const turns = dice.times(
    4,
    (turn) => [...toTurn(dice, turn), user(text("Go"), ...dice.times(2, () => userPart(dice)))],
  );
  return [
    { type: "message", role: "system", content: [text("Be kind")] },
    user(text("Hi"), userPart(dice)),
    ...turns.flat(),
  ];
}

/** The way back, as the API's reference pairs the two. */
function listItems(messages: readonly ChatMessage[]): JsonObject[] {
  return messages.flatMap((message): JsonObject[] => {
    const { role, content, refusal, reasoning_content: thoughts, tool_calls = [], tool_call_id } = message;
    if (role === "tool") return [{ type: "function_call_output", call_id: tool_call_id, output: content }];
    if (role !== "assistant") {
      const parts = typeof content === "string" ? [{ type: "text", text: content }] : content as ContentPart[];
      return [{ type: "message", role, content: parts.map(inputPart) }];
    }
    const said = [
      ...(content ? [{ type: "output_text", text: content }] : []),
      ...(refusal ? [{ type: "refusal", refusal }] : []),
    ];
    return [
      ...(thoughts === undefined ? [] : [{ type: "reasoning", summary: [{ type: "summary_text", text: thoughts }] }]),
      ...(said.length === 0 ? [] : [{ type: "message", role, content: said }]),
      ...tool_calls.map(({ id, function: asked }) => ({ type: "function_call", call_id: id, ...asked })),
    ];
  });
}

function inputPart(part: ContentPart): JsonObject {
  if (part.type === "text") return text(part.text!);
  if (part.type === "file") return { type: "input_file", ...part.file as JsonObject };
  const { url, ...more } = part.image_url!;
  return { type: "input_image", image_url: url, ...more };
}

function toBody(
  { tools = [], tool_choice: choice, response_format: form, ...chat }: ChatCompletionRequest,
): JsonObject {
  return {
    ...{
      temperature: chat.temperature,
      max_output_tokens: chat.max_tokens,
      parallel_tool_calls: chat.parallel_tool_calls,
    },
    ...{ reasoning: { effort: chat.reasoning_effort }, user: chat.user, input: listItems(chat.messages) },
    tools: tools.map(({ type, function: described }) => ({ type, ...described })),
    tool_choice: typeof choice === "object" ? { type: choice.type, ...choice.function } : choice,
    text: { format: { type: form?.type, ...form?.json_schema } },
  };
}

Deno.test("a request of Responses goes through chat and comes back as it was", () => {
  for (let seed = 0; seed < rounds; seed++) {
    const dice = new Dice(seed);
    const asked = {
      ...{ temperature: 0.5, max_output_tokens: 1 + dice.roll(999), parallel_tool_calls: dice.roll(2) === 0 },
      ...{ reasoning: { effort: "low" }, user: "u", input: conversation(dice) },
      tools: [0, 1, 2].map((index) => ({
        ...{ type: "function", name: `tool_${index}`, description: dice.word(), strict: dice.roll(2) === 0 },
        parameters: { ...dice.object(1), type: "object" },
      })),
      tool_choice: ["auto", "none", "required", { type: "function", name: "tool_1" }][dice.roll(4)],
      text: { format: { type: "json_schema", name: "form", schema: dice.object(1), strict: true } },
    };
    assertEquals(toBody(translate(asked).chat), asked, `seed ${seed}`);
  }
});

Deno.test("a response of chat becomes a response, and as the history of the next request what it was", () => {
  for (let seed = 0; seed < rounds; seed++) {
    const dice = new Dice(seed);
    const answer = createResponse("m", dice);
    const { output } = translate({ input: "Hi" }).toResponse(answer) as { output: JsonObject[] };
    const results = output.filter(({ type }) => type === "function_call")
      .map(({ call_id }) => ({ type: "function_call_output", call_id, output: "" }));
    const { chat } = translate({ input: [user(text("Hi")), ...output, ...results] });
    const { refusal, ...said } = answer.choices[0]!.message;
    assertEquals<unknown>(chat.messages[1], { ...said, ...(refusal === null ? {} : { refusal }) }, `seed ${seed}`);
  }
});

Deno.test("a streamed response makes the response that the whole one makes", () => {
  for (let seed = 0; seed < rounds; seed++) {
    const dice = new Dice(seed);
    const answer = createResponse("m", dice);
    const { toResponse, events } = translate({ input: "Hi" });
    const translator = events();
    const all = toChunks(answer, dice).map((chunk) => translator.push(chunk)).join("") + translator.end();
    const last = all.trimEnd().split("\n\n").at(-1)!;
    assertEquals(JSON.parse(last.slice(last.indexOf("data: ") + 6)).response, toResponse(answer), `seed ${seed}`);
  }
});
