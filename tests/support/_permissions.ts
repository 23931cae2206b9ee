/**
 * The commands of docs/permissions.md, run in a folder with a simulated provider in place of OpenAI.
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { dirname } from "node:path";
import { type ChildCommand, spawnCommand } from "./_cli.ts";
import { makeFolder, type TestFolder } from "./_library.ts";
import { portForRestarts } from "./ports.ts";
import { respond, startUpstream, type Upstream } from "./upstream.ts";

const page = await Deno.readTextFile(new URL("../../docs/permissions.md", import.meta.url));
const root = new URL("../../", import.meta.url);

/** A token of clients. */
export const token = "token-of-the-client-0123456789";

/** Commands of the page, by the comment above each. */
export const commands: ReadonlyMap<string, string> = new Map(
  [...page.matchAll(/^# (.+)\n(deno .+)$/gm)].map(([, title, command]) => [title!, command!]),
);

/** The additions of the table, by the first words of their sections. */
export function findAddition(section: string): string {
  const row = page.split("\n").find((line) => line.startsWith(`| \`${section}`));
  assert(row !== undefined, section);
  const [, flags] = /^\| `[^|]+` \| `(--allow-[^`]+)`/.exec(row) ?? [];
  assert(flags !== undefined, row);
  return flags;
}

/** Adds flags of the page to a command, in the lists that it has. */
export function withFlags(command: string, flags: string): string {
  return flags.split(" ").reduce((line, flag) => {
    const [name, values] = flag.split("=");
    return line.includes(`${name}=`)
      ? line.replace(`${name}=`, `${name}=${values},`)
      : line.replace(/ (jsr:|program)/, ` ${flag} $1`);
  }, command);
}

/** A folder in which commands of the page run. */
export interface PermissionStage extends AsyncDisposable {
  readonly upstream: Upstream;
  readonly folder: TestFolder;
  /** Starts a command of the page; `edit` changes it first. */
  start(command: string, edit?: (command: string) => string): ChildCommand;
  /** Starts it on a terminal, whose output is all on standard output. */
  startOnTerminal(command: string, edit?: (command: string) => string): ChildCommand;
}

/**
 * Prepares a folder.
 *
 * @param sections Further sections of the configuration.
 * @param env Further environment variables.
 */
export async function stagePermissions(
  sections: Readonly<Record<string, unknown>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<PermissionStage> {
  const upstream = await startUpstream(respond({ text: "Hello" }));
  const folder = await makeFolder();
  const port = await portForRestarts();
  const provider = { api_key: "${secrets:OPENAI_API_KEY}", base_url: upstream.url };
  const config = {
    providers: { "openai.llm.v1": provider },
    pools: { assistant: { capability: "chat-completion" } },
    ...sections,
  };
  await folder.write("modelmesh.yaml", JSON.stringify(config)); // JSON is YAML, too
  await folder.write("program.ts", program);
  const place = (command: string) =>
    command.replaceAll("api.openai.com", `127.0.0.1:${upstream.port}`)
      .replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
      .replaceAll("--port 8080", `--port ${port}`)
      .replace(
        /(jsr:@modelmesh\/core\/proxy)(?! --demo)(.*)$/,
        command.startsWith("deno serve") ? "$1$2" : `$1$2 --port ${port}`,
      )
      .replace("--demo", "--demo --port 0")
      .replace("jsr:@modelmesh/core/proxy", new URL("proxy.ts", root).pathname)
      .replace("deno serve", `deno serve --config ${new URL("deno.json", root).pathname}`) // it looks for it in the folder
      .replace(/^deno (run|serve)/, `${Deno.execPath()} $1 --no-check`);
  const options = {
    cwd: folder.path,
    env: {
      PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH")}`,
      OPENAI_API_KEY: "sk-of-the-operator-0123456789",
      OPENAI_BASE_URL: upstream.url,
      MODELMESH_TOKEN: token,
      MODELMESH_CONFIG: "modelmesh.yaml",
      ...env,
    },
  };
  const same = (command: string) => command;
  return {
    upstream,
    folder,
    start: (command, edit = same) =>
      spawnCommand([], { ...options, command: place(edit(command)).split(" ") as [string, ...string[]] }),
    startOnTerminal: (command, edit = same) =>
      spawnCommand([], { ...options, command: ["script", "-qefc", place(edit(command)), "/dev/null"] }),
    async [Symbol.asyncDispose]() {
      await upstream[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Chats over a configuration, if there is an argument, else over the providers of the environment. */
const program = `
  import { create } from ${JSON.stringify(new URL("mod.ts", root).href)};
  const client = Deno.args.length === 0 ? create("chat-completion") : create({ config: Deno.args[0] });
  const { choices } = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
  await client.close();
  console.log(choices[0].message.content);
`;

const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

/** Sends a chat request to a proxy. */
export async function request(url: string, model = "assistant"): Promise<Response> {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] });
  return await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
}

/** Uses a proxy: chat, the dashboard, the metrics. */
export async function useProxy(url: string, model = "chat-completion"): Promise<void> {
  const response = await request(url, model);
  assertEquals(response.status, 200, await response.text());
  for (const path of ["/ui", "/metrics"]) {
    const page = await fetch(url + path, { headers: { ...headers, accept: "text/html,text/plain" } });
    assertEquals(page.status, 200, await page.text());
  }
}
