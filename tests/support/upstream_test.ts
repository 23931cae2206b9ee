import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { happens } from "./patience.ts";
import { assertMatchesSchema, withNulls } from "./schema.ts";
import {
  type Behaviour,
  cutAt,
  embeddings,
  emptyBody,
  errorIn200,
  Gate,
  hang,
  hangAfterHeaders,
  html200,
  ok,
  raw,
  refusingUrl,
  reset,
  respond,
  respondEmpty,
  startUpstream,
  status,
  stream,
  truncatedJson,
} from "./upstream.ts";

function ask(url: string, body: unknown = {}, init: RequestInit = {}): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(`${url}/chat/completions`, { method: "POST", headers, body: JSON.stringify(body), ...init });
}

/** Returns what a TCP client receives. */
async function receiveBytes(behaviour: Behaviour): Promise<{ text: string; end: "closed" | "reset" }> {
  await using upstream = await startUpstream(behaviour);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: upstream.port });
  const request = "POST /v1/x HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
  await connection.write(new TextEncoder().encode(request));
  let text = "";
  try {
    for await (const bytes of connection.readable) text += new TextDecoder().decode(bytes);
    return { text, end: "closed" };
  } catch (error) {
    assert(error instanceof Deno.errors.ConnectionReset, String(error));
    return { text, end: "reset" };
  }
}

async function readSseEvents(response: Response): Promise<unknown[]> {
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice(6)));
}

Deno.test("startUpstream() records what it was asked and keeps connections alive", async () => {
  await using upstream = await startUpstream(ok({ text: "Hi" }));
  for (let call = 0; call < 3; call++) {
    const response = await ask(upstream.url, { model: "small" }, {
      headers: { "content-type": "application/json", "x-key": "k" },
    });
    const body = await response.json();
    assertMatchesSchema("CreateChatCompletionResponse", body);
    assertEquals([body.model, body.choices[0].message.content], ["small", "Hi"]);
  }
  assertEquals([upstream.calls, upstream.connections], [3, 1]);
  const { method, path, headers, body } = upstream.requests[0]!;
  assertEquals([method, path, headers["x-key"], body], ["POST", "/v1/chat/completions", "k", '{"model":"small"}']);
});

Deno.test("startUpstream() follows a queue, stays with its last behaviour, and takes a function", async () => {
  await using upstream = await startUpstream([status(500), ok()]);
  const statuses: number[] = [];
  const call = async (model: string) => {
    const response = await ask(upstream.url, { model });
    statuses.push(response.status);
    await response.body?.cancel();
  };
  await call("a");
  await call("a");
  await call("a");
  upstream.follow((request) => request.json().model === "bad" ? status(400) : ok());
  await call("bad");
  await call("good");
  assertEquals(statuses, [500, 200, 200, 400, 200]);
});

Deno.test("startUpstream() serves 200 requests at once", async () => {
  await using upstream = await startUpstream(respond());
  const askOnce = async (_: unknown, index: number) => (await ask(upstream.url, { stream: index % 2 === 0 })).text();
  const texts = await Promise.all(Array.from({ length: 200 }, askOnce));
  assert(texts.every((text) => text.includes("Hello")));
  assertEquals(upstream.calls, 200);
});

Deno.test("startUpstream() reads chunked and binary bodies", async () => {
  await using upstream = await startUpstream(ok());
  const bytes = new Uint8Array(100_000).map((_, index) => index);
  const response = await fetch(upstream.url, { method: "POST", body: new Blob([bytes]).stream() });
  await response.body?.cancel();
  assertEquals(upstream.requests[0]!.bytes, bytes);
});

Deno.test("received() waits for a request, and its `closed` resolves when the client leaves", async () => {
  await using upstream = await startUpstream(hang());
  const controller = new AbortController();
  const failed = assertRejects(() => ask(upstream.url, {}, { signal: controller.signal }));
  const request = await upstream.received(1);
  assertEquals(request.isClosed, false);
  controller.abort();
  await happens("its connection closes", request.closed);
  assertEquals(request.isClosed, true);
  await failed;
});

Deno.test("stream() writes events as OpenAI does", async () => {
  await using upstream = await startUpstream(stream({ pieces: ["Hé", "llo"] }));
  const response = await ask(upstream.url, { model: "small", stream_options: { include_usage: true } });
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  const events = await readSseEvents(response);
  for (const event of events) assertMatchesSchema("CreateChatCompletionStreamResponse", event);
  assertEquals(events.length, 5); // role, two chunks, finish reason, usage
});

Deno.test("stream() and ok() call functions", async () => {
  const toolCalls = [{ name: "add", arguments: '{"a":1,"b":2}' }];
  await using upstream = await startUpstream(respond({ toolCalls }));
  const body = await (await ask(upstream.url)).json();
  assertMatchesSchema("CreateChatCompletionResponse", body);
  assertEquals(body.choices[0].message.tool_calls[0].function, toolCalls[0]!);
  const events = await readSseEvents(await ask(upstream.url, { stream: true }));
  for (const event of events) assertMatchesSchema("CreateChatCompletionStreamResponse", event);
  assertMatch(JSON.stringify(events), /"id":"call_1".*\{\\"a\\":1.*"finish_reason":"tool_calls"/);
});

Deno.test("stream() waits at its gate", async () => {
  const gate = new Gate();
  await using upstream = await startUpstream(stream({ pieces: ["one", "two"], gate }));
  const pending = ask(upstream.url);
  await gate.reached(1);
  gate.open(2);
  await gate.reached(3);
  const reader = (await pending).body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("one")) text += (await reader.read()).value;
  assert(!text.includes("two"));
  gate.openAll();
  for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
  assertMatch(text, /two.*\[DONE\]/s);
});

Deno.test("stream() splits events anywhere, in the middle of a character too", async () => {
  await using upstream = await startUpstream(stream({ pieces: ["é🙂"], split: 1 }));
  const reader = (await ask(upstream.url)).body!.getReader();
  let [pieces, text] = [0, ""];
  const decoder = new TextDecoder();
  for (let read = await reader.read(); !read.done; read = await reader.read(), pieces++) {
    text += decoder.decode(read.value, { stream: true });
  }
  assertMatch(text, /é🙂/);
  assert(pieces > 100, `${pieces} pieces`);
});

const broken: [name: string, behaviour: Behaviour, text: RegExp, end: "closed" | "reset"][] = [
  ["cut before the first event, by RST", stream({ cut: { after: "headers", how: "reset" } }), /\r\n\r\n$/, "reset"],
  ["cut after the role", stream({ cut: { after: 0, how: "close" } }), /"role":"assistant"[^é]*\n\n\r\n$/, "closed"],
  [
    "cut after one piece, by RST",
    stream({ pieces: ["one", "two"], cut: { after: 1, how: "reset" } }),
    /one(?!.*two).*\n\n\r\n$/s,
    "reset",
  ],
  [
    "error first",
    closing(stream({ error: { after: "headers" } })),
    /\r\n\r\n\w+\r\ndata: \{"error".*\n\n\r\n0\r\n\r\n$/s,
    "closed",
  ],
  ["error in the middle", closing(stream({ error: { after: 1 } })), /Hello.*"error"(?!.*DONE)/s, "closed"],
  ["garbage", closing(stream({ garbage: { after: 0, text: 'data: {"id' } })), /data: \{"id\n\n/, "closed"],
  ["no [DONE]", closing(stream({ done: false })), /"finish_reason":"stop"(?!.*DONE)/s, "closed"],
  ["[DONE] without blank line", closing(stream({ done: "unfinished" })), /\[DONE\]\n\r\n0\r\n\r\n$/, "closed"],
  ["CRLF", closing(stream({ lineEnd: "\r\n" })), /\}\r\n\r\n\r\n.*\[DONE\]\r\n\r\n\r\n0\r\n\r\n$/s, "closed"],
  ["pings", closing(stream({ interlude: ": ping" })), /: ping\n\ndata: .*: ping\n\ndata: \[DONE\]/s, "closed"],
  ["reset at once", reset(), /^$/, "reset"],
  ["close at once", reset("close"), /^$/, "closed"],
  ["reset after the head", cutAt(ok(), "headers"), /^HTTP\/1.1 200.*\r\n\r\n$/s, "reset"],
  ["close at byte 20", cutAt(ok(), 20, "close"), /^HTTP\/1.1 200 Scripte$/, "closed"],
  ["cut not even begun", cutAt(ok(), 0), /^$/, "reset"],
  ["truncated JSON", closing(truncatedJson()), /"mess$/, "closed"],
  ["empty body", closing(emptyBody()), /content-length: 0\r\n\r\n$/, "closed"],
  ["a web page", closing(html200()), /text\/html.*<html>/s, "closed"],
  ["an error under 200", closing(errorIn200({ code: "overloaded" })), /^HTTP\/1.1 200.*"code":"overloaded"/s, "closed"],
  ["two headers of a name", closing(status(429, { headers: [["a", "1"], ["a", "2"]] })), /a: 1\r\na: 2\r\n/, "closed"],
  ["raw bytes", raw("HTTP/1.1 99 What\r\n\r\n"), /^HTTP\/1.1 99 What\r\n\r\n$/, "closed"],
];

/** Closes the connection at the end of another behaviour. */
function closing(behaviour: Behaviour): Behaviour {
  return {
    async play(exchange) {
      await behaviour.play(exchange);
      exchange.close();
    },
  };
}

Deno.test("broken behaviours write what they say, and end as they say", async () => {
  for (const [name, behaviour, text, end] of broken) {
    const seen = await receiveBytes(behaviour);
    assertMatch(seen.text, text, `${name}: ${JSON.stringify(seen.text)}`);
    assertEquals(seen.end, end, name);
  }
});

Deno.test("answers: empty, of embeddings, and none", async () => {
  await using upstream = await startUpstream([respondEmpty(), respondEmpty(), embeddings(), hangAfterHeaders()]);
  const empty = await (await ask(upstream.url)).json();
  assertMatchesSchema("CreateChatCompletionResponse", empty);
  assertEquals(empty.choices[0].message.content, "");
  assertEquals((await readSseEvents(await ask(upstream.url, { stream: true }))).length, 2);
  const vectors = await (await ask(upstream.url, { input: ["a", "b"], model: "m" })).json();
  assertMatchesSchema("CreateEmbeddingResponse", vectors);
  assertEquals(vectors.data.length, 2);
  const silent = await ask(upstream.url);
  assertEquals(silent.status, 200);
  await silent.body?.cancel();
  await assertRejects(async () => await ask(await refusingUrl()), TypeError);
});

Deno.test("assertMatchesSchema() names what is wrong", () => {
  const error = assertThrows(() => assertMatchesSchema("Model", { id: "a", object: "model", created: 1 }), Error);
  assertMatch(error.message, /owned_by/);
});

Deno.test("withNulls() reads `nullable` on references and enumerations", () => {
  assertEquals(withNulls({ properties: { nullable: { $ref: "#/$defs/A", nullable: true } } }), {
    properties: { nullable: { anyOf: [{ $ref: "#/$defs/A" }, { type: "null" }] } },
  });
  assertEquals(withNulls({ enum: ["a"], nullable: true }), { anyOf: [{ enum: ["a"] }, { type: "null" }] });
});
