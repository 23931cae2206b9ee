/**
 * Tools that a vendor defines and the client runs, over models of three vendors: each is a function for the model, and its
 * calls and results are those of the client's API.
 */
import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { dataIn } from "../support/_dialect_answers.ts";
import { startDialectProxy } from "../support/_dialect_proxy.ts";
import { type Dialect, dialects, type Json, type ReplyCall, speaking } from "../support/_dialects.ts";
import { readTurn, type Turn } from "../support/_tool_loop.ts";
import { json, type ReceivedRequest, startUpstream, type Upstream } from "../support/upstream.ts";

/** A response, and what the provider received. */
interface Answered {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly output: any;
  readonly events: readonly Json[];
  readonly request: ReceivedRequest;
  readonly turn: Turn;
}

interface Asked {
  readonly path: string;
  readonly body: Json;
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly calls?: readonly ReplyCall[];
}

/** Sends a request to a model that makes the calls. */
async function ask({ path, body, dialect, stream, calls }: Asked): Promise<Answered> {
  const reply = calls === undefined ? { pieces: ["Done"] } : { calls };
  await using upstream = await startUpstream(speaking[dialect].answer(reply));
  await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url } });
  const response = await fetch(proxy.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", ...body, stream }),
  });
  const text = await response.text();
  assertEquals(response.status, 200, text);
  const request = lastOf(upstream);
  const events = stream ? dataIn(text) : [];
  const output = stream ? (events.at(-1)! as { response?: Json }).response : JSON.parse(text);
  return { status: response.status, output, events, request, turn: readTurn(dialect, request) };
}

function lastOf({ requests }: Upstream): ReceivedRequest {
  return requests.at(-1)!;
}

const ways = dialects.flatMap((dialect) => [false, true].map((stream) => ({ dialect, stream })));
const grammar = 'start: "*** Begin Patch" /.+/s';
const patch = '*** Begin Patch\n*** Update File: a.txt\n+ "two\\n"\n*** End Patch';

/** The tools of Responses, the call that a model makes of each, and the item that it becomes. */
const responsesTools: readonly {
  readonly tool: Json;
  readonly name: string;
  readonly input: Json;
  readonly item: Json;
  readonly result: Json;
  readonly shown: string;
}[] = [
  {
    tool: {
      type: "custom",
      name: "apply_patch",
      description: "Edits.",
      format: { type: "grammar", syntax: "lark", definition: grammar },
    },
    name: "apply_patch",
    input: { input: patch },
    item: { type: "custom_tool_call", name: "apply_patch", input: patch },
    result: { type: "custom_tool_call_output", call_id: "call_1", output: "patched" },
    shown: "patched",
  },
  {
    tool: {
      type: "namespace",
      name: "mcp__files",
      description: "Files.",
      tools: [{
        type: "function",
        name: "read",
        parameters: { type: "object", properties: { path: { type: "string" } } },
      }],
    },
    name: "mcp__files__read",
    input: { path: "a.txt" },
    item: { type: "function_call", name: "read", namespace: "mcp__files", arguments: '{"path":"a.txt"}' },
    result: { type: "function_call_output", call_id: "call_1", output: "read" },
    shown: "read",
  },
  {
    tool: { type: "local_shell" },
    name: "local_shell",
    input: { command: ["ls", "-l"], timeout_ms: 1000 },
    item: { type: "local_shell_call", action: { type: "exec", command: ["ls", "-l"], timeout_ms: 1000, env: {} } },
    result: { type: "local_shell_call_output", id: "call_1", output: '{"output":"listed"}' },
    shown: "listed",
  },
  {
    tool: { type: "shell", environment: { type: "local" } },
    name: "shell",
    input: { commands: ["ls", "pwd"] },
    item: {
      type: "shell_call",
      action: { commands: ["ls", "pwd"], timeout_ms: null, max_output_length: null },
      environment: { type: "local" },
    },
    result: {
      type: "shell_call_output",
      call_id: "call_1",
      max_output_length: null,
      output: [{ stdout: "listed", stderr: "warned", outcome: { type: "exit", exit_code: 2 } }],
    },
    shown: "listed\nwarned\n(exit code 2)",
  },
  {
    tool: { type: "apply_patch" },
    name: "apply_patch",
    input: { type: "create_file", path: "a.txt", diff: "+one" },
    item: { type: "apply_patch_call", operation: { type: "create_file", path: "a.txt", diff: "+one" } },
    result: { type: "apply_patch_call_output", call_id: "call_1", status: "failed", output: "no such folder" },
    shown: "failed\nno such folder",
  },
  {
    tool: { type: "tool_search", execution: "client", description: "Finds tools.", parameters: { type: "object" } },
    name: "tool_search",
    input: { query: "files" },
    item: { type: "tool_search_call", execution: "client", arguments: { query: "files" } },
    result: {
      type: "tool_search_output",
      call_id: "call_1",
      execution: "client",
      tools: [{ type: "function", name: "found_tool", defer_loading: true, parameters: { type: "object" } }],
    },
    shown: "found_tool",
  },
];

describe("tools of Responses, of models of other APIs", () => {
  for (const { tool, name, input, item, result, shown } of responsesTools) {
    const kind = `${tool.type}`;
    const body = { input: "Go", tools: [tool, { type: "function", name: "look" }] };
    for (const { dialect, stream } of ways) {
      const way = `${kind}, ${dialect}, ${stream ? "streaming" : "non-streaming"}`;
      it(`are functions whose calls are the API's own: ${way}`, async () => {
        const calls = [{ id: "call_1", name, input }];
        const { output, events, turn } = await ask({ path: "/v1/responses", body, dialect, stream, calls });
        assertEquals(turn.tools, [name, "look"]);
        const found = output.output.at(-1);
        const { id: _, status, call_id, ...members } = found;
        assertEquals([status, call_id.length > 0, members], ["completed", true, item]);
        if (!stream) return;
        const ended = events.find(({ type, item }) =>
          type === "response.output_item.done" && (item as Json).id === found.id
        );
        assertEquals(ended!.item, found);
      });
    }
    for (const dialect of dialects) {
      it(`continue with their results: ${kind}, ${dialect}`, async () => {
        const history = [{ role: "user", content: "Go" }, { call_id: "call_1", ...item }, result];
        const asked = { ...body, input: history };
        const { turn, request } = await ask({ path: "/v1/responses", body: asked, dialect, stream: false });
        assertEquals(turn.results.length, 1);
        assertStringIncludes(JSON.parse(JSON.stringify(turn.results[0])).replaceAll("\\n", "\n"), shown);
        assertStringIncludes(request.body, `"${name}"`);
      });
    }
  }

  it("have the grammar of a custom tool in their description, and one string as their input", async () => {
    const [{ tool }] = responsesTools as [typeof responsesTools[0]];
    const { request } = await ask({
      ...{ path: "/v1/responses", body: { input: "Go", tools: [tool] }, dialect: "openai", stream: false },
    });
    const [{ function: { description, parameters } }] = request.json().tools;
    assertEquals([parameters.required, parameters.properties.input.type], [["input"], "string"]);
    assertStringIncludes(description, "Edits.");
    assertStringIncludes(description, grammar);
  });

  it("stream the input of a custom tool in events of its own", async () => {
    const [{ tool, name, input }] = responsesTools as [typeof responsesTools[0]];
    const { events } = await ask({
      ...{ path: "/v1/responses", body: { input: "Go", tools: [tool] }, dialect: "openai", stream: true },
      calls: [{ id: "call_1", name, input }],
    });
    const written = events.filter(({ type }) => type === "response.custom_tool_call_input.delta");
    assertEquals(written.map(({ delta }) => delta).join(""), patch);
    const done = events.find(({ type }) => type === "response.custom_tool_call_input.done")!;
    assertEquals([done.input, done.item_id], [patch, written[0]!.item_id]);
    assertEquals(events.some(({ type }) => type === "response.function_call_arguments.delta"), false);
    assertEquals(events.map(({ sequence_number }) => sequence_number), events.map((_, index) => index));
  });

  it("keep an input that the model wrote as plain text", async () => {
    const [{ tool }] = responsesTools as [typeof responsesTools[0]];
    const plain = {
      choices: [{
        message: { tool_calls: [{ id: "c", type: "function", function: { name: "apply_patch", arguments: patch } }] },
      }],
    };
    await using upstream = await startUpstream(json(plain));
    await using proxy = await startDialectProxy({ only: { dialect: "openai", url: upstream.url } });
    const response = await fetch(`${proxy.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", input: "Go", tools: [tool] }),
    });
    assertEquals((await response.json()).output[0].input, patch);
  });

  it("have names of up to 64 characters, which are different where the tools are, and which the client never sees", async () => {
    const long = "n".repeat(50);
    const names = ["first_tool_of_many", "first_tool_of_more"];
    const tools = [
      { type: "namespace", name: long, description: "", tools: names.map((name) => ({ type: "function", name })) },
      { type: "namespace", name: "a", description: "", tools: [{ type: "function", name: "b__c" }] },
      { type: "namespace", name: "a__b", description: "", tools: [{ type: "custom", name: "c" }] },
      { type: "function", name: "shell" },
      { type: "shell" },
    ];
    const body = { input: "Go", tools };
    const { turn } = await ask({ path: "/v1/responses", body, dialect: "openai", stream: false });
    assertEquals([new Set(turn.tools).size, turn.tools.every((name) => name.length <= 64)], [6, true]);
    const calls = turn.tools.map((name, index) => ({ id: `call_${index}`, name, input: {} }));
    const { output } = await ask({ path: "/v1/responses", body, dialect: "openai", stream: false, calls });
    assertEquals(output.output.map(({ type, namespace, name }: Json) => [type, namespace, name]), [
      ...names.map((name) => ["function_call", long, name]),
      ["function_call", "a", "b__c"],
      ["custom_tool_call", "a__b", "c"],
      ["function_call", undefined, "shell"],
      ["shell_call", undefined, undefined],
    ]);
  });

  it("are chosen by the API's words", async () => {
    const tools = [...responsesTools.slice(0, 4).map(({ tool }) => tool), { type: "function", name: "look" }];
    const chosen = async (tool_choice: unknown) => {
      const body = { input: "Go", tools, tool_choice };
      const { request } = await ask({ path: "/v1/responses", body, dialect: "openai", stream: false });
      const { tools: sent, tool_choice: choice } = request.json();
      return [sent.length, choice.function?.name ?? choice];
    };
    assertEquals(await chosen({ type: "custom", name: "apply_patch" }), [5, "apply_patch"]);
    assertEquals(await chosen({ type: "shell" }), [5, "shell"]);
    assertEquals(await chosen({ type: "function", name: "read", namespace: "mcp__files" }), [5, "mcp__files__read"]);
    const allowed = [{ type: "custom", name: "apply_patch" }, { type: "local_shell" }];
    assertEquals(await chosen({ type: "allowed_tools", mode: "auto", tools: allowed }), [2, "auto"]);
  });

  it("are all sent where a search for tools would defer them, and those that it has found", async () => {
    const [search, deferred] = ["tool_search", "function"].map((type) => ({ type, name: "late", defer_loading: true }));
    const found = {
      type: "tool_search_output",
      call_id: null,
      execution: "server",
      tools: [{ type: "function", name: "later" }],
    };
    const input = [{ role: "user", content: "Go" }, { type: "tool_search_call", call_id: null, arguments: {} }, found];
    const { turn } = await ask({
      ...{ path: "/v1/responses", body: { input, tools: [search, deferred] }, dialect: "openai", stream: false },
    });
    assertEquals(turn.tools, ["late", "later"]);
  });
});

/** The tools that Messages defines, and a call of each. */
const messagesTools: readonly { readonly tool: Json; readonly input: Json; readonly members: readonly string[] }[] = [
  {
    tool: { type: "bash_20250124", name: "bash" },
    input: { command: "ls" },
    members: ["command", "restart"],
  },
  {
    tool: { type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 10_000 },
    input: { command: "view", path: "/a.txt" },
    members: ["command", "path", "view_range", "file_text", "old_str", "new_str", "insert_line", "insert_text"],
  },
  {
    tool: { type: "text_editor_20250124", name: "str_replace_editor" },
    input: { command: "undo_edit", path: "/a.txt" },
    members: ["command", "path", "view_range", "file_text", "old_str", "new_str", "insert_line"],
  },
  {
    tool: { type: "memory_20250818", name: "memory" },
    input: { command: "rename", old_path: "/memories/a", new_path: "/memories/b" },
    members: [
      ...["command", "path", "view_range", "file_text", "old_str", "new_str", "insert_line", "insert_text"],
      ...["old_path", "new_path"],
    ],
  },
];

describe("tools of Messages, of models of other APIs", () => {
  for (const { tool, input, members } of messagesTools) {
    for (const stream of [false, true]) {
      for (const dialect of ["openai", "gemini"] as const) {
        it(`are functions of their schemas: ${tool.type}, ${dialect}, ${stream ? "" : "non-"}streaming`, async () => {
          const name = tool.name as string;
          const body = { max_tokens: 100, messages: [{ role: "user", content: "Go" }], tools: [tool] };
          const calls = [{ id: "call_1", name, input }];
          const { output, events, request, turn } = await ask({ path: "/v1/messages", body, dialect, stream, calls });
          assertEquals(turn.tools, [name]);
          const { tools } = request.json();
          const declared = dialect === "openai" ? tools[0].function.parameters : tools[0].functionDeclarations[0];
          const { properties } = dialect === "openai" ? declared : declared.parametersJsonSchema ?? declared.parameters;
          assertEquals(Object.keys(properties).toSorted(), members.toSorted());
          const starts = events.flatMap(({ content_block }) =>
            content_block === undefined ? [] : [content_block as Json]
          );
          const block = (stream ? starts : output.content).find(({ type }: Json) => type === "tool_use");
          assertEquals([block.name, typeof block.id], [name, "string"]);
          if (!stream) assertEquals(block.input, input);
        });
      }
    }
  }

  it("are all sent where a search for tools would defer them", async () => {
    const deferred = { name: "late", input_schema: { type: "object" }, defer_loading: true };
    const tools = [{ type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" }, deferred];
    const body = { max_tokens: 100, messages: [{ role: "user", content: "Go" }], tools };
    const { turn } = await ask({ path: "/v1/messages", body, dialect: "openai", stream: false });
    assertEquals(turn.tools, ["late"]);
  });
});

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
        await using upstream = await startUpstream(speaking[dialect].answer({ pieces: ["Done"] }));
        await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url } });
        const response = await fetch(proxy.url + path, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(path.includes("v1beta") ? body : { model: "chat", ...body }),
        });
        assertEquals(response.status, 200, await response.text());
        const { body: sent } = lastOf(upstream);
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
      await using upstream = await startUpstream(speaking.openai.answer());
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
