/** Which members of requests and responses are texts: a member that is new has to be one or the other, on purpose. */
import { assert, assertEquals } from "@std/assert";
import { GuardedStream } from "../../src/pipeline/guards/guarded_stream.ts";
import { listTexts, type TextScope, withTexts } from "../../src/pipeline/guards/texts.ts";
import { TextWindow } from "../../src/pipeline/guards/text_window.ts";
import type { ChatCompletionChunk } from "../../src/contracts/openai.ts";
import type { CompletionChunk } from "../../src/contracts/provider.ts";

interface Shape {
  readonly file: string;
  readonly scope: TextScope;
  /** A body with an object of this shape. */
  readonly body: (object: object) => object;
  /** Control values. */
  readonly controls: readonly string[];
}

const chat = (messages: unknown) => ({ model: "m", messages });

/** The shapes of the contracts, by the name of their interface. */
const shapes: Readonly<Record<string, Shape>> = {
  ChatCompletionRequest: {
    file: "openai",
    scope: "request",
    body: (object) => object,
    controls: ["tool_choice", "reasoning_effort"],
  },
  ChatMessage: { file: "openai", scope: "request", body: (object) => chat([object]), controls: ["tool_call_id"] },
  ContentPart: {
    file: "openai",
    scope: "request",
    body: (object) => chat([{ role: "user", content: [object] }]),
    controls: ["type"],
  },
  ToolCall: {
    file: "openai",
    scope: "request",
    body: (object) => chat([{ role: "assistant", tool_calls: [object] }]),
    controls: ["id"],
  },
  Tool: { file: "openai", scope: "request", body: (object) => ({ tools: [object] }), controls: ["type"] },
  RequestBody: { file: "body", scope: "request", body: (object) => object, controls: ["model", "models", "user"] },
  EmbeddingRequest: { file: "embeddings", scope: "request", body: (object) => object, controls: [] },
  RerankRequest: { file: "rerank", scope: "request", body: (object) => object, controls: [] },
  SearchRequest: { file: "search", scope: "request", body: (object) => object, controls: [] },
  ModerationRequest: { file: "moderation", scope: "request", body: (object) => object, controls: [] },
  ImageOptions: {
    file: "images",
    scope: "request",
    body: (object) => object,
    controls: ["size", "quality", "output_format", "background"],
  },
  ImageRequest: { file: "images", scope: "request", body: (object) => object, controls: ["style"] },
  SpeechRequest: { file: "audio", scope: "request", body: (object) => object, controls: ["voice"] },
  TranscriptionFields: {
    file: "audio",
    scope: "request",
    body: (object) => object,
    controls: ["language", "timestamp_granularities"],
  },
  AssistantMessage: {
    file: "openai",
    scope: "response",
    body: (message) => ({ choices: [{ index: 0, message }] }),
    controls: [],
  },
  ChatCompletion: {
    file: "openai",
    scope: "response",
    body: (object) => object,
    controls: ["id", "model"],
  },
  GeneratedImage: {
    file: "images",
    scope: "response",
    body: (object) => ({ data: [object] }),
    controls: ["url", "b64_json"],
  },
  SearchResult: { file: "search", scope: "response", body: (object) => ({ results: [object] }), controls: ["url"] },
  Transcription: { file: "audio", scope: "response", body: (object) => object, controls: ["language"] },
  TranscriptSegment: { file: "audio", scope: "response", body: (object) => ({ segments: [object] }), controls: [] },
  DocumentResponse: { file: "documents", scope: "response", body: (object) => object, controls: ["model"] },
};

/** The members of an interface that may be strings, or lists of them. */
async function readStringMembers(file: string, name: string): Promise<string[]> {
  const source = await Deno.readTextFile(new URL(`../../src/contracts/${file}.ts`, import.meta.url));
  const start = source.search(new RegExp(`^export interface ${name}\\b`, "m"));
  assert(start >= 0, `${file}.ts has no ${name}`);
  const text = source.slice(start, source.indexOf("\n}", start));
  const members = [...text.matchAll(/^ {2}(?:readonly )?(\w+)\??: ([^\n]+);$/gm)];
  return members.flatMap(([, member = "", type = ""]) =>
    /\bstring\b/.test(type.replace(/\{.*?\}/g, "")) ? [member] : []
  );
}

for (const [name, { file, scope, body, controls }] of Object.entries(shapes)) {
  Deno.test(`guards see every string of ${name}, but for its control values`, async () => {
    const members = await readStringMembers(file, name);
    const unseen = members.filter((member) =>
      !listTexts(body({ [member]: "MARK" }), scope).some(({ text }) => text === "MARK")
    );
    assertEquals(unseen.sort(), [...controls].sort());
  });
}

Deno.test("guards see strings in members that are new, at any depth", () => {
  const body = { model: "m", messages: [], new_member: { deep: [{ er: "MARK" }] } };
  assertEquals(listTexts(body, "request"), [{ path: "new_member.deep[0].er", text: "MARK" }]);
});

Deno.test("a body with other texts shares what does not change", () => {
  const body = { model: "m", messages: [{ role: "user", content: "a" }, { role: "user", content: "b" }] };
  const after = withTexts(body, new Map([["messages[1].content", "c"]]), "request");
  assertEquals(after.messages.map(({ content }) => content), ["a", "c"]);
  assertEquals(after.messages[0], body.messages[0]);
  assert(after.messages[0] === body.messages[0]);
  assert(withTexts(body, new Map(), "request") === body);
});

/** Pseudo-random numbers that are the same in every run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed;;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

Deno.test("whatever the pieces of a text, what leaves the window is the text as a guard leaves it", () => {
  const random = numbers(7);
  const next = () => random.next().value;
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: 60 }, () => ["secret", "SEC", "ret", "x", "yz ", "🙂"][Math.floor(next() * 6)])
      .join("");
    const check = (part: string) => part.replaceAll("secret", "[S]");
    const window = new TextWindow(6 + Math.floor(next() * 20));
    let passed = "";
    for (let at = 0; at < text.length;) {
      const length = 1 + Math.floor(next() * 9);
      window.append(text.slice(at, at + length));
      at += length;
      if (window.isDue) passed += window.release(check(window.text), false);
    }
    passed += window.release(check(window.text), true);
    assertEquals(passed, check(text), `round ${round}`);
  }
});

Deno.test("a stream of several choices and calls arrives complete, each text whole", async () => {
  const event = (index: number, delta: object, finish_reason: string | null = null): ChatCompletionChunk => ({
    id: "c",
    object: "chat.completion.chunk",
    created: 0,
    model: "m",
    choices: [{ index, delta, finish_reason }] as ChatCompletionChunk["choices"],
  });
  const call = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] });
  const events = [
    event(0, { role: "assistant", content: "" }),
    event(0, { content: "Hello " }),
    event(1, { role: "assistant", content: "Other " }),
    event(0, { content: "world, and all in it" }),
    event(1, { content: "words of a second choice" }),
    event(0, { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }] }),
    event(0, call(0, '{"a":"a long argument')),
    event(0, { tool_calls: [{ index: 1, id: "b", type: "function", function: { name: "g", arguments: "" } }] }),
    event(0, call(1, '{"b":')),
    event(0, call(0, ' of the first"}')),
    event(0, call(1, '"another"}')),
    event(1, {}, "stop"),
    event(0, {}, "tool_calls"),
  ];
  const source = {
    isStopped: false,
    cancel: () => {},
    read: () => Promise.resolve(events.length === 0 ? undefined : { value: events.shift()! } as CompletionChunk),
  };
  const guards = {
    reach: 8,
    interval: 1,
    check: (texts: readonly { path: string; text: string }[]) => Promise.resolve(texts),
  };
  const stream = await new GuardedStream(source, guards).open();
  const texts: Record<string, string> = {};
  const ends: unknown[] = [];
  for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) {
    for (const { index, delta, finish_reason } of chunk.value.choices) {
      if (delta.content) texts[`content ${index}`] = (texts[`content ${index}`] ?? "") + delta.content;
      for (const { index: at, function: fn } of delta.tool_calls ?? []) {
        texts[`call ${at}`] = (texts[`call ${at}`] ?? "") + (fn?.arguments ?? "");
      }
      if (finish_reason !== null) ends.push([index, finish_reason]);
    }
  }
  assertEquals(texts, {
    "content 0": "Hello world, and all in it",
    "content 1": "Other words of a second choice",
    "call 0": '{"a":"a long argument of the first"}',
    "call 1": '{"b":"another"}',
  });
  assertEquals(ends, [[1, "stop"], [0, "tool_calls"]]);
});
