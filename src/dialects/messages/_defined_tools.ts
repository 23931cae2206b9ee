/**
 * Tools that the API defines and the client runs: models of other APIs get functions of the same schemas. Their calls are
 * `tool_use` blocks as those of all tools are.
 *
 * Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/bash-tool, text-editor-tool and memory-tool.
 * @module
 */
import type { JsonObject, Tool } from "../../contracts/openai.ts";

type Declaration = Omit<NonNullable<Tool["function"]>, "name">;

const text = (description: string) => ({ type: "string", description });
const line = (description: string) => ({ type: "integer", description });

const bash: Declaration = {
  description: "Runs a command in a bash shell that keeps its state between calls, and returns its output.",
  parameters: {
    type: "object",
    properties: {
      command: text("The command to run. Required unless the shell is restarted."),
      restart: { type: "boolean", description: "Whether to restart the shell instead." },
    },
  },
};

/** Parameters of commands on files, which the editor and the memory share. */
const fileParameters = {
  path: text("The path of the file or directory."),
  view_range: {
    type: "array",
    items: { type: "integer" },
    description: "For view: the first and the last line to show; -1 means the end of the file.",
  },
  file_text: text("For create: the content of the file."),
  old_str: text("For str_replace: the text to replace, which has to occur once."),
};

const insertLine = line("For insert: the line after which to insert; 0 means the beginning of the file.");

function createCommands(commands: readonly string[], description: string, properties: JsonObject): Declaration {
  const command = { type: "string", enum: [...commands], description: "What to do." };
  return { description, parameters: { type: "object", properties: { command, ...properties }, required: ["command"] } };
}

const editing = ["view", "create", "str_replace", "insert"];
const editor = "Views, creates and edits files.";

/** The editor of earlier versions, which can undo. */
const undoingEditor: Declaration = createCommands([...editing, "undo_edit"], editor, {
  ...fileParameters,
  new_str: text("For str_replace: the new text. For insert: the text to insert."),
  insert_line: insertLine,
});

const plainEditor: Declaration = createCommands(editing, editor, {
  ...fileParameters,
  new_str: text("For str_replace: the new text."),
  insert_line: insertLine,
  insert_text: text("For insert: the text to insert."),
});

const memory: Declaration = createCommands(
  [...editing, "delete", "rename"],
  "Reads and changes files under /memories, which are kept between conversations. View that directory first.",
  {
    ...fileParameters,
    new_str: text("For str_replace: the new text."),
    insert_line: insertLine,
    insert_text: text("For insert: the text to insert."),
    old_path: text("For rename: the present path."),
    new_path: text("For rename: the new path."),
  },
);

/** The functions, by the beginning of the tool's type; the first match applies. */
const functions: readonly (readonly [type: RegExp, declaration: Declaration])[] = [
  [/^bash_\d{8}$/, bash],
  [/^text_editor_(20241022|20250124)$/, undoingEditor],
  [/^text_editor_\d{8}$/, plainEditor],
  [/^memory_\d{8}$/, memory],
];

/** The function for a tool that the API defines; undefined if models of other APIs cannot have it. */
export function findDefinedTool(type: unknown): Declaration | undefined {
  return typeof type === "string" ? functions.find(([pattern]) => pattern.test(type))?.[1] : undefined;
}
