/**
 * What only one vendor's models have in a conversation: text for the models of others, or an error that names it.
 */
import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ask } from "../../support/_client_tools.ts";
import { startDialectProxy } from "../../support/_dialect_proxy.ts";
import { dialects, type Json, speaking } from "../../support/_dialects.ts";
import { startUpstream } from "../../support/upstream.ts";

const secret = "c2VjcmV0LW9mLXRoZS12ZW5kb3I=";

/** Conversations that a model of one vendor has begun, in each dialect of clients, and what must be readable of them. */
const histories: readonly {
  readonly path: string;
  readonly name: string;
  readonly body: Json;
  readonly said: readonly string[];
}[] = [
  {
    path: "/v1/messages",
    name: "a search, code, a compaction and found tools of Claude",
    body: {
      max_tokens: 100,
      tools: [{ name: "look", input_schema: { type: "object" } }],
      messages: [
        { role: "user", content: "Go" },
        {
          role: "assistant",
          content: [
            { type: "compaction", content: "They spoke of kumquats." },
            { type: "thinking", thinking: "Hm", signature: secret },
            { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "fruit of Asia" } },
            {
              type: "web_search_tool_result",
              tool_use_id: "srvtoolu_1",
              content: [{
                type: "web_search_result",
                url: "https://a.example/",
                title: "Fruit",
                encrypted_content: secret,
              }],
            },
            { type: "server_tool_use", id: "srvtoolu_2", name: "bash_code_execution", input: { command: "ls" } },
            {
              type: "bash_code_execution_tool_result",
              tool_use_id: "srvtoolu_2",
              content: {
                type: "bash_code_execution_result",
                stdout: "listed",
                stderr: "",
                return_code: 0,
                content: [],
              },
            },
            { type: "text", text: "I look." },
            { type: "tool_use", id: "t1", name: "look", input: {} },
          ],
        },
        {
          role: "user",
          content: [{
            type: "tool_result",
            tool_use_id: "t1",
            content: [{ type: "tool_reference", tool_name: "see" }],
          }],
        },
      ],
    },
    said: ["kumquats", "fruit of Asia", "https://a.example/", "listed", "I look.", "see"],
  },
  {
    path: "/v1/responses",
    name: "a search, code, files, MCP and a compaction of OpenAI",
    body: {
      tools: [{ type: "function", name: "look" }],
      input: [
        { role: "user", content: "Go" },
        { type: "compaction", id: "cmp_1", encrypted_content: secret },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: secret },
        {
          type: "web_search_call",
          id: "ws_1",
          status: "completed",
          action: { type: "search", query: "fruit of Asia" },
        },
        {
          type: "file_search_call",
          id: "fs_1",
          status: "completed",
          queries: ["berries"],
          results: [{ filename: "b.md", text: "blue" }],
        },
        {
          type: "code_interpreter_call",
          id: "ci_1",
          status: "completed",
          code: "1+1",
          outputs: [{ type: "logs", logs: "two" }],
        },
        { type: "mcp_list_tools", id: "mcpl_1", server_label: "s", tools: [] },
        { type: "mcp_call", id: "mcp_1", server_label: "shop", name: "buy", arguments: '{"n":3}', output: "bought" },
        { type: "function_call", call_id: "t1", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "t1", output: "seen" },
      ],
    },
    said: ["fruit of Asia", "berries", "blue", "1+1", "two", "buy", "bought", "seen"],
  },
  {
    path: "/v1beta/models/chat:generateContent",
    name: "code of Gemini",
    body: {
      tools: [{ functionDeclarations: [{ name: "look" }] }],
      contents: [
        { role: "user", parts: [{ text: "Go" }] },
        {
          role: "model",
          parts: [
            { executableCode: { language: "PYTHON", code: "print(1+1)" }, thoughtSignature: secret },
            { codeExecutionResult: { outcome: "OUTCOME_OK", output: "two" } },
            { functionCall: { id: "t1", name: "look", args: {} } },
          ],
        },
        { role: "user", parts: [{ functionResponse: { id: "t1", name: "look", response: { found: "seen" } } }] },
      ],
    },
    said: ["print(1+1)", "two", "seen"],
  },
];

describe("A conversation that begins with a vendor's own items", () => {
  for (const { path, name, body, said } of histories) {
    for (
      const dialect of dialects.filter((one) =>
        !(path.includes("messages") && one === "anthropic" || path.includes("v1beta") && one === "gemini")
      )
    ) {
      it(`goes on with another model in the middle of a tool loop, which reads them as text: ${name}, ${dialect}`, async () => {
        await using upstream = await startUpstream(speaking[dialect].respond({ pieces: ["Done"] }));
        await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url } });
        const response = await fetch(proxy.url + path, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(path.includes("v1beta") ? body : { model: "chat", ...body }),
        });
        assertEquals(response.status, 200, await response.text());
        const { body: sent } = upstream.requests.at(-1)!;
        for (const words of said) assertStringIncludes(sent, words);
        assertNotMatch(sent, new RegExp(secret));
        assertMatch(sent, /look/);
      });
    }
  }
});

/** Requests that no model of another API can take, with the path and a part of the error. */
const refused: readonly (readonly [path: string, name: string, body: Json, param: string, message: RegExp])[] = [
  ...[
    { type: "custom_tool_call_output", call_id: "c9", output: "x" },
    { type: "local_shell_call_output", id: "c9", output: "x" },
    { type: "shell_call_output", call_id: "c9", output: [] },
    { type: "apply_patch_call_output", call_id: "c9", status: "completed" },
    { type: "tool_search_output", call_id: "c9", tools: [] },
  ].map((item) =>
    [
      "/v1/responses",
      `a ${item.type} without a call`,
      { input: [{ role: "user", content: "Go" }, item] },
      "input[1].call_id",
      /"c9"/,
    ] as const
  ),
  [
    "/v1/responses",
    "a tool of tomorrow in a namespace",
    {
      input: "Go",
      tools: [{ type: "function", name: "a" }, { type: "namespace", name: "n", tools: [{ type: "telepathy" }] }],
    },
    "tools[1].tools[0].type",
    /"telepathy".*Responses API/,
  ],
  [
    "/v1/responses",
    "an item of tomorrow",
    {
      input: [{ role: "user", content: "Go" }, { type: "telepathy_call", call_id: "c1" }],
    },
    "input[1].type",
    /"telepathy_call".*Responses API/,
  ],
  [
    "/v1/responses",
    "a shell call without its action",
    {
      input: [{ type: "shell_call", call_id: "c1" }, { type: "shell_call_output", call_id: "c1", output: [] }],
    },
    "input[0].action",
    /an object/,
  ],
  [
    "/v1/responses",
    "a namespace without tools",
    { input: "Go", tools: [{ type: "namespace", name: "n" }] },
    "tools[0].tools",
    /an array/,
  ],
  [
    "/v1/messages",
    "a tool of tomorrow",
    {
      max_tokens: 9,
      messages: [{ role: "user", content: "Go" }],
      tools: [{ type: "bash_20250124", name: "bash" }, { type: "telepathy_20301231", name: "t" }],
    },
    "tools[1].type",
    /telepathy_20301231.*Messages API/,
  ],
  [
    "/v1/messages",
    "a block of tomorrow",
    {
      max_tokens: 9,
      messages: [{ role: "user", content: [{ type: "text", text: "Go" }, { type: "telepathy" }] }],
    },
    "messages[0].content[1]",
    /telepathy/,
  ],
];

describe("What models of other APIs cannot take", () => {
  for (const [path, name, body, param, message] of refused) {
    it(`is refused by its index and type, with what would take it: ${name}`, async () => {
      await using upstream = await startUpstream(speaking.openai.respond());
      await using proxy = await startDialectProxy({ only: { dialect: "openai", url: upstream.url } });
      const response = await fetch(proxy.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "chat", ...body }),
      });
      const { error } = await response.json();
      assertEquals([response.status, upstream.calls], [400, 0]);
      assertStringIncludes(error.message, param);
      assertMatch(error.message, message);
    });
  }
});

describe("State that a client has forged", () => {
  const forged = [
    "mesh:",
    "mesh:!",
    "mesh:bnVsbA==",
    "mesh:WzFd",
    `mesh:${btoa('{"ws_mesh_1":5,"results":[5,{"url":5}],"snippet":{}}')}`,
  ];
  for (const content of forged) {
    it(`is ignored: ${content}`, async () => {
      const responses = [
        { role: "user", content: "Go" },
        { type: "reasoning", id: "rs_mesh_1", summary: [], encrypted_content: content },
        { type: "web_search_call", id: "ws_mesh_1", action: { type: "search", query: "fruit" } },
        { role: "user", content: "On" },
      ];
      const found = {
        type: "web_search_result",
        url: "https://a.example/",
        title: "Fruit",
        encrypted_content: content,
      };
      const messages = [
        { role: "user", content: "Go" },
        {
          role: "assistant",
          content: [
            { type: "redacted_thinking", data: content },
            { type: "server_tool_use", id: "srvtoolu_mesh_1", name: "web_search", input: { query: "fruit" } },
            { type: "web_search_tool_result", tool_use_id: "srvtoolu_mesh_1", content: [found] },
          ],
        },
        { role: "user", content: "On" },
      ];
      const asked = [["/v1/responses", { input: responses }], ["/v1/messages", { max_tokens: 9, messages }]] as const;
      for (const [path, body] of asked) {
        const { request } = await ask({ path, body, dialect: "openai", stream: false });
        assertStringIncludes(request.body, "Searched the web for: fruit");
        assertEquals(request.body.includes("mesh"), false, request.body);
      }
    });
  }
});
