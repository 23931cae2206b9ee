/**
 * Cache breakpoints, `cache_control`: they arrive where the target expects them, and none is lost on the way.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Dialect, type Json, speaking } from "../support/_dialects.ts";
import { startDialectProxy } from "../support/_dialect_proxy.ts";
import { startUpstream } from "../support/upstream.ts";

const cache_control = { type: "ephemeral" };
const hour = { type: "ephemeral", ttl: "1h" };
const text = (value: string, mark?: Json) => ({ type: "text", text: value, ...(mark && { cache_control: mark }) });
const call = { id: "t1", type: "function", function: { name: "f", arguments: "{}" } };
const tool = { name: "f", input_schema: { type: "object" } };

/** What a provider is sent for a request of a client. */
async function sent(path: string, body: Json, dialect: Dialect, settings?: Json): Promise<Json> {
  await using upstream = await startUpstream(speaking[dialect].respond());
  await using proxy = await startDialectProxy({
    only: { dialect, url: upstream.url, ...(settings && { settings }) },
  });
  const response = await fetch(proxy.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", max_tokens: 9, ...body }),
  });
  assertEquals(response.status, 200, await response.clone().text());
  await response.body?.cancel();
  return upstream.requests[0]!.json();
}

/** A gateway in OpenAI's shape that takes breakpoints, such as OpenRouter. */
const gateway = { parameters: { cache_control: true } };

const ofClaude = {
  system: [text("One", cache_control), text("Two", hour), text("Three"), text("Four", cache_control)],
  messages: [
    { role: "user", content: [text("Go", cache_control)] },
    {
      role: "assistant",
      content: [text("I will"), { type: "tool_use", id: "t1", name: "f", input: {}, cache_control: hour }],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t1", content: [text("Done")], cache_control }],
    },
  ],
  tools: [{ ...tool, cache_control }],
};

describe("the breakpoints of /v1/messages", () => {
  it("are all in parts for a gateway in OpenAI's shape, and never on a message", async () => {
    const { messages, tools } = await sent("/v1/messages", ofClaude, "openai", gateway);
    assertEquals(messages, [
      {
        role: "system",
        content: [text("One", cache_control), text("Two", hour), text("Three\n\nFour", cache_control)],
      },
      { role: "user", content: [text("Go", cache_control)] },
      { role: "assistant", content: "I will", tool_calls: [{ ...call, cache_control: hour }] },
      { role: "tool", tool_call_id: "t1", content: [text("Done", cache_control)] },
    ]);
    assertEquals((tools as Json[])[0]!.cache_control, cache_control);
  });

  it("are gone for models without them, whose instructions are one text", async () => {
    const { messages, tools } = await sent("/v1/messages", ofClaude, "openai");
    assertEquals(messages, [
      { role: "system", content: "One\n\nTwo\n\nThree\n\nFour" },
      { role: "user", content: "Go" },
      { role: "assistant", content: "I will", tool_calls: [call] },
      { role: "tool", tool_call_id: "t1", content: "Done" },
    ]);
    assert(!JSON.stringify(tools).includes("cache_control"));
  });

  it("of a result's content are its own", async () => {
    const [user, assistant] = ofClaude.messages;
    const result = { type: "tool_result", tool_use_id: "t1", content: [text("Done", hour), text("Well")] };
    const body = { ...ofClaude, messages: [user, assistant, { role: "user", content: [result] }] };
    const { messages } = await sent("/v1/messages", body, "openai", gateway);
    assertEquals((messages as Json[])[3]!.content, [text("Done\nWell", hour)]);
  });
});

describe("the breakpoints of /v1/chat/completions", () => {
  const ofChat = {
    messages: [
      { role: "system", content: [text("One", cache_control), text("Two"), text("Three", hour)] },
      { role: "user", content: "Go", cache_control },
      { role: "assistant", content: null, tool_calls: [call], cache_control: hour },
      { role: "tool", tool_call_id: "t1", content: [text("Done", cache_control), text("Well")] },
      { role: "user", content: [text("So"), text("Thanks")], cache_control: hour },
    ],
    tools: [{ type: "function", function: { name: "f", cache_control } }],
  };

  it("are on blocks, tools and results at Claude, and never in a result's content", async () => {
    const { system, messages, tools } = await sent("/v1/chat/completions", ofChat, "anthropic");
    const result = { type: "tool_result", tool_use_id: "t1", content: [text("Done"), text("Well")], cache_control };
    assertEquals(system, [text("One", cache_control), text("Two"), text("Three", hour)]);
    assertEquals<unknown>(messages, [
      { role: "user", content: [text("Go", cache_control)] },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "f", input: {}, cache_control: hour }] },
      { role: "user", content: [result, text("So"), text("Thanks", hour)] },
    ]);
    assertEquals((tools as Json[])[0]!.cache_control, cache_control);
  });

  it("of blank text, which Claude rejects, are on what comes before it", async () => {
    const messages = [
      { role: "system", content: [text("One"), text(" ", hour)] },
      { role: "user", content: [text("Go"), text("", cache_control)] },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "t1", content: [text("", cache_control)] },
      { role: "user", content: [text("", cache_control)] },
    ];
    const { system, messages: turns } = await sent("/v1/chat/completions", { messages }, "anthropic");
    assertEquals(system, [text("One", hour)]);
    const [first, , last] = turns as { content: Json[] }[];
    assertEquals(first!.content, [text("Go", cache_control)]);
    assertEquals<unknown>(last!.content, [{ type: "tool_result", tool_use_id: "t1", cache_control }]);
  });

  it("on a message are on its last part for a gateway in OpenAI's shape", async () => {
    const { messages } = await sent("/v1/chat/completions", ofChat, "openai", gateway);
    const [system, , , result] = ofChat.messages;
    assertEquals<unknown>(messages, [
      system,
      { role: "user", content: [text("Go", cache_control)] },
      { role: "assistant", content: null, tool_calls: [{ ...call, cache_control: hour }] },
      result,
      { role: "user", content: [text("So"), text("Thanks", hour)] },
    ]);
  });

  it("are gone for models without them, wherever they were", async () => {
    assert(!JSON.stringify(await sent("/v1/chat/completions", ofChat, "openai")).includes("cache_control"));
  });
});
