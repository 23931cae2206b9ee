// deno-lint-ignore-file no-import-prefix -- in an npm project: "@anthropic-ai/sdk"
/**
 * A coding agent over `/v1/messages`: it lists and reads files of this folder until it can answer. The conversation is
 * translated for whichever model of the pool is selected.
 *
 *     deno run -A examples/coding_agent.ts http://127.0.0.1:8080 "Which example needs a Redis?"
 *
 * The demo's models do not call tools; use a proxy with an API key for that.
 */
import Anthropic from "npm:@anthropic-ai/sdk@1.12.0";

const [address = "http://127.0.0.1:8080", task = "Which example needs a Redis?"] = Deno.args;
const folder = new URL("./", import.meta.url);
const client = new Anthropic({ baseURL: address, apiKey: "the token, or any text if none is set" });

const tools: Anthropic.Tool[] = [
  { name: "list_files", description: "Names of all files.", input_schema: { type: "object", properties: {} } },
  {
    name: "read_file",
    description: "A file's text.",
    input_schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  },
];

/** The result of a tool call; error messages are for the model, too. */
async function perform({ name, input }: Anthropic.ToolUseBlock): Promise<string> {
  const files = (await Array.fromAsync(Deno.readDir(folder))).filter(({ isFile }) => isFile).map(({ name }) => name);
  if (name === "list_files") return files.toSorted().join("\n");
  const wanted = (input as { name?: unknown }).name;
  const file = files.find((name) => name === wanted);
  return file === undefined ? "There is no such file." : await Deno.readTextFile(new URL(file, folder));
}

const messages: Anthropic.MessageParam[] = [{ role: "user", content: task }];
for (let turn = 0; turn < 10; turn++) {
  const { content } = await client.messages.create({ model: "chat-completion", max_tokens: 1000, tools, messages });
  for (const block of content) if (block.type === "text") console.log(block.text);
  const calls = content.filter((block) => block.type === "tool_use");
  if (calls.length === 0) break;
  console.log(calls.map(({ name, input }) => `[${name} ${JSON.stringify(input)}]`).join("\n"));
  const results = calls.map(async (call) =>
    ({ type: "tool_result", tool_use_id: call.id, content: await perform(call) }) as const
  );
  messages.push({ role: "assistant", content }, { role: "user", content: await Promise.all(results) });
}
