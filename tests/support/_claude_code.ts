/**
 * Requests with the structure of Claude Code's.
 * @module
 */
import { type AgentFixture, type AgentRequest, found, intention, picture, task } from "./_agent_requests.ts";
import type { Json } from "./_dialects.ts";

const reminder = (text: string) => ({ type: "text", text: `<system-reminder>\n${text}\n</system-reminder>` });
const cached = { cache_control: { type: "ephemeral" } };
const draft = { $schema: "https://json-schema.org/draft/2020-12/schema" };

const claudeTools: readonly Json[] = [
  {
    name: "Read",
    description: "Reads a file.",
    input_schema: {
      ...draft,
      type: "object",
      properties: {
        file_path: { description: "Its absolute path.", type: "string" },
        limit: { type: "integer", exclusiveMinimum: 0, maximum: 9_007_199_254_740_991 },
      },
      required: ["file_path"],
      additionalProperties: false,
    },
  },
  {
    name: "TaskUpdate",
    description: "Changes a task.",
    input_schema: {
      ...draft,
      type: "object",
      properties: {
        status: { anyOf: [{ type: "string", enum: ["pending", "completed"] }, { type: "string", const: "deleted" }] },
        to: { type: "string", allOf: [{ pattern: "^[^\\n\\r]*$" }] },
        metadata: { type: "object", propertyNames: { type: "string" }, additionalProperties: {} },
      },
      additionalProperties: false,
    },
  },
  {
    name: "WebFetch",
    description: "Fetches a page.",
    input_schema: {
      ...draft,
      type: "object",
      properties: { url: { type: "string", format: "uri" } },
      required: ["url"],
    },
  },
  {
    name: "DeferredPlaceholder",
    description: "Stands for tools that are described on demand.",
    input_schema: { type: "object", properties: {} },
    defer_loading: true,
  },
];

const claudeCalls: AgentFixture["calls"] = [
  { id: "toolu_01", name: "Read", input: { file_path: "/work/a.txt" } },
  { id: "toolu_02", name: "Read", input: { file_path: "/work/b.txt" } },
];

const claudePicture = { type: "image", source: { type: "base64", media_type: "image/png", data: picture } };

/** The results in another order than the calls, one as parts, one as text, and text after them. */
const claudeResults = (hasPicture: boolean): readonly Json[] => [
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Both at once", signature: "" }, // of a model of another vendor
      { type: "text", text: intention },
      ...claudeCalls.map((call) => ({ type: "tool_use", ...call })),
    ],
  },
  {
    role: "user",
    content: [
      { tool_use_id: "toolu_02", type: "tool_result", content: hasPicture ? [claudePicture] : `1\t${found[1]}\n` },
      { tool_use_id: "toolu_01", type: "tool_result", content: [{ type: "text", text: `1\t${found[0]}\n` }] },
      { ...reminder("Tokens left: 1000000"), ...cached },
    ],
  },
];

const claudeSystem: readonly Json[] = [
  { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.0; cc_entrypoint=cli;" },
  { type: "text", text: "You are an agent in a terminal.", ...cached },
  { type: "text", text: "\nYou help with the files of a project.\n", ...cached },
];

const claudeHeaders: AgentRequest["headers"] = {
  "anthropic-version": "2023-06-01",
  "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27",
  "anthropic-dangerous-direct-browser-access": "true",
  authorization: "Bearer token",
  "user-agent": "claude-cli/2.1.0 (external, cli)",
  "x-app": "cli",
  "x-stainless-lang": "js",
  "x-stainless-retry-count": "0",
  "x-stainless-timeout": "600",
};

/** Claude Code. */
export const claudeCode: AgentFixture = {
  dialect: "messages",
  calls: claudeCalls,
  request: ({ turn, stream, hasPicture = false, model = "chat" }) => ({
    path: "/v1/messages?beta=true",
    headers: claudeHeaders,
    body: {
      model,
      max_tokens: 32_000,
      system: claudeSystem,
      messages: [
        {
          role: "user",
          content: [
            reminder("Today is a Monday."),
            { type: "text", text: task, ...(turn === 1 ? cached : {}) },
          ],
        },
        { role: "system", content: "# Environment\nThe folder is /work." }, // to a model whose name it does not know
        ...(turn === 1 ? [] : claudeResults(hasPicture)),
      ],
      tools: claudeTools,
      metadata: { user_id: JSON.stringify({ device_id: "0".repeat(64), account_uuid: "", session_id: "1" }) },
      thinking: { type: "adaptive", display: "updates" },
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      output_config: { effort: "high" },
      stream,
    },
  }),
};

/** Claude Code's background model, for titles and other small questions. */
export const claudeBackground: AgentRequest = {
  path: "/v1/messages?beta=true",
  headers: claudeHeaders,
  body: {
    model: "claude-haiku-4-5-20251001",
    max_tokens: 512,
    temperature: 1,
    system: [claudeSystem[0], { type: "text", text: "Find a short title for the task." }],
    messages: [{ role: "user", content: [{ type: "text", text: task }] }],
    tools: [],
    output_config: {
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          properties: { title: { type: "string" } },
          required: ["title"],
          additionalProperties: false,
        },
      },
    },
    stream: true,
  },
};

/** The request of Claude Code's tool WebSearch, which another model than that of the task serves. */
export const claudeSearch: AgentRequest = {
  path: "/v1/messages?beta=true",
  headers: claudeHeaders,
  body: {
    model: "chat",
    max_tokens: 32_000,
    system: [claudeSystem[0], { type: "text", text: "Search the web once, then sum up what was found." }],
    messages: [{ role: "user", content: [{ type: "text", text: "Search for: first word" }] }],
    tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 8 }],
    tool_choice: { type: "auto" },
    output_config: { effort: "high" },
    stream: true,
  },
};
