/** Each vendor gets conversations that it accepts, whatever dialect the client speaks. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { agentBodies, type AgentRequest } from "../../support/_agent_turns.ts";
import type { Json } from "../../support/_dialects.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { createConfig, readSent, strictBedrock, type StrictVendor, vendorNamed } from "../../support/_strict_calls.ts";
import {
  callAfterUser,
  chatOf,
  following,
  type HistoryRequest,
  mistralOrder,
  nonBlankStops,
  nonBlankText,
  type Rule,
  says,
  sentTo,
  userFirst,
} from "../../support/_strict_history.ts";
import { json, startUpstream } from "../../support/upstream.ts";

const mistral = vendorNamed("mistral.api.v1");
const openai = vendorNamed("openai.llm.v1");
const claude = vendorNamed("anthropic.claude.v1");
const gemini = vendorNamed("google.gemini.v1");
const ollama: StrictVendor = { ...openai, connector: "ollama.local.v1" };

const { user, system, assistant, result, calling } = says;

describe("A user message after the results of tools", () => {
  it("reaches Mistral after an assistant message, in every dialect", async () => {
    for (const dialect of Object.keys(agentBodies)) {
      const request: AgentRequest = { tools: ["read"], calls: [{ id: "abcDEF123", name: "read" }], text: "And now b?" };
      const sent = await sentTo(mistral, [mistralOrder], { dialect, body: agentBodies[dialect]!(request) });
      assertEquals(readSent(mistral, sent).roles, ["user", "assistant", "tool", "assistant", "user"], dialect);
      assertEquals(sent.json().messages.at(-1), user("And now b?"));
    }
  });

  it("follows them directly elsewhere", async () => {
    const asked = chatOf(user(), calling("abcDEF123"), result("abcDEF123"), user("And?"));
    for (const vendor of [openai, ollama]) {
      assertEquals(readSent(vendor, await sentTo(vendor, [], asked)).roles, ["user", "assistant", "tool", "user"]);
    }
  });
});

it("Instructions reach Mistral at the start, since it accepts none after a response", async () => {
  const asked = chatOf(system("A"), user(), assistant("Hello"), system("B"), user("And?"));
  const { messages } = (await sentTo(mistral, [mistralOrder], asked)).json();
  assertEquals(messages, [system("A\n\nB"), user(), assistant("Hello"), user("And?")]);
});

describe("An assistant message", () => {
  const thinking = { type: "thinking", thinking: "Hm", signature: "s" };
  const silent: readonly HistoryRequest[] = [
    chatOf(user(), assistant(""), user("And?")),
    {
      dialect: "messages",
      body: { max_tokens: 9, messages: [user(), { role: "assistant", content: [thinking] }, user()] },
    },
    {
      dialect: "gemini",
      body: {
        contents: [
          { role: "user", parts: [{ text: "Hi" }] },
          { role: "model", parts: [{ text: "Hm", thought: true }] },
          { role: "user", parts: [{ text: "And?" }] },
        ],
      },
    },
  ];

  it("without content or calls has text at Mistral, which requires either", async () => {
    for (const asked of silent) {
      const { messages } = (await sentTo(mistral, [mistralOrder], asked)).json();
      assertEquals(messages[1], assistant("..."), asked.dialect);
    }
  });

  it("that is the last one is the beginning of the response at Mistral, which accepts no other", async () => {
    const asked = chatOf(user(), assistant("Hello"), user("JSON?"), assistant("{"));
    const { messages } = (await sentTo(mistral, [mistralOrder], asked)).json();
    assertEquals(messages.slice(1), [assistant("Hello"), user("JSON?"), { ...assistant("{"), prefix: true }]);
    const native = { ...assistant("{"), prefix: false };
    assertEquals((await sentTo(mistral, [], chatOf(user(), native))).json().messages[1], native);
  });

  it("stays as it is elsewhere", async () => {
    const asked = chatOf(user(), assistant(""), user("JSON?"), assistant("{"));
    assertEquals((await sentTo(openai, [], asked)).json().messages[3], assistant("{"));
  });
});

describe("A conversation that opens with a call", () => {
  const input = { path: "a" };
  const requests: readonly HistoryRequest[] = [
    chatOf(system("A"), calling("c1"), result("c1"), user("And?")),
    chatOf(assistant("Reading"), calling("c1"), result("c1")),
    {
      dialect: "messages",
      body: {
        messages: [
          assistant([{ type: "tool_use", id: "c1", name: "read", input }]),
          user([{ type: "tool_result", tool_use_id: "c1", content: "x" }]),
        ],
      },
    },
    {
      dialect: "responses",
      body: {
        input: [
          { type: "function_call", call_id: "c1", name: "read", arguments: "{}" },
          { type: "function_call_output", call_id: "c1", output: "x" },
        ],
      },
    },
  ];
  it("opens with a user's turn at Gemini", async () => {
    for (const asked of requests) {
      const { contents } = (await sentTo(gemini, [callAfterUser], asked)).json();
      assertEquals(contents[0].role, "user");
      assert(contents[1].parts.some((part: Json) => part.functionCall));
    }
  });

  for (const vendor of [claude, strictBedrock]) {
    it(`opens with a user's turn at ${vendor.connector}`, async () => {
      for (const asked of requests) {
        if (asked.dialect !== vendor.native) await sentTo(vendor, [userFirst], asked);
      }
    });
  }
});

describe("Text of white space alone", () => {
  const rules = [userFirst, nonBlankText];
  const part = (text: string) => ({ type: "text", text });
  const rows: readonly (readonly Json[])[] = [
    [user([part(" \n"), part("Hi")])],
    [user(""), user("Hi")],
    [system(" "), user("Hi")],
    [user("Hi"), assistant("\n\n"), user("On")],
    [user("Hi"), { ...calling("c1"), content: "\n" }, { ...result("c1"), content: " " }],
    [user(" ")],
    [user("Hi"), assistant("Hello"), user("\t")],
    [assistant("Hello. "), user("Hi")],
  ];
  it("never reaches Claude at Bedrock", async () => {
    for (const messages of rows) await sentTo(strictBedrock, rules, chatOf(...messages));
  });

  it("never reaches Claude", async () => {
    for (const messages of rows) await sentTo(claude, rules, chatOf(...messages));
    const body = { input: [{ role: "user", content: "Hi" }, { role: "assistant", content: " " }, user("On")] };
    await sentTo(claude, rules, { dialect: "responses", body });
    const contents = [{ role: "user", parts: [{ text: " " }, { text: "Hi" }] }];
    await sentTo(claude, rules, { dialect: "gemini", body: { contents } });
  });

  it("does not end a last turn of the assistant", async () => {
    const { messages } = (await sentTo(claude, rules, chatOf(user("Hi"), assistant("Once upon \n")))).json();
    assertEquals(messages.at(-1), { role: "assistant", content: [{ type: "text", text: "Once upon" }] });
  });

  it("stays within a turn, and in earlier ones", async () => {
    const { messages } = (await sentTo(claude, rules, chatOf(user("Hi "), assistant("Once "), user(" on ")))).json();
    assertEquals(messages.map(({ content }: Json) => (content as Json[])[0]!.text), ["Hi ", "Once ", " on "]);
  });
});

describe("Stop sequences of white space alone", () => {
  for (const vendor of [claude, strictBedrock]) {
    it(`are removed and named at ${vendor.connector}`, async () => {
      await using upstream = await startUpstream(following(vendor, nonBlankStops));
      await using proxy = await startTestProxy({ upstreams: {}, config: createConfig(vendor, upstream.url) });
      for (const stop of ["\n\n", ["\n", "END"], [" "]]) {
        for (const stream of [false, true]) {
          const response = await proxy.chat({ stop, stream });
          assertEquals(response.status, 200, await response.text());
          assertEquals(response.headers.get("x-mesh-dropped-params"), "stop");
        }
      }
      const { stop_sequences, inferenceConfig } = upstream.requests[2]!.json();
      assertEquals(stop_sequences ?? inferenceConfig.stopSequences, ["END"]);
    });
  }

  it("are sent where they are accepted", async () => {
    const sent = await sentTo(openai, [], { dialect: "chat", body: { stop: ["\n"], tools: undefined } });
    assertEquals(sent.json().stop, ["\n"]);
  });
});

describe("A native request to Claude, with a history of other models", () => {
  const strict: Rule = (body, vendor, request) => {
    const { calls, results } = readSent(vendor, request);
    const all = [...calls.map(({ id }) => id!), ...results];
    return all.every((id) => vendor.ids!.test(id))
      ? nonBlankText({ messages: body.messages.filter(({ content }: Json) => Array.isArray(content)) }, vendor, request)
      : "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'";
  };
  const use = (id: string) => ({ type: "tool_use", id, name: "fs.read", input: { id: "a:b" } });
  const of = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "x" });
  const ids = ["functions.read:0", "functions_read:0", "toolu_1"];

  it("has ids that it accepts, and no text of white space alone", async () => {
    const messages = [
      user(),
      assistant([{ type: "text", text: "\n\n" }, ...ids.map(use)]),
      user(ids.map(of)),
      assistant([{ type: "text", text: " " }]),
      user("On"),
    ];
    const sent = await sentTo(claude, [strict], { dialect: "messages", body: { messages, tools: undefined } });
    const { calls, results } = readSent(claude, sent);
    assertEquals([new Set(results).size, calls.map(({ id }) => id)], [3, results]);
    assertEquals([results[2], calls[0]!.input], ["toolu_1", { id: "a:b" }]);
    assertEquals(sent.json().messages.length, 4);
  });

  it("stays byte for byte where nothing is wrong", async () => {
    await using upstream = await startUpstream(
      json({ content: [], id: "m", type: "message", stop_reason: "end_turn" }),
    );
    await using proxy = await startTestProxy({ upstreams: {}, config: createConfig(claude, upstream.url) });
    const body = `{"model":"chat","max_tokens":9,"messages":[{"role":"user",  "content":[{"text":" ","type":"text"},` +
      `{"type":"text","text":"\\u0048i"}]}],"metadata":{"id":"a:b"}}`;
    const headers = { "content-type": "application/json" };
    await (await fetch(`${proxy.url}/v1/messages`, { method: "POST", headers, body })).text();
    assertEquals(upstream.requests[0]!.body, body.replace('"chat"', `"${claude.model}"`));
  });
});
