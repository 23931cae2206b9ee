/**
 * Requests of several dialects that chat cannot express, with the path that an error names.
 * @module
 */

/** A request that only a native model can take. */
export interface NativeOnlyRequest {
  /** What it has. */
  readonly name: string;
  /** Its members, in addition to a minimal request. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The path that the error of other models names. */
  readonly param: string;
}

type Row = readonly [name: string, body: Readonly<Record<string, unknown>>, param: string];

const toRequests = (rows: readonly Row[]): readonly NativeOnlyRequest[] =>
  rows.map(([name, body, param]) => ({ name, body, param }));

const tool = (type: string, more: object = {}) => ({ tools: [{ type, name: type.replace(/_\d+$/, ""), ...more }] });
const turn = (role: string) => (...content: object[]) => ({ role, content });
const user = turn("user");
const assistant = turn("assistant");
const says = (...content: object[]) => ({ messages: [user(...content)] });
const text = (value: string) => ({ type: "text", text: value });
const use = (id: string) => ({ type: "tool_use", id, name: "look", input: { at: id } });
const result = (id: string, content: unknown = "4") => ({ type: "tool_result", tool_use_id: id, content });
const answered = (...content: object[]) => ({ messages: [user(text("Hi")), assistant(use("t1")), user(...content)] });

/** Requests of the Messages API. */
export const messagesRequests: readonly NativeOnlyRequest[] = toRequests([
  ["web search", tool("web_search_20250305", { max_uses: 5 }), "tools[0].type"],
  ["web fetch", tool("web_fetch_20250910"), "tools[0].type"],
  ["code execution", tool("code_execution_20250825"), "tools[0].type"],
  ["tools of an MCP server", { tools: [{ type: "mcp_toolset", mcp_server_name: "a" }] }, "tools[0].type"],
  ["a tool of tomorrow, after one of its own", {
    tools: [{ name: "look", input_schema: { type: "object" } }, { type: "telepathy_20301231", name: "x" }],
  }, "tools[1].type"],
  ["a choice of tomorrow", {
    tools: [{ name: "look", input_schema: { type: "object" } }],
    tool_choice: { type: "best" },
  }, "tool_choice.type"],
  ["thinking without a budget", { thinking: { type: "enabled", depth: 3 } }, "thinking.budget_tokens"],
  ["a container", { container: "container_1" }, "container"],
  ["MCP servers", { mcp_servers: [{ type: "url", url: "https://mcp.example", name: "a" }] }, "mcp_servers"],
  ["an output format of tomorrow", { output_config: { format: { type: "grammar" } } }, "output_config.format"],
  [
    "a PDF by its URL",
    says({ type: "document", source: { type: "url", url: "https://files.example/a.pdf" } }),
    "messages[0].content[0].source",
  ],
  [
    "a file by its id",
    says({ type: "document", source: { type: "file", file_id: "file_1" } }),
    "messages[0].content[0].source",
  ],
  [
    "an image by its id",
    says({ type: "image", source: { type: "file", file_id: "file_1" } }),
    "messages[0].content[0].source",
  ],
  ["a file for the container", says({ type: "container_upload", file_id: "file_1" }), "messages[0].content[0]"],
  ["a block of tomorrow", says(text("Hi"), { type: "hologram", depth: 3.0 }), "messages[0].content[1]"],
  ["a result whose call was compacted", says(result("t9"), text("On")), "messages[0].content[0].tool_use_id"],
  ["a call that was left unanswered", answered(text("Never mind")), "messages[2].content"],
  ["a system block of tomorrow", { system: [{ type: "hologram" }] }, "system[0]"],
  ["a role of tomorrow", { messages: [turn("critic")(text("Hm")), user(text("Hi"))] }, "messages[0].role"],
]);

const call = (id: string) => ({ type: "function_call", call_id: id, name: "look", arguments: "{}" });
const output = (id: string) => ({ type: "function_call_output", call_id: id, output: "4" });
const item = (...items: object[]) => ({ input: [{ role: "user", content: "Hi" }, ...items] });

/** Requests of the Responses API. */
export const responsesRequests: readonly NativeOnlyRequest[] = toRequests([
  ["an output whose call was compacted", item(output("c1")), "input[1].call_id"],
  ["a call that was left unanswered", item(call("c1")), "input"],
  ["an item of tomorrow", { input: [{ type: "hologram", depth: 3.0 }] }, "input[0].type"],
  ["a part of tomorrow", { input: [{ role: "user", content: [{ type: "smell" }] }] }, "input[0].content[0].type"],
  [
    "an image for the developer",
    item({ role: "developer", content: [{ type: "input_image", image_url: "https://x.example/a.png" }] }),
    "input[1].content[0].type",
  ],
  ["a role of tomorrow", item({ role: "critic", content: "Hm" }), "input[1].role"],
  [
    "a file by its URL",
    { input: [{ role: "user", content: [{ type: "input_file", file_url: "https://files.example/a.pdf" }] }] },
    "input[0].content[0].file_url",
  ],
  ["web search", { input: "Hi", tools: [{ type: "web_search" }] }, "tools[0].type"],
  ["the code interpreter", { input: "Hi", tools: [{ type: "code_interpreter" }] }, "tools[0].type"],
  [
    "the shell of a container",
    { input: "Hi", tools: [{ type: "shell", environment: { type: "container_auto" } }] },
    "tools[0].environment.type",
  ],
  ["a tool of tomorrow, after one of its own", {
    input: "Hi",
    tools: [{ type: "function", name: "look" }, { type: "telepathy" }],
  }, "tools[1].type"],
  ["a choice of tomorrow", {
    input: "Hi",
    tools: [{ type: "function", name: "look" }],
    tool_choice: "best",
  }, "tool_choice"],
  ["an output format of tomorrow", { input: "Hi", text: { format: { type: "grammar" } } }, "text.format.type"],
]);

const content = (role: string, ...parts: object[]) => ({ role, parts });
const functionCall = { functionCall: { name: "look", args: {} } };
const functionResponse = { functionResponse: { name: "look", response: {} } };
const hi = content("user", { text: "Hi" });

/** Requests of the Gemini API. */
export const geminiRequests: readonly NativeOnlyRequest[] = toRequests([
  ["Google search", { contents: [hi], tools: [{ googleSearch: {} }] }, "tools[0].googleSearch"],
  ["a part of tomorrow", { contents: [content("user", { hologram: { depth: 3.0 } })] }, "contents[0].parts[0]"],
  [
    "a result without its call",
    { contents: [hi, content("user", functionResponse)] },
    "contents[1].parts[0].functionResponse",
  ],
  ["a call that was left unanswered", { contents: [hi, content("model", functionCall), hi] }, "contents"],
  ["a role of tomorrow", { contents: [content("critic", { text: "Hm" })] }, "contents[0].role"],
  ["a mode of tomorrow", {
    contents: [hi],
    tools: [{ functionDeclarations: [{ name: "look" }] }],
    toolConfig: { functionCallingConfig: { mode: "BEST" } },
  }, "toolConfig.functionCallingConfig.mode"],
  [
    "a system prompt that is no text",
    { contents: [hi], systemInstruction: { parts: [{ inlineData: { mimeType: "image/png", data: "AA==" } }] } },
    "systemInstruction.parts[0]",
  ],
]);
