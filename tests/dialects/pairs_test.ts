/**
 * Every client's dialect over every provider's: whatever a conversation and a response have in them arrives, so far as both
 * can express it, and a response in a stream is that of the whole one.
 */
import { assertEquals } from "@std/assert";
import type { ChatCompletionRequest, JsonObject } from "../../src/contracts/openai.ts";
import type { Dialect, Translation } from "../../src/dialects/dialect.ts";
import { gemini } from "../../src/dialects/gemini/gemini.ts";
import { messages } from "../../src/dialects/messages/messages.ts";
import { responses } from "../../src/dialects/responses/responses.ts";
import { dataIn, saidIn } from "../support/_dialect_responses.ts";
import type { Json } from "../support/_dialects.ts";
import type { Said, SaidCall, Turn } from "../support/_said.ts";
import { Dice } from "./_chance.ts";
import { type CitedResponse, type Item, type ProviderDialect, providers } from "./_providers.ts";

const rounds = 30;
const image = { png: "data:image/png;base64,iVBORw0KGgo=", jpeg: "data:image/jpeg;base64,/9j/4AAQ" };
const dialects: Readonly<Record<string, Dialect>> = { messages, responses, gemini };

/** A dialect's translation of a request; chat is its own. */
function translate(client: string, body: Json): Pick<Translation, "chat" | "toResponse"> & { stream: Translate } {
  const dialect = dialects[client];
  if (dialect === undefined) {
    return {
      chat: body as unknown as ChatCompletionRequest,
      toResponse: (completion) => completion as unknown as JsonObject,
      stream: (chunks) => chunks as unknown as Json[],
    };
  }
  const path = saidIn[client]!.path(true);
  const { chat, toResponse, events } = dialect.translate(body, {
    url: `http://localhost${path}`,
    headers: new Headers(),
  });
  const stream: Translate = (chunks) => {
    const translator = events();
    return dataIn(chunks.map((chunk) => translator.push(chunk)).join("") + translator.end());
  };
  return { chat, toResponse, stream };
}

type Translate = (chunks: ReturnType<ProviderDialect["streamed"]>) => Json[];

function createCalls(dice: Dice, turn: number): SaidCall[] {
  return dice.times(2, (index) => ({ id: `call_${turn}_${index}`, name: `tool_${index}`, input: dice.object() }));
}

function createAnswer(dice: Dice): CitedResponse {
  const parts = dice.times(3, (at) => ({
    text: `${at} ${dice.word()} `,
    sources: dice.times(2, (index) => ({ url: `https://${at}.example/${index}`, title: dice.word() })),
  }));
  const calls = createCalls(dice, 0);
  const isSilent = parts.length + calls.length === 0;
  return {
    parts,
    text: parts.map(({ text }) => text).join(""),
    thoughts: dice.roll(2) === 0 ? dice.word() : "",
    calls,
    images: isSilent ? [image.png] : dice.times(2, () => [image.png, image.jpeg][dice.roll(2)]!),
    citations: parts.flatMap(({ text, sources }) => sources.map((source) => ({ ...source, text }))),
    finish: calls.length > 0 ? "tool_calls" : ["stop", "length", "content_filter"][dice.roll(3)]!,
    tokens: [50 + dice.roll(50), dice.roll(50), dice.roll(99)],
  };
}

/** A conversation, and what a provider has to get of it. */
function conversation(dice: Dice): { turns: Turn[]; items: Item[] } {
  const turns: Turn[] = [];
  const items: Item[] = [["system", "Be kind"]];
  const sayByUser = () => {
    const parts = [dice.word(), ...dice.times(2, () => dice.roll(2) === 0 ? { image: image.png } : dice.word())];
    turns.push({ user: parts });
    for (const part of parts) items.push(typeof part === "string" ? ["user", part] : ["user image", part.image]);
  };
  sayByUser();
  for (let turn = 0; turn < dice.roll(4); turn++) {
    const calls = createCalls(dice, turn);
    const text = calls.length === 0 || dice.roll(2) === 0 ? dice.word() : "";
    const images = dice.roll(3) === 0 ? [image.jpeg] : [];
    const thoughts = dice.roll(2) === 0 ? dice.word() : "";
    turns.push({ model: { text, calls, images, thoughts } });
    if (thoughts !== "") items.push(["thoughts", thoughts]);
    if (text !== "") items.push(["assistant", text]);
    for (const url of images) items.push(["assistant image", url]);
    for (const { id, name, input } of calls) items.push(["call", id, name, input]);
    const results = calls.map((call) => ({ call, text: dice.word() }));
    if (results.length > 0) turns.push({ results });
    for (const { call, text } of results) items.push(["result", call.id, text]);
    sayByUser();
  }
  return { turns, items };
}

/** The text of a result is a member of an object in Gemini, which other APIs get as JSON. */
function plain([kind, ...values]: Item): Item {
  if (kind !== "result") return [kind, ...values];
  const [id, text] = values as [string, string];
  const { result } = /^\{"result":/.test(text) ? JSON.parse(text) : { result: text };
  return [kind, id, result];
}

for (const [client, { ask, read, gather }] of Object.entries(saidIn)) {
  for (const [name, provider] of Object.entries(providers)) {
    Deno.test(`${client} over ${name}: a conversation arrives`, () => {
      for (let seed = 0; seed < rounds; seed++) {
        const { turns, items } = conversation(new Dice(seed));
        const { chat } = translate(client, ask(turns, "Be kind"));
        const expected = items.filter(([kind]) => !provider.refuses.includes(kind));
        assertEquals(provider.sent(chat).map(plain), expected, `seed ${seed}`);
      }
    });

    Deno.test(`${client} over ${name}: a response comes back, non-streaming and streaming`, () => {
      for (let seed = 0; seed < rounds; seed++) {
        const dice = new Dice(seed);
        const { parts, ...answer } = createAnswer(dice);
        const { toResponse, stream } = translate(client, ask([{ user: ["Hi"] }]));
        const expected: Said = { ...answer, ...(provider.lacks.includes("images") ? { images: [] } : {}) };
        assertEquals(read(toResponse(provider.whole({ ...answer, parts }))), expected, `seed ${seed}, whole`);
        const events = stream(provider.streamed({ ...answer, parts }, dice));
        assertEquals(read(gather(events)), expected, `seed ${seed}, streamed`);
      }
    });
  }
}
