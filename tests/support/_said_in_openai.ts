/**
 * Requests and responses of OpenAI's dialects: chat and Responses.
 * @module
 */
import type { Json } from "./_dialects.ts";
import { type Any, type ClientDialect, finishes, parsed, splitDataUrl, type Turn } from "./_said.ts";

/** Chat. */
export const chat: ClientDialect = {
  path: () => "/v1/chat/completions",
  ask: (turns, system) => ({
    model: "chat",
    messages: [...(system ? [{ role: "system", content: system }] : []), ...turns.flatMap(chatTurn)],
  }),
  read({ choices, usage }: Any) {
    const [{ message, finish_reason: finish }] = choices;
    const { content, reasoning_content, tool_calls = [], images = [], annotations = [] } = message;
    return {
      text: content ?? "",
      thoughts: reasoning_content ?? "",
      calls: tool_calls.map(({ id, function: fn }: Any) => ({ id, name: fn.name, input: parsed(fn.arguments) })),
      images: images.map(({ image_url: { url } }: Any) => url),
      citations: annotations.map(({ url_citation: { start_index, end_index, url, title } }: Any) => ({
        url,
        title,
        text: content.slice(start_index, end_index),
      })),
      finish,
      tokens: [usage.prompt_tokens, usage.prompt_tokens_details?.cached_tokens ?? 0, usage.completion_tokens],
    };
  },
  gather(events) {
    const message: Any = { role: "assistant", content: null };
    const calls: Any[] = [];
    let [finish, usage]: unknown[] = [null, null];
    for (const chunk of events as Any[]) {
      usage = chunk.usage ?? usage;
      for (const { delta, finish_reason } of chunk.choices) {
        finish = finish_reason ?? finish;
        for (const name of ["content", "reasoning_content"]) {
          if (delta[name]) message[name] = (message[name] ?? "") + delta[name];
        }
        for (const name of ["reasoning_details", "images", "annotations"]) {
          if (delta[name]) message[name] = [...message[name] ?? [], ...delta[name]];
        }
        for (const { index, ...call } of delta.tool_calls ?? []) {
          if (calls[index] === undefined) calls[index] = structuredClone(call);
          else calls[index].function.arguments += call.function.arguments;
        }
      }
    }
    if (calls.length > 0) message.tool_calls = calls;
    return { choices: [{ message, finish_reason: finish }], usage };
  },
  keep: ({ choices }: Any) => [choices[0].message],
};

function chatTurn(turn: Turn): Json[] {
  if ("kept" in turn) return [...turn.kept];
  if ("results" in turn) {
    return turn.results.map(({ call: { id }, text }) => ({ role: "tool", tool_call_id: id, content: text }));
  }
  if ("user" in turn) {
    const content = turn.user.map((part) =>
      typeof part === "string" ? { type: "text", text: part } : { type: "image_url", image_url: { url: part.image } }
    );
    return [{ role: "user", content }];
  }
  const { text = "", thoughts = "", calls = [], images = [] } = turn.model;
  const tool_calls = calls.map(({ id, name, input }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  return [{
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(calls.length === 0 ? {} : { tool_calls }),
    ...(images.length === 0 ? {} : { images: images.map((url) => ({ type: "image_url", image_url: { url } })) }),
  }];
}

/** Responses. */
export const responses: ClientDialect = {
  path: () => "/v1/responses",
  ask: (turns, system) => ({
    ...{ model: "chat", input: turns.flatMap(responsesTurn) },
    ...(system ? { instructions: system } : {}),
  }),
  read({ output, status, incomplete_details: why, usage }: Any) {
    const of = (kind: string) => output.filter(({ type }: Any) => type === kind);
    const parts = of("message").flatMap(({ content }: Any) => content);
    const finish = why?.reason ?? (of("function_call").length > 0 ? "tool_calls" : status);
    return {
      text: parts.map(({ text = "" }: Any) => text).join(""),
      thoughts: of("reasoning").flatMap(({ summary }: Any) => summary).map(({ text }: Any) => text).join(""),
      calls: of("function_call").map(({ call_id: id, name, arguments: text }: Any) => ({
        ...{ id, name, input: parsed(text) },
      })),
      images: of("image_generation_call").map(({ result, output_format }: Any) =>
        `data:image/${output_format};base64,${result}`
      ),
      citations: parts.flatMap(({ text, annotations = [] }: Any) =>
        annotations.map(({ url, title, start_index, end_index }: Any) => ({
          ...{ url, title, text: text.slice(start_index, end_index) },
        }))
      ),
      finish: finishes({ completed: "stop", max_output_tokens: "length" }, finish),
      tokens: [usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens],
    };
  },
  /** The last event has all of it; what came before has to say the same. */
  gather(events) {
    const last = (events as Any[]).findLast(({ type }) => /^response\.(completed|incomplete|failed)$/.test(type));
    const done = (events as Any[]).filter(({ type }) => type === "response.output_item.done");
    const annotations = (events as Any[]).filter(({ type }) => type === "response.output_text.annotation.added");
    const inItems = last.response.output.flatMap(({ content = [] }: Any) =>
      content.flatMap(({ annotations = [] }: Any) => annotations)
    );
    if (done.length !== last.response.output.length || annotations.length !== inItems.length) {
      throw new Error("The last event does not have what the others have");
    }
    return last.response;
  },
  keep: ({ output }: Any) => output,
};

function responsesTurn(turn: Turn): Json[] {
  if ("kept" in turn) return [...turn.kept];
  if ("results" in turn) {
    return turn.results.map(({ call: { id }, text }) => ({ type: "function_call_output", call_id: id, output: text }));
  }
  if ("user" in turn) {
    const content = turn.user.map((part) =>
      typeof part === "string" ? { type: "input_text", text: part } : { type: "input_image", image_url: part.image }
    );
    return [{ role: "user", content }];
  }
  const { text = "", thoughts = "", calls = [], images = [] } = turn.model;
  return [
    ...(thoughts === "" ? [] : [{ type: "reasoning", summary: [{ type: "summary_text", text: thoughts }] }]),
    ...(text === "" ? [] : [{ type: "message", role: "assistant", content: [{ type: "output_text", text }] }]),
    ...images.map((url, index) => ({
      ...{ type: "image_generation_call", id: `ig_${index}`, status: "completed" },
      ...{ result: splitDataUrl(url)[1], output_format: splitDataUrl(url)[0].replace("image/", "") },
    })),
    ...calls.map(({ id, name, input }) => ({
      ...{ type: "function_call", call_id: id, name, arguments: JSON.stringify(input) },
    })),
  ];
}
