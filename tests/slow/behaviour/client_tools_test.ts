/**
 * Tools that a vendor defines and the client runs, over models of three vendors: each is a function for the model, and its
 * calls and results are those of the client's API.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ask } from "../../support/_client_tools.ts";
import { startDialectProxy } from "../../support/_dialect_proxy.ts";
import { dialects, type Json } from "../../support/_dialects.ts";
import { json, startUpstream } from "../../support/upstream.ts";

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
