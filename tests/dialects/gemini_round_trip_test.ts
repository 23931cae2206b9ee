/** Gemini → chat → Gemini: what goes there comes back as it was, whatever the conversation has in it. */
import { assertEquals } from "@std/assert";
import { toGenerateContent } from "../../connectors/providers/_gemini_request.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import { gemini } from "../../src/dialects/gemini/gemini.ts";
import { createResponse, Dice, toChunks } from "./_chance.ts";

const rounds = 80;
const model = "gemini-2.5-flash";
const request = { url: `http://localhost/v1beta/models/${model}:generateContent?alt=sse`, headers: new Headers() };
const hello = { role: "user", parts: [{ text: "Hi" }] };
const wantsThoughts = { generationConfig: { thinkingConfig: { includeThoughts: true } } };

function userPart(dice: Dice): JsonObject {
  if (dice.roll(3) > 0) return { text: dice.word() };
  return [
    { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } },
    { inlineData: { mimeType: "audio/wav", data: "AAAA" } },
    { inlineData: { mimeType: "application/pdf", data: "JVBERg==" } },
    { fileData: { mimeType: "image/png", fileUri: "https://img.example/1.png" } },
  ][dice.roll(4)]!;
}

function callParts(dice: Dice, turn: number): JsonObject[] {
  return dice.times(3, (index) => ({
    functionCall: { id: `call_${turn}_${index}`, name: `tool_${dice.roll(3)}`, args: dice.object() },
    ...(dice.roll(2) === 0 ? { thoughtSignature: "c2VhbA==" } : {}),
  }));
}

/** Turns that alternate; the results of all calls are the turn after them, and words after those a turn of their own. */
function conversation(dice: Dice): JsonObject[] {
  const turns: JsonObject[] = [{ ...hello, parts: [...hello.parts, ...dice.times(2, () => userPart(dice))] }];
  for (let turn = 0; turn < dice.roll(4); turn++) {
    const calls = callParts(dice, turn);
    const says = calls.length === 0 || dice.roll(2) === 0 ? [{ text: dice.word() }] : [];
    turns.push({ role: "model", parts: [...says, ...calls] });
    const results = calls.map(({ functionCall }) => {
      const { id, name } = functionCall as JsonObject;
      return { functionResponse: { id, name, response: dice.object() } };
    });
    if (results.length > 0) turns.push({ role: "user", parts: results });
    const more = dice.times(2, () => userPart(dice));
    if (results.length === 0 || more.length > 0) turns.push({ role: "user", parts: [{ text: "Go" }, ...more] });
  }
  return turns;
}

Deno.test("a request of Gemini goes through chat and comes back as it was", () => {
  for (let seed = 0; seed < rounds; seed++) {
    const dice = new Dice(seed);
    const property = { type: "object", properties: { at: { type: "integer" } } };
    const functionDeclarations = [0, 1, 2].map((index) => ({
      ...{ name: `tool_${index}`, description: dice.word() },
      ...(dice.roll(2) === 0 ? {} : { parametersJsonSchema: property }),
    }));
    const functionCallingConfig = [
      { mode: "AUTO" },
      { mode: "ANY" },
      { mode: "NONE" },
    ][dice.roll(3)]!;
    const asked = {
      systemInstruction: { parts: [{ text: dice.word() }] },
      contents: conversation(dice),
      tools: [{ functionDeclarations }],
      toolConfig: { functionCallingConfig },
      generationConfig: {
        ...{
          maxOutputTokens: 1 + dice.roll(999),
          stopSequences: ["END"],
          temperature: 0.5,
          topP: 0.9,
          topK: 5,
          seed: 7,
        },
        ...(dice.roll(2) === 0
          ? { candidateCount: 2 }
          : { thinkingConfig: { thinkingBudget: 8_192, includeThoughts: true } }),
        ...(dice.roll(2) === 0 ? { responseMimeType: "application/json", responseJsonSchema: property } : {}),
      },
    };
    const { chat } = gemini.translate(asked, request);
    assertEquals<unknown>(toGenerateContent(model, chat), asked, `seed ${seed}`);
  }
});

Deno.test("a response of chat becomes a content, and as the history of the next request what it was", () => {
  for (let seed = 0; seed < rounds; seed++) {
    const dice = new Dice(seed);
    const answer = createResponse(model, dice);
    const { toResponse } = gemini.translate({ contents: [hello], ...wantsThoughts }, request);
    const { candidates: [candidate] } = toResponse(answer) as {
      candidates: [{ content: JsonObject; finishReason: string }];
    };
    const { message, finish_reason } = answer.choices[0]!;
    const hasRefused = message.refusal !== null || finish_reason === "content_filter";
    assertEquals(candidate.finishReason === "SAFETY", hasRefused, `seed ${seed}`);
    const results = (message.tool_calls ?? []).map(({ id, function: { name } }) => ({
      functionResponse: { id, name },
    }));
    const { chat } = gemini.translate({
      contents: [hello, candidate.content, ...(results.length === 0 ? [] : [{ role: "user", parts: results }])],
    }, request);
    const { refusal, content: words, ...others } = message;
    const expected = { ...others, content: refusal === null ? words : `${words}${refusal}` };
    assertEquals<unknown>(chat.messages[1], expected, `seed ${seed}`);
  }
});

/** A content of events, as clients put it together: neighbouring texts are one. */
function joinContent(events: JsonObject[]): JsonObject {
  const parts: JsonObject[] = [];
  let last: JsonObject = {};
  for (const { candidates, ...others } of events as { candidates: { content: { parts: JsonObject[] } }[] }[]) {
    for (const { content, ...candidate } of candidates) {
      last = { ...others, ...candidate };
      for (const part of content.parts) {
        const before = parts.at(-1);
        if (part.text !== undefined && before?.text !== undefined && before.thought === part.thought) {
          before.text = `${before.text}${part.text}`;
        } else if (part.text !== "") parts.push({ ...part });
      }
    }
  }
  return { parts, ...last };
}

Deno.test("a streamed response makes the content that the whole one makes, as events and as an array", () => {
  for (let seed = 0; seed < rounds; seed++) {
    for (const alt of ["sse", "json"]) {
      const dice = new Dice(seed);
      const answer = createResponse(model, dice);
      const { toResponse, events } = gemini.translate(
        { contents: [hello], ...wantsThoughts },
        { ...request, url: request.url.replace("sse", alt) },
      );
      const translator = events();
      const all = toChunks(answer, dice).map((chunk) => translator.push(chunk)).join("") + translator.end();
      const streamed = alt === "sse"
        ? all.trimEnd().split("\n\n").map((event) => JSON.parse(event.slice("data: ".length)))
        : JSON.parse(all);
      assertEquals(joinContent(streamed), joinContent([toResponse(answer)]), `seed ${seed}, ${alt}`);
    }
  }
});
