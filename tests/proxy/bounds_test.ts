/** Requests and responses beyond bounds: they are refused, or rotate, before they take much work. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { startTestProxy } from "../support/proxy.ts";
import { raw, respond, startUpstream } from "../support/upstream.ts";

const user = { role: "user", content: "Hi" };
const times = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_, at) => item(at));
const members = (count: number) => times(count, (at) => `"m${at}":1`).join(",");
const chat = (more: string) => `{"model":"chat","messages":[{"role":"user","content":"Hi"}],${more}}`;
const long = "i".repeat(20_000);

type Row = readonly [what: string, path: string, body: string, param: string | null, says: string];

const rows: readonly Row[] = [
  ["members", "chat/completions", chat(members(80_000)), null, "an object with over 50000 members"],
  ["top-level members", "chat/completions", chat(members(12_000)), null, "over 10000 members"],
  ["members of mesh", "chat/completions", chat(`"mesh":{${members(12_000)}}`), null, "over 10000 members"],
  ["a repeated member", "chat/completions", chat(`${members(9_000)},"m8":2`), "m8", "given twice"],
  [
    "members of all objects",
    "embeddings",
    `{"model":"chat","input":[${`{${members(40)}},`.repeat(20_000)}{}]}`,
    null,
    "over 500000 members",
  ],
  ["lists", "chat/completions", chat(`"x":[${"[],".repeat(300_000)}[]]`), null, "over 200000 objects and arrays"],
  [
    "messages",
    "chat/completions",
    JSON.stringify({ model: "chat", messages: times(100_001, () => user) }),
    "messages",
    "100000 items",
  ],
  ["tools", "chat/completions", chat(`"tools":[${times(10_001, () => "{}").join(",")}]`), "tools", "10000 items"],
  [
    "calls",
    "chat/completions",
    JSON.stringify({ model: "chat", messages: [{ role: "assistant", tool_calls: times(10_001, () => ({})) }] }),
    "messages[0].tool_calls",
    "10000 items",
  ],
  [
    "an id",
    "chat/completions",
    JSON.stringify({ model: "chat", messages: [{ role: "tool", tool_call_id: long, content: "" }] }),
    "messages[0].tool_call_id",
    "16384 characters",
  ],
  [
    "messages of Messages",
    "messages",
    JSON.stringify({ model: "chat", max_tokens: 1, messages: times(100_001, () => user) }),
    null,
    "100000 items",
  ],
  [
    "items of Responses",
    "responses",
    JSON.stringify({ model: "chat", input: times(100_001, () => user) }),
    "input",
    "100000 items",
  ],
];

Deno.test("what a client sends beyond bounds is refused with 400, and no provider is called", async () => {
  await using upstream = await startUpstream(respond());
  await using proxy = await startTestProxy({ upstreams: { a: `${upstream.url}/v1` } });
  for (const [what, path, body, param, says] of rows) {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${proxy.url}/v1/${path}`, { method: "POST", body, headers });
    const { error } = await response.json();
    assertEquals([response.status, error.type], [400, "invalid_request_error"], what);
    assertStringIncludes(error.message, says, what);
    if (path === "messages") continue; // its errors have no code
    assertEquals([error.code, error.param], ["invalid_value", param], what);
  }
  assertEquals(upstream.calls, 0);
});

const head = (fields: string) => `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${fields}\r\n`;
const completion = (content: string) =>
  `{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"x":${content}}`;

Deno.test("what a provider sends beyond bounds is an invalid response, and rotates", async () => {
  const bodies = [
    completion(`[${"[],".repeat(1_100_000)}[]]`),
    completion(`${"[".repeat(1_000)}${"]".repeat(1_000)}`),
    completion(`{${members(60_000)}}`),
  ];
  const heads = [
    head(`content-length: 1${" ".repeat(60_000)}1\r\n`),
    head("x: y\r\n".repeat(600)),
  ];
  const behaviours = [
    ...bodies.map((body) => raw(head(`content-length: ${body.length}\r\n`) + body)),
    ...heads.map((one) => raw(one)),
  ];
  await using good = await startUpstream(respond({ text: "Good" }));
  for (const behaviour of behaviours) {
    await using bad = await startUpstream(behaviour);
    await using proxy = await startTestProxy({
      upstreams: { bad: `${bad.url}/v1`, good: `${good.url}/v1` },
      pool: { retry: { max_attempts: 0 } },
    });
    const response = await proxy.chat();
    const body = await response.json();
    assertEquals([response.status, body.choices?.[0].message.content], [200, "Good"]);
    assertEquals(bad.calls, 1);
  }
});
