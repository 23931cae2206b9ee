/**
 * Requests with the structure of Codex's.
 * @module
 */
import { type AgentFixture, found, intention, picture, task } from "./_agent_requests.ts";
import type { Json } from "./_dialects.ts";

const codexTool = (name: string, properties: Json, required: readonly string[] = []) => ({
  ...{ type: "function", name, description: `Does ${name}.`, strict: false },
  parameters: { type: "object", properties, required, additionalProperties: false },
});

/** What it sends beside functions, without any switch in its configuration. */
const codexOtherTools: readonly Json[] = [
  {
    ...{ type: "custom", name: "apply_patch", description: "Edits files. Its input is a patch, not JSON." },
    format: {
      ...{ type: "grammar", syntax: "lark" },
      definition:
        'start: begin hunk+ end\nbegin: "*** Begin Patch" LF\nend: "*** End Patch" LF?\nhunk: /.+/ LF\n%import common.LF\n',
    },
  },
  {
    ...{ type: "namespace", name: "multi_agent_v1", description: "Tools for sub-agents." },
    tools: [codexTool("spawn_agent", { message: { type: "string" } }), codexTool("wait_agent", {})],
  },
  {
    ...{ type: "tool_search", execution: "client", description: "Searches deferred tools." },
    parameters: {
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "number" } },
      required: ["query"],
      additionalProperties: false,
    },
  },
  { type: "web_search", external_web_access: true, search_content_types: ["text", "image"] },
];

const codexCalls: AgentFixture["calls"] = [
  { id: "call_1", name: "exec_command", input: { cmd: "cat a.txt" } },
  { id: "call_2", name: "exec_command", input: { cmd: "cat b.txt" } },
];

const codexMessage = (role: string, ...texts: readonly string[]) => ({
  ...{ type: "message", id: `msg_${role}_${texts.length}_${texts[0]!.length}`, role },
  content: texts.map((text) => ({ type: "input_text", text })),
});

const codexPicture = { type: "input_image", image_url: `data:image/png;base64,${picture}`, detail: "high" };

const codexResults = (hasPicture: boolean): readonly Json[] => [
  {
    ...{ type: "reasoning", id: "rs_1", content: null, encrypted_content: null },
    summary: [{ type: "summary_text", text: "Both at once" }],
  },
  {
    ...{ type: "message", id: "msg_1", role: "assistant" },
    content: [{ type: "output_text", text: intention }],
  },
  ...codexCalls.map(({ id, name, input }) => ({
    ...{ type: "function_call", status: "completed", id: `fc_${id}`, call_id: id },
    ...{ name, arguments: JSON.stringify(input) },
  })),
  ...codexCalls.map(({ id }, index) => ({
    ...{ type: "function_call_output", id: `fco_${id}`, call_id: id },
    output: index === 1 && hasPicture ? [codexPicture] : `Exit code: 0\nOutput:\n${found[index]}\n`,
  })),
];

/** Codex. */
export const codex: AgentFixture = {
  dialect: "responses",
  calls: codexCalls,
  request: ({ turn, stream, hasPicture = false, model = "chat" }) => ({
    path: "/v1/responses",
    headers: {
      accept: "text/event-stream",
      authorization: "Bearer token",
      originator: "codex_exec",
      "session-id": "session",
      "user-agent": "codex_exec/0.171.0",
    },
    body: {
      model,
      stream,
      input: [
        codexMessage("developer", "You are an agent in a terminal."),
        codexMessage("developer", "Skills: none.", "Permissions: all."),
        codexMessage("user", "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>"),
        codexMessage("user", task),
        ...(turn === 1 ? [] : codexResults(hasPicture)),
      ],
      tools: [
        codexTool("exec_command", { cmd: { type: "string" }, yield_time_ms: { type: "number" } }, ["cmd"]),
        codexTool("view_image", { path: { type: "string" } }, ["path"]),
        codexTool("get_goal", {}),
        ...codexOtherTools,
      ],
      tool_choice: "auto",
      parallel_tool_calls: true,
      reasoning: { effort: "medium", summary: "auto" },
      text: { verbosity: "low" },
      store: false,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "thread",
      client_metadata: { session_id: "session" },
    },
  }),
};
