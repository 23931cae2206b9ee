/**
 * `reasoning_details`, the reasoning state of a gateway to many vendors: whatever the dialect of the client, the gateway
 * gets back what it sent, and no other vendor does.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { dataIn, saidIn } from "../../support/_dialect_responses.ts";
import { type Dialect, type Json, speaking } from "../../support/_dialects.ts";
import { startDialectProxy } from "../../support/_dialect_proxy.ts";
import { type Behaviour, json, startUpstream, status } from "../../support/upstream.ts";

const call = { id: "call_1", name: "get_weather", input: { city: "Zürich" } };
const details = [
  { type: "reasoning.text", text: "Hm, let me see", format: "anthropic-claude-v1", index: 0, signature: "c2VhbA==" },
  { type: "reasoning.encrypted", data: "c2VjcmV0", id: "rs_1", format: "openai-responses-v1", index: 1 },
];
const toolCall = { id: call.id, type: "function", function: { name: call.name, arguments: '{"city":"Zürich"}' } };
const head = { id: "gen-1", created: 1, model: "acme/thinker" };
const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };

function whole(message: Json): Behaviour {
  const choice = { index: 0, finish_reason: message.tool_calls ? "tool_calls" : "stop", logprobs: null };
  return json({ ...head, object: "chat.completion", choices: [{ ...choice, message }], usage });
}

/** Text in fragments, its signature after it, and the encrypted part as late as a vendor may send it. */
function streamed({ content, tool_calls }: Json): Behaviour {
  const [text, sealed] = details as Json[] as [Json, Json];
  const { text: _, signature, ...named } = text;
  const deltas: Json[] = [
    { role: "assistant", content: "" },
    ...["Hm, ", "let me see"].map((part) => ({ reasoning: part, reasoning_details: [{ ...named, text: part }] })),
    { reasoning_details: [{ ...named, signature }] },
    ...(content === null ? [] : [{ content }]),
    { reasoning_details: [sealed] },
    ...(tool_calls === undefined ? [] : [{ tool_calls: [{ index: 0, ...(tool_calls as Json[])[0] }] }]),
  ];
  const chunk = (delta: Json, finish_reason: string | null = null) => ({
    ...{ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] },
  });
  const end = { ...chunk({}, tool_calls === undefined ? "stop" : "tool_calls"), usage };
  const datas = [...deltas.map((delta) => chunk(delta)), end].map((data) => JSON.stringify(data)).concat("[DONE]");
  return status(200, {
    text: datas.map((data) => `data: ${data}\n\n`).join(""),
    headers: { "content-type": "text/event-stream" },
  });
}

async function ask(url: string, dialect: string, body: Json, stream: boolean): Promise<Json> {
  const response = await fetch(url + saidIn[dialect]!.path(stream), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...body,
      ...(dialect === "gemini" ? {} : { stream }),
      ...(dialect === "chat" && stream ? { stream_options: { include_usage: true } } : {}),
    }),
  });
  const text = await response.text();
  assertEquals(response.status, 200, text);
  return stream ? saidIn[dialect]!.gather(dataIn(text)) : JSON.parse(text);
}

const hello = { user: ["Weather?"] };
const messages = {
  "a call": { role: "assistant", content: null, reasoning: "Hm, let me see", tool_calls: [toolCall] },
  "text and a call": { role: "assistant", content: "I look", reasoning: "Hm, let me see", tool_calls: [toolCall] },
  "text": { role: "assistant", content: "Rain", reasoning: "Hm, let me see" },
};

/** What the client of a dialect sends after a response with details; `to` is asked then. */
async function nextRequest(dialect: string, message: Json, { stream, to }: { stream: boolean; to: Dialect }) {
  await using gateway = await startUpstream(
    stream ? streamed(message) : whole({ ...message, reasoning_details: details }),
  );
  await using next = await startUpstream(speaking[to].respond());
  await using first = await startDialectProxy({ gateway: { dialect: "openai", url: gateway.url } });
  await using second = await startDialectProxy({ next: { dialect: to, url: next.url } });
  const { ask: toRequest, keep, read } = saidIn[dialect]!;
  const answer = await ask(first.url, dialect, toRequest([hello]), stream);
  const said = read(answer);
  assertEquals([said.text, said.thoughts, said.calls], [
    message.content ?? "",
    "Hm, let me see",
    message.tool_calls === undefined ? [] : [call],
  ]);
  const after = message.tool_calls === undefined ? hello : { results: [{ call, text: "Rain" }] };
  await ask(second.url, dialect, toRequest([hello, { kept: keep(answer) }, after]), stream);
  return { ...next.requests[0]!, dialect };
}

/** Chat's clients put fragments together by themselves, or send them as they came. */
function joined(list: Json[]): Json[] {
  const [first, ...others] = list as { text?: string; index: number }[];
  return others.reduce<Json[]>((all, next) => {
    const last = all.at(-1)!;
    if (next.index !== last.index) return [...all, next];
    return [...all.slice(0, -1), { ...last, ...next, text: `${last.text}${next.text ?? ""}` }];
  }, [first!]);
}

describe("reasoning_details", () => {
  for (const dialect of Object.keys(saidIn)) {
    for (const [what, message] of Object.entries(messages)) {
      for (const stream of [false, true]) {
        it(`of ${what} go back to the gateway by ${dialect}, ${stream ? "streamed" : "whole"}`, async () => {
          const { json: sent, body } = await nextRequest(dialect, message, { stream, to: "openai" });
          const assistant = sent().messages.find(({ role }: Json) => role === "assistant");
          assertEquals(joined(assistant.reasoning_details), details, body);
          assertEquals(assistant.content, message.content);
          assertEquals(assistant.tool_calls, "tool_calls" in message ? [toolCall] : undefined);
        });
      }
    }

    for (const to of ["anthropic", "gemini"] as const) {
      it(`by ${dialect} do not go to ${to}`, async () => {
        const { body } = await nextRequest(dialect, messages["text and a call"], { stream: true, to });
        for (const word of ["reasoning_details", "c2VhbA", "c2VjcmV0", "mesh:", "eyJtZXNoIjp7"]) {
          assert(!body.includes(word), body);
        }
        assert(body.includes("I look"), body);
      });
    }
  }
});
