/**
 * A vendor whose reasoning model supports tools in the Responses API alone, as OpenAI's current models: chat with tools and
 * reasoning is refused.
 * @module
 */
import { respondWithResponse, type ResponseReply } from "./_responses_behaviours.ts";
import { type Behaviour, json, type ReceivedRequest, respond, status } from "./upstream.ts";

/** An encrypted item of reasoning. */
export function sealed(id: string): object {
  return { id, type: "reasoning", summary: [], encrypted_content: `sealed-${id}` };
}

/** A message of the model. */
export function message(text: string, more: object = {}): object {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { id: `msg_${text.length}`, type: "message", role: "assistant", status: "completed", content, ...more };
}

/** A call of the function `look`. */
export function call(id: string, value: object = { at: "sky" }): object {
  return { id: `fc_${id}`, type: "function_call", call_id: id, name: "look", arguments: JSON.stringify(value) };
}

/** Whether a conversation has results of tools. */
function hasResults({ input = [] }: { input?: readonly { readonly type?: string }[] }): boolean {
  return input.some(({ type }) => type === "function_call_output");
}

/** The first turn: it thinks, writes, thinks again, and calls two functions. */
export const firstTurn: ResponseReply = {
  items: [sealed("rs_1"), message("Let me look. "), sealed("rs_2"), call("call_a"), sealed("rs_3"), call("call_b")],
};

/** Calls tools once, and then responds with text. */
export function reasoner(first: ResponseReply = firstTurn): (request: ReceivedRequest) => Behaviour {
  return (request) => {
    const body = request.json();
    if (request.path.endsWith("/chat/completions")) {
      const isRefused = body.tools?.length > 0 && body.reasoning_effort !== "none";
      return isRefused ? status(400, { json: { error: refusal } }) : respond({ text: "by chat" });
    }
    if (!request.path.endsWith("/responses")) return json({ data: [] });
    return respondWithResponse(hasResults(body) ? { text: "It is blue" } : first);
  };
}

const refusal = {
  message: "Function tools with reasoning_effort are not supported. Use /v1/responses.",
  type: "invalid_request_error",
  param: "reasoning_effort",
  code: null,
};

const parameters = { type: "object", properties: { at: { type: "string" } } };

/** The function `look`, as clients of each dialect declare it. */
export const toolsIn: Readonly<Record<string, readonly object[]>> = {
  chat: [{ type: "function", function: { name: "look", description: "Looks", parameters } }],
  messages: [{ name: "look", description: "Looks", input_schema: parameters }],
  responses: [{ type: "function", name: "look", description: "Looks", parameters }],
  gemini: [{ functionDeclarations: [{ name: "look", description: "Looks", parameters }] }],
};
