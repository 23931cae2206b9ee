/**
 * Tasks of coding agents with three kinds of tools: a command, a search of the web, and a change of a file.
 * @module
 */
import { join } from "node:path";
import type { Agent } from "./_agents.ts";
import type { Reply, ReplyCall } from "./_dialects.ts";
import type { Play, Turn } from "./_tool_loop.ts";

/** The task of the agents. */
export const prompt =
  "Run a command that shows a.txt, search the web for the second word, and write both into out.txt.";

/** The file before and after the task, and what the agent says at the end. */
export const before = "todo\n";
export const after = "kumquat ranunculus\n";
export const conclusion = "Done: both words are written.";

/** The page that the search engine finds. */
export const page = { title: "Words", url: "https://words.example/", snippet: "the second word is ranunculus" };

/** What a model does in a task, by what it sees: the first call of which nothing is to be seen. */
interface Step {
  /** What is in the conversation once the step is done. */
  readonly seen: RegExp;
  readonly calls: (words: string) => readonly ReplyCall[];
}

let calls = 0;
const call = (name: string, input: Readonly<Record<string, unknown>>): ReplyCall => ({
  ...{ id: `call_${++calls}`, name, input },
});

/** A model that follows steps. */
function following(tool: string, steps: readonly Step[]): Play {
  return ({ tools, results, body }: Turn): Reply => {
    const id = `turn_${crypto.randomUUID()}`; // Claude Code joins messages with the same id
    if (tools.some((name) => name === "web_search") && !tools.includes(tool)) {
      return searching({ tools, results, body }, id);
    }
    if (!tools.includes(tool)) return { id, pieces: ["{}"] }; // a helper's request
    const step = steps.find(({ seen }) => !seen.test(body));
    if (step === undefined) return { id, pieces: [conclusion] };
    const words = ["first", "second"].map((which) =>
      new RegExp(`${which} word is (\\w+)`).exec(body)?.[1] ?? "nothing"
    );
    return { id, calls: step.calls(words.join(" ")) };
  };
}

/** The model of the agent's own tool for searches. */
function searching({ results }: Turn, id: string): Reply {
  if (results.length === 0) return { id, calls: [call("web_search", { query: "second word" })] };
  return { id, pieces: [`${page.snippet} ([Words](${page.url}))`] };
}

/** Plays by the name of the agent's program. */
const plays: Readonly<Record<string, (folder: string) => Play>> = {
  claude: (folder) =>
    following("Bash", [
      {
        seen: /first word is kumquat/,
        calls: () => [
          call("Bash", { command: "cat a.txt", description: "Shows a.txt" }),
          call("Read", { file_path: join(folder, "out.txt") }),
          call("ToolSearch", { query: "select:WebSearch", max_results: 1 }),
        ],
      },
      { seen: /second word is ranunculus/, calls: () => [call("WebSearch", { query: "second word" })] },
      {
        seen: /has been updated/,
        calls: (words) => [
          call("Edit", { file_path: join(folder, "out.txt"), old_string: "todo", new_string: words }),
        ],
      },
    ]),
  codex: () =>
    following("exec_command", [
      { seen: /first word is kumquat/, calls: () => [call("exec_command", { cmd: "cat a.txt" })] },
      { seen: /second word is ranunculus/, calls: () => [call("web_search", { query: "second word" })] },
      {
        seen: /Success\. Updated/,
        calls: (words) => [
          call("apply_patch", {
            input: `*** Begin Patch\n*** Update File: out.txt\n@@\n-todo\n+${words}\n*** End Patch\n`,
          }),
        ],
      },
    ]),
  gemini: () =>
    following("run_shell_command", [
      {
        seen: /first word is kumquat/,
        calls: () => [call("run_shell_command", { command: "cat a.txt", description: "Shows a.txt" })],
      },
      { seen: /second word is ranunculus/, calls: () => [call("google_web_search", { query: "second word" })] },
      {
        seen: /Successfully modified/,
        calls: (words) => [
          call("replace", {
            file_path: "out.txt",
            old_string: "todo",
            new_string: words,
            instruction: "Writes the words.",
          }),
        ],
      },
    ]),
};

/** A model that does the task of an agent. */
export function playTask({ program }: Agent, folder: string): Play {
  return plays[program]!(folder);
}
