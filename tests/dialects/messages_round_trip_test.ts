/** Messages → chat → Messages: what goes there comes back as it was, whatever the conversation has in it. */
import { assertEquals } from "@std/assert";
import { toMessagesRequest } from "../../connectors/providers/_anthropic_request.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import { messages } from "../../src/dialects/messages/messages.ts";
import { createResponse, Dice, toChunks } from "./_chance.ts";

const rounds = 80;
const model = "claude-haiku-4-5";
const request = { url: "http://localhost/v1/messages", headers: new Headers() };

const text = (value: string) => ({ type: "text", text: value });

/** A block that may have a mark of what to cache. */
const marked = (block: JsonObject, dice: Dice): JsonObject =>
  dice.roll(4) > 0 ? block : { ...block, cache_control: { type: "ephemeral", ...(dice.roll(2) ? { ttl: "1h" } : {}) } };

function userBlock(dice: Dice): JsonObject {
  if (dice.roll(3) > 0) return marked(text(dice.word()), dice);
  const data = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" };
  const source = dice.roll(2) === 0 ? data : { type: "url", url: "https://img.example/1.png" };
  return marked({ type: "image", source }, dice);
}

function toolUses(dice: Dice, turn: number): JsonObject[] {
  return dice.times(3, (index) =>
    marked({
      ...{ type: "tool_use", id: `call_${turn}_${index}`, name: `tool_${dice.roll(3)}` },
      input: dice.object(),
    }, dice));
}

/** Turns that alternate; every call has its result in the turn after it. */
function conversation(dice: Dice): JsonObject[] {
  const turns: JsonObject[] = [{ role: "user", content: [text("Hi"), ...dice.times(2, () => userBlock(dice))] }];
  for (let turn = 0; turn < dice.roll(4); turn++) {
    const uses = toolUses(dice, turn);
    const says = uses.length === 0 || dice.roll(2) === 0 ? [marked(text(dice.word()), dice)] : [];
    const results = uses.map(({ id }) =>
      marked({ type: "tool_result", tool_use_id: id, content: [text(dice.word())] }, dice)
    );
    const more = dice.times(2, () => userBlock(dice));
    turns.push({ role: "assistant", content: [...says, ...uses] });
    turns.push({ role: "user", content: [...results, ...(results.length + more.length === 0 ? [text("Go")] : more)] });
  }
  return turns;
}

Deno.test("a request of Messages goes through chat and comes back as it was", () => {
  for (let seed = 0; seed < rounds; seed++) {
    const dice = new Dice(seed);
    const tools = [0, 1, 2].map((index) =>
      marked({
        name: `tool_${index}`,
        description: dice.word(),
        input_schema: { ...dice.object(1), type: "object" },
      }, dice)
    );
    const choice = [
      { type: "any" },
      { type: "none" },
      { type: "tool", name: "tool_1" },
      { type: "auto", disable_parallel_tool_use: true },
    ][dice.roll(4)]!;
    const asked = {
      ...{ model, max_tokens: 1 + dice.roll(999), stop_sequences: ["END"], temperature: 0.5 },
      system: [
        ...dice.times(2, () => ({ ...text(dice.word()), cache_control: { type: "ephemeral" } })),
        marked(text(dice.word()), dice),
      ],
      messages: conversation(dice),
      ...{ tools, tool_choice: choice, metadata: { user_id: "u" } },
    };
    const { chat } = messages.translate(asked, request);
    assertEquals(toMessagesRequest({ model: { id: model }, stream: false, body: chat }), asked, `seed ${seed}`);
  }
});

/** A message of events, as clients put it together; events of a block come between its start and its stop. */
function joinMessage(events: string): JsonObject {
  let message: JsonObject = {};
  let open: JsonObject | undefined;
  const content: JsonObject[] = [];
  for (const event of events.trimEnd().split("\n\n")) {
    const data = JSON.parse(event.slice(event.indexOf("data: ") + 6));
    if (data.type === "message_start") message = data.message;
    else if (data.type === "content_block_start") {
      assertEquals([open, data.index], [undefined, content.length]);
      content.push(open = { ...data.content_block, ...(data.content_block.type === "tool_use" ? { input: "" } : {}) });
    } else if (data.type === "content_block_delta") {
      assertEquals(data.index, content.length - 1);
      const { text: said, thinking, partial_json: json } = data.delta;
      if (said !== undefined) open!.text += said;
      else if (thinking !== undefined) open!.thinking += thinking;
      else open!.input += json;
    } else if (data.type === "content_block_stop") {
      if (open!.type === "tool_use") open!.input = JSON.parse((open!.input as string) || "{}");
      open = undefined;
    } else if (data.type === "message_delta") message = { ...message, ...data.delta, usage: data.usage };
  }
  return { ...message, content };
}

/** The non-streaming response has a refusal in a block of its own; a stream goes on with the text. */
function joined({ content, ...message }: JsonObject): JsonObject {
  const blocks: JsonObject[] = [];
  for (const block of content as JsonObject[]) {
    const last = blocks.at(-1);
    if (last?.type === "text" && block.type === "text") last.text = `${last.text}${block.text}`;
    else blocks.push({ ...block });
  }
  return { ...message, content: blocks };
}

Deno.test("a response of chat becomes a message, and as the history of the next request what it was", () => {
  for (let seed = 0; seed < rounds; seed++) {
    const dice = new Dice(seed);
    const answer = createResponse(model, dice);
    const { toResponse } = messages.translate(
      { model, max_tokens: 1, messages: [{ role: "user", content: "Hi" }] },
      request,
    );
    const { content, stop_reason } = toResponse(answer) as { content: JsonObject[]; stop_reason: string };
    const said = answer.choices[0]!.message;
    const hasRefused = said.refusal !== null || answer.choices[0]!.finish_reason === "content_filter";
    assertEquals(stop_reason === "refusal", hasRefused, `seed ${seed}`);
    const turns: JsonObject[] = [{ role: "user", content: "Hi" }, { role: "assistant", content }];
    const uses = content.filter(({ type }) => type === "tool_use");
    if (uses.length > 0) {
      turns.push({ role: "user", content: uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id })) });
    }
    const { chat } = messages.translate({ model, max_tokens: 1, messages: turns }, request);
    const { refusal, content: words, ...rest } = said;
    const expected = { ...rest, content: refusal === null ? words : `${words}${refusal}` };
    assertEquals<unknown>(chat.messages[1], expected, `seed ${seed}`);
  }
});

Deno.test("a streamed response makes the message that the whole one makes", () => {
  for (let seed = 0; seed < rounds; seed++) {
    const dice = new Dice(seed);
    const answer = createResponse(model, dice);
    const { toResponse, events } = messages.translate(
      { model, max_tokens: 1, messages: [{ role: "user", content: "Hi" }] },
      request,
    );
    const translator = events();
    const all = toChunks(answer, dice).map((chunk) => translator.push(chunk)).join("") + translator.end();
    assertEquals(joinMessage(all), joined(toResponse(answer)), `seed ${seed}`);
  }
});
