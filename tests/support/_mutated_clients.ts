/**
 * A conversation with tools, pictures and a schema, in the format of each endpoint for chat.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";

const parameters = { type: "object", properties: { city: { type: "string", enum: ["Zürich"] } }, required: ["city"] };
const picture = "data:image/png;base64,iVBORw0KGgo=";

/** Requests by endpoint, to a model, streaming or not. */
export const chatRequests: Readonly<
  Record<string, (model: string, isStream: boolean) => { readonly path: string; readonly body: JsonObject }>
> = {
  "chat": (model, stream) => ({
    path: "/v1/chat/completions",
    body: {
      ...{ model, stream, max_tokens: 99, temperature: 0.5, stop: ["END"], seed: 7, user: "u", n: 1 },
      stream_options: stream ? { include_usage: true } : null,
      tools: [{ type: "function", function: { name: "weather", description: "d", parameters, strict: true } }],
      tool_choice: { type: "function", function: { name: "weather" } },
      response_format: { type: "json_schema", json_schema: { name: "s", schema: parameters, strict: true } },
      reasoning_effort: "low",
      messages: [
        { role: "system", content: "Be brief" },
        { role: "user", content: [{ type: "text", text: "Hi" }, { type: "image_url", image_url: { url: picture } }] },
        {
          role: "assistant",
          content: null,
          tool_calls: [{
            id: "c1",
            type: "function",
            function: { name: "weather", arguments: '{"city":"Zürich"}' },
            extra_content: { google: { thought_signature: "c2ln" } },
          }],
        },
        { role: "tool", tool_call_id: "c1", content: '{"degrees":21}' },
      ],
      mesh: { tags: ["t"], session: "s", order: [model], deadline: "20s" },
    },
  }),
  "messages": (model, stream) => ({
    path: "/v1/messages",
    body: {
      ...{ model, stream, max_tokens: 2000, temperature: 0.5, stop_sequences: ["END"], metadata: { user_id: "u" } },
      system: [{ type: "text", text: "Be brief", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "weather", description: "d", input_schema: parameters }],
      tool_choice: { type: "tool", name: "weather" },
      thinking: { type: "enabled", budget_tokens: 1024 },
      messages: [
        {
          role: "user",
          content: [{ type: "text", text: "Hi" }, {
            type: "image",
            source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
          }],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "c2ln" },
            { type: "tool_use", id: "c1", name: "weather", input: { city: "Zürich" } },
          ],
        },
        {
          role: "user",
          content: [{
            type: "tool_result",
            tool_use_id: "c1",
            content: [{ type: "text", text: "21" }],
            is_error: false,
          }],
        },
      ],
    },
  }),
  "responses": (model, stream) => ({
    path: "/v1/responses",
    body: {
      ...{ model, stream, max_output_tokens: 99, temperature: 0.5, instructions: "Be brief", store: false },
      tools: [{ type: "function", name: "weather", description: "d", parameters, strict: true }],
      tool_choice: { type: "function", name: "weather" },
      text: { format: { type: "json_schema", name: "s", schema: parameters, strict: true } },
      reasoning: { effort: "low", summary: "auto" },
      input: [
        {
          role: "user",
          content: [{ type: "input_text", text: "Hi" }, { type: "input_image", image_url: picture, detail: "auto" }],
        },
        { type: "function_call", call_id: "c1", name: "weather", arguments: '{"city":"Zürich"}' },
        { type: "function_call_output", call_id: "c1", output: "21" },
      ],
    },
  }),
  "generateContent": (model, isStream) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:${
      isStream ? "streamGenerateContent?alt=sse" : "generateContent"
    }`,
    body: {
      systemInstruction: { parts: [{ text: "Be brief" }] },
      contents: [
        { role: "user", parts: [{ text: "Hi" }, { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }] },
        {
          role: "model",
          parts: [{ functionCall: { name: "weather", args: { city: "Zürich" } }, thoughtSignature: "c2ln" }],
        },
        { role: "user", parts: [{ functionResponse: { name: "weather", response: { degrees: 21 } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: "weather", description: "d", parameters }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["weather"] } },
      generationConfig: {
        ...{ maxOutputTokens: 99, temperature: 0.5, stopSequences: ["END"], candidateCount: 1 },
        thinkingConfig: { thinkingBudget: 128, includeThoughts: true },
      },
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    },
  }),
  "completions": (model, stream) => ({
    path: "/v1/completions",
    body: { model, stream, prompt: "Once", max_tokens: 9, temperature: 0.5, stop: "END", user: "u" },
  }),
  "completions of two prompts": (model, stream) => ({
    path: "/v1/completions",
    body: {
      model,
      stream,
      prompt: ["Once", "Twice"],
      max_tokens: 9,
      stream_options: stream ? { include_usage: true } : null,
    },
  }),
};
