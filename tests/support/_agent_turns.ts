/**
 * The request of an agent that continues after tool calls, in each dialect of clients.
 */
import type { Json } from "./_dialects.ts";

/** A tool call of an earlier turn. */
export interface AgentCall {
  readonly id: string;
  readonly name: string;
}

/** A request. */
export interface AgentRequest {
  /** Names of the tools. */
  readonly tools: readonly string[];
  /** Earlier calls, each with a result; all in one turn. */
  readonly calls?: readonly AgentCall[];
  /** Text of the user after the results. */
  readonly text?: string;
  /** The tool that must be called. */
  readonly choice?: string;
}

const schema = { type: "object", properties: { path: { type: "string" } } };
const input = { path: "a" };
const question = "Read a";

/** The body of a request, by dialect of the client; without `model` and `stream`. */
export const agentBodies: Readonly<Record<string, (request: AgentRequest) => Json>> = {
  chat: ({ tools, calls = [], text, choice }) => ({
    messages: [
      { role: "user", content: question },
      ...calls.length === 0 ? [] : [{
        role: "assistant",
        content: null,
        tool_calls: calls.map(({ id, name }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(input) },
        })),
      }],
      ...calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: `of ${id}` })),
      ...text === undefined ? [] : [{ role: "user", content: text }],
    ],
    tools: tools.map((name) => ({ type: "function", function: { name, parameters: schema } })),
    ...choice === undefined ? {} : { tool_choice: { type: "function", function: { name: choice } } },
  }),
  messages: ({ tools, calls = [], text, choice }) => ({
    max_tokens: 100,
    messages: [
      { role: "user", content: question },
      ...calls.length === 0 ? [] : [
        { role: "assistant", content: calls.map(({ id, name }) => ({ type: "tool_use", id, name, input })) },
        {
          role: "user",
          content: [
            ...calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: `of ${id}` })),
            ...text === undefined ? [] : [{ type: "text", text }],
          ],
        },
      ],
    ],
    tools: tools.map((name) => ({ name, input_schema: schema })),
    ...choice === undefined ? {} : { tool_choice: { type: "tool", name: choice } },
  }),
  responses: ({ tools, calls = [], text, choice }) => ({
    input: [
      { role: "user", content: question },
      ...calls.map(({ id, name }) => ({
        type: "function_call",
        call_id: id,
        name,
        arguments: JSON.stringify(input),
      })),
      ...calls.map(({ id }) => ({ type: "function_call_output", call_id: id, output: `of ${id}` })),
      ...text === undefined ? [] : [{ role: "user", content: text }],
    ],
    tools: tools.map((name) => ({ type: "function", name, parameters: schema })),
    ...choice === undefined ? {} : { tool_choice: { type: "function", name: choice } },
  }),
  gemini: ({ tools, calls = [], text, choice }) => ({
    contents: [
      { role: "user", parts: [{ text: question }] },
      ...calls.length === 0 ? [] : [
        { role: "model", parts: calls.map(({ id, name }) => ({ functionCall: { id, name, args: input } })) },
        {
          role: "user",
          parts: calls.map(({ id, name }) => ({ functionResponse: { id, name, response: { of: id } } })),
        },
      ],
      ...text === undefined ? [] : [{ role: "user", parts: [{ text }] }],
    ],
    tools: [{ functionDeclarations: tools.map((name) => ({ name, parametersJsonSchema: schema })) }],
    ...choice === undefined
      ? {}
      : { toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [choice] } } },
  }),
};
