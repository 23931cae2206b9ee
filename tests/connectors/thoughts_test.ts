/** Thoughts of vendors that speak OpenAI's dialect, and of families that several clouds serve. */
import { assertEquals } from "@std/assert";
import { create } from "../../mod.ts";
import type { ChatMessage } from "../../src/contracts/openai.ts";
import { completeResponse, json, startUpstream, stream as openAiStream } from "../support/upstream.ts";
import { gather } from "./_anthropic.ts";
import { ask, stream } from "./_clouds.ts";

const head = { id: "c1", object: "chat.completion", created: 1, model: "m" };

function answer(message: object) {
  return { ...head, choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }] };
}

function events(...deltas: readonly object[]) {
  const lines = deltas.map((delta, index) => {
    const finish_reason = index === deltas.length - 1 ? "stop" : null;
    const choices = [{ index: 0, delta, finish_reason }];
    return `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices })}\n\n`;
  });
  return completeResponse(200, `${lines.join("")}data: [DONE]\n\n`, "text/event-stream");
}

const call = { connector: "cerebras.api.v1", model: "gpt-oss-120b", path: "/v1" };

Deno.test("thoughts have one name in answers, whatever the vendor calls them", async () => {
  const { body } = await ask({ ...call, script: json(answer({ content: "Yes", reasoning: "Hm" })) });
  assertEquals(body.choices[0]!.message, { role: "assistant", content: "Yes", reasoning_content: "Hm" } as never);
  const both = answer({ content: "Yes", reasoning: "Hm", reasoning_content: "Hm" });
  assertEquals((await ask({ ...call, script: json(both) })).body.choices[0]!.message.reasoning, "Hm");
  const other = answer({ content: "Yes", reasoning: { effort: "low" } });
  assertEquals((await ask({ ...call, script: json(other) })).body.choices[0]!.message.reasoning, { effort: "low" });
});

Deno.test("thoughts have one name in streams, and in non-streaming responses in place of streams", async () => {
  const script = events({ role: "assistant", reasoning: "H" }, { reasoning: "m" }, { content: "Yes" }, {});
  const { chunks } = await stream({ ...call, script });
  assertEquals([gather(chunks).reasoning_content, gather(chunks).content], ["Hm", "Yes"]);
  assertEquals(JSON.stringify(chunks).includes('"reasoning"'), false);
  const instead = await stream({ ...call, script: json(answer({ content: "Yes", reasoning: "Hm" })) });
  assertEquals(gather(instead.chunks).reasoning_content, "Hm");
});

Deno.test("a stream without thoughts is passed on as it came", async () => {
  const { chunks } = await stream({ ...call, script: openAiStream({ pieces: ["a", "b"] }) });
  assertEquals(gather(chunks).content, "ab");
});

Deno.test("content in parts becomes text and thoughts, in non-streaming responses and in streams", async () => {
  const mistral = { ...call, connector: "mistral.api.v1", model: "mistral-small-2603" };
  const thinking = (text: string) => ({ type: "thinking", thinking: [{ type: "text", text }] });
  const whole = answer({ content: [thinking("Hm"), { type: "text", text: "Yes" }, null, { type: "new" }] });
  const { body } = await ask({ ...mistral, script: json(whole) });
  assertEquals(body.choices[0]!.message, { role: "assistant", content: "Yes", reasoning_content: "Hm" } as never);
  const script = events(
    { role: "assistant", content: "" },
    { content: [thinking("H")] },
    { content: [thinking("m")] },
    {
      content: "Yes",
    },
    {},
  );
  const { chunks } = await stream({ ...mistral, script });
  assertEquals([gather(chunks).reasoning_content, gather(chunks).content], ["Hm", "Yes"]);
});

Deno.test("thoughts go back to each vendor in its way, and signed ones to all who serve the model", async () => {
  await using upstream = await startUpstream((request) =>
    json(
      request.path.includes("/converse")
        ? { output: { message: { content: [{ text: "Hi" }] } }, stopReason: "end_turn" }
        : answer({ content: "Hi" }),
    )
  );
  const entry = { base_url: upstream.url, api_key: "sk-0123456789abcdef" };
  await using client = create("chat-completion", {
    config: {
      providers: {
        "groq.api.v1": entry,
        "mistral.api.v1": entry,
        "deepseek.api.v1": entry,
        "aws.bedrock.v1": { ...entry, config: { region: "eu-central-1" } },
      },
    },
  });
  const thinking_blocks = [{ type: "thinking", thinking: "Hm", signature: "sig" }];
  const messages: ChatMessage[] = [
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: "I look",
      reasoning_content: "Hm",
      tool_calls: [{
        id: "callOf001",
        type: "function",
        function: { name: "f", arguments: "{}" },
        extra_content: { anthropic: { thinking_blocks } },
      }],
    },
    { role: "tool", tool_call_id: "callOf001", content: "1" },
  ];
  const sent = async (model: string) => {
    await client.chat.completions.create({ model, messages });
    return upstream.requests.at(-1)!.json().messages[1];
  };
  const { reasoning_content: _, tool_calls, ...said } = messages[1]!;
  const plain = { ...said, tool_calls: [{ id: "callOf001", type: "function", function: tool_calls![0]!.function }] };
  assertEquals(await sent("groq/openai/gpt-oss-120b"), { ...plain, reasoning: "Hm" });
  assertEquals(await sent("mistral/mistral-small-2603"), plain);
  assertEquals(await sent("deepseek/deepseek-v4-flash"), { ...plain, reasoning_content: "Hm" });
  const { content } = await sent("bedrock/global.anthropic.claude-haiku-4-5-20251001-v1:0");
  assertEquals(content[0], { reasoningContent: { reasoningText: { text: "Hm", signature: "sig" } } });
});

Deno.test("an effort goes in each vendor's format, and to no model that does not reason", async () => {
  await using upstream = await startUpstream(json(answer({ content: "Hi" })));
  const entry = { base_url: upstream.url, api_key: "sk-0123456789abcdef" };
  const vendors = ["openai.llm.v1", "groq.api.v1", "mistral.api.v1", "deepseek.api.v1"];
  await using client = create("chat-completion", {
    config: { providers: Object.fromEntries(vendors.map((id) => [id, entry])) },
  });
  const sent = async (model: string, reasoning_effort: "none" | "minimal" | "low" | "medium" | "high") => {
    await client.chat.completions.create({ model, reasoning_effort, messages: [{ role: "user", content: "Hi" }] });
    const { reasoning_effort: effort, thinking } = upstream.requests.at(-1)!.json();
    return { ...(effort === undefined ? {} : { effort }), ...(thinking === undefined ? {} : { thinking }) };
  };
  assertEquals(await sent("deepseek/deepseek-v4-flash", "none"), { thinking: { type: "disabled" } });
  assertEquals(await sent("deepseek/deepseek-v4-flash", "minimal"), { effort: "low" });
  assertEquals(await sent("deepseek/deepseek-v4-flash", "high"), { effort: "high" });
  assertEquals(await sent("mistral/mistral-small-2603", "low"), { effort: "high" });
  assertEquals(await sent("mistral/mistral-small-2603", "none"), { effort: "none" });
  assertEquals(await sent("mistral/codestral-latest", "high"), {});
  assertEquals(await sent("groq/openai/gpt-oss-120b", "medium"), { effort: "medium" });
  assertEquals(await sent("openai/gpt-4o", "low"), {});
  assertEquals(await sent("openai/o3", "low"), { effort: "low" });
});
