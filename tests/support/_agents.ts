/**
 * Coding agents from npm, at exact versions: Claude Code, Codex and Gemini CLI. They run with a home folder of their
 * own, with telemetry and updates off, and with an outbound proxy that refuses and records whatever leaves this machine.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import type { Reply, ReplyCall } from "./_dialects.ts";
import type { Play, Turn } from "./_tool_loop.ts";

/** Where an agent works, and with which model. */
export interface Assignment {
  /** URL of the proxy, without path. */
  readonly url: string;
  /** A pool or an alias. */
  readonly model: string;
  readonly prompt: string;
}

/** How an agent is started. */
interface Start {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files in its home folder, by path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** An agent. */
export interface Agent {
  readonly name: string;
  /** Its package, with the version. */
  readonly package: string;
  /** Name of its program. */
  readonly program: string;
  start(assignment: Assignment): Start;
  /** A model that reads two files at once, writes their words to a third one, and ends its turn. */
  play(folder: string): Play;
}

/** The files that an agent reads; it writes `out.txt`. */
export const sources: Readonly<Record<string, string>> = {
  "a.txt": "the first word is kumquat\n",
  "b.txt": "the second word is ranunculus\n",
};

/** What an agent writes, after it has read the files. */
export const written = "kumquat ranunculus\n";

/** What an agent says at the end. */
export const conclusion = "Done: both words are written.";

/** A model that calls the tools of an agent: two at once, then another one. */
function playing(tool: string, reads: readonly ReplyCall[], write: (words: string) => ReplyCall): Play {
  return ({ tools, results }: Turn): Reply => {
    const id = `turn_${crypto.randomUUID()}`; // Claude Code joins messages with the same id
    if (!tools.includes(tool)) return { id, pieces: ["{}"] }; // a helper's request
    if (results.length === 0) return { id, pieces: ["I read", " both."], thoughts: "Let me see", calls: reads };
    const found = ["first", "second"].map((which) => findWord(results, which));
    if (results.length === reads.length) return { id, calls: [write(found.join(" "))] };
    return { id, pieces: conclusion.match(/\s*\S+/g)! };
  };
}

function findWord(results: readonly string[], which: string): string {
  return results.join("\n").match(new RegExp(`${which} word is (\\w+)`))?.[1] ?? "nothing";
}

const claudeCode: Agent = {
  name: "Claude Code",
  package: "@anthropic-ai/claude-code@2.1.332",
  program: "claude",
  start: ({ url, model, prompt }) => ({
    args: ["-p", prompt, "--allowedTools", "Read,Write,Edit,Bash,WebSearch", "--output-format", "text"],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: "token",
      ANTHROPIC_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_TELEMETRY: "1",
    },
  }),
  play(folder) {
    const read = (id: string, name: string) => ({ id, name: "Read", input: { file_path: join(folder, name) } });
    return playing("Write", [read("toolu_a", "a.txt"), read("toolu_b", "b.txt")], (words) => ({
      id: "toolu_c",
      name: "Write",
      input: { file_path: join(folder, "out.txt"), content: `${words}\n` },
    }));
  },
};

const codex: Agent = {
  name: "Codex",
  package: "@openai/codex@0.171.0",
  program: "codex",
  start: ({ url, model, prompt }) => ({
    args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
    env: { MESH_TOKEN: "token" },
    files: {
      ".codex/config.toml": `model = "${model}"
model_provider = "mesh"
check_for_update_on_startup = false

[analytics]
enabled = false

# would be asked for on the internet
[features]
plugins = false
apps = false

[model_providers.mesh]
name = "mesh"
base_url = "${url}/v1"
env_key = "MESH_TOKEN"
wire_api = "responses"
`,
    },
  }),
  play() {
    const run = (id: string, cmd: string) => ({ id, name: "exec_command", input: { cmd } });
    return playing(
      "exec_command",
      [run("call_a", "cat a.txt"), run("call_b", "cat b.txt")],
      (words) => run("call_c", `echo '${words}' > out.txt`),
    );
  },
};

/** Codex with its built-in provider, which sends requests over a WebSocket. */
export const codexBySocket: Agent = {
  ...codex,
  start: (assignment) => {
    const { args } = codex.start(assignment);
    return {
      args,
      env: { CODEX_API_KEY: "token" },
      files: {
        ".codex/config.toml": `model = "${assignment.model}"
openai_base_url = "${assignment.url}/v1"
check_for_update_on_startup = false

[analytics]
enabled = false

# would be asked for on the internet
[features]
plugins = false
apps = false
`,
      },
    };
  },
};

const geminiCli: Agent = {
  name: "Gemini CLI",
  package: "@google/gemini-cli@0.61.0",
  program: "gemini",
  start: ({ url, model, prompt }) => ({
    args: ["-p", prompt, "-m", model, "--approval-mode", "yolo", "--output-format", "text"],
    env: { GEMINI_API_KEY: "token", GOOGLE_GEMINI_BASE_URL: url, GEMINI_TELEMETRY_ENABLED: "false" },
    files: {
      ".gemini/settings.json": JSON.stringify({
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        telemetry: { enabled: false },
        tools: { useRipgrep: false }, // would be downloaded
      }),
    },
  }),
  play(folder) {
    const read = (id: string, name: string, state?: string) => ({
      ...{ id, name: "read_file", input: { file_path: name } },
      ...(state === undefined ? {} : { state }),
    });
    return playing("read_file", [read("call_a", "a.txt", "c2lnbmVkLW9uZQ=="), read("call_b", "b.txt")], (words) => ({
      id: "call_c",
      name: "write_file",
      input: { file_path: join(folder, "out.txt"), content: `${words}\n` },
      state: "c2lnbmVkLXR3bw==",
    }));
  },
};

/** The agents. */
export const agents: readonly Agent[] = [claudeCode, codex, geminiCli];

/** Installed agents. */
export interface InstalledAgents extends AsyncDisposable {
  /** Runs an agent in a folder until it ends. */
  run(agent: Agent, folder: string, assignment: Assignment): Promise<AgentEnd>;
}

/** How an agent ended. */
export interface AgentEnd {
  /** Exit code; -1 when it was stopped after a timeout. */
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Requests that would have left this machine. */
  readonly outbound: readonly string[];
}

/** Time for an installation of about 900 MB, and for an agent, ms. */
const installMs = 600_000;
const runMs = 120_000;

/**
 * Installs the agents into a temporary folder. Without npm's registry, tests that need them are skipped with a message;
 * with `CI` set, they fail.
 */
export async function installAgents(): Promise<InstalledAgents | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "modelmesh-agents-"));
  await writeFile(join(folder, "package.json"), '{ "private": true }\n');
  const packages = agents.map((agent) => agent.package);
  const network = ["--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
  const args = ["install", "--no-audit", "--no-fund", ...network, ...packages];
  const { code, err } = await execute("npm", args, { cwd: folder, env: process.env, timeout: installMs });
  if (code === 0) return new Installation(folder);
  await rm(folder, { recursive: true });
  const line = `npm cannot install ${packages.join(", ")}: the agents ARE NOT TESTED`;
  if (process.env.CI) throw new Error(`${line}\n${err}`);
  console.error(`\n!!! ${line}\n${err}\n`);
}

class Installation implements InstalledAgents {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async run(agent: Agent, folder: string, assignment: Assignment): Promise<AgentEnd> {
    const home = await mkdtemp(join(this.#folder, "home-"));
    const { args, env, files = {} } = agent.start(assignment);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), text);
    }
    await using refusing = await startRefusingProxy();
    const { PATH = "" } = process.env;
    const program = join(this.#folder, "node_modules", ".bin", agent.program);
    const options = { cwd: folder, env: { PATH, HOME: home, NO_COLOR: "1", ...refusing.env, ...env }, timeout: runMs };
    return { ...await execute(program, args, options), outbound: refusing.asked };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

interface ExecuteOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeout: number;
}

function execute(
  program: string,
  args: readonly string[],
  options: ExecuteOptions,
): Promise<Omit<AgentEnd, "outbound">> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { ...options, maxBuffer: 50_000_000 }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, out, err: code === -1 ? `${error}\n${err}` : err });
    });
    child.stdin?.end();
  });
}

/** An outbound proxy that refuses, and records the requests. */
async function startRefusingProxy(): Promise<
  AsyncDisposable & { readonly env: Readonly<Record<string, string>>; readonly asked: readonly string[] }
> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(403).end();
  });
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    ...{ HTTP_PROXY: url, HTTPS_PROXY: url, ALL_PROXY: url, NO_PROXY: "127.0.0.1" },
    ...{ http_proxy: url, https_proxy: url, all_proxy: url, no_proxy: "127.0.0.1" },
  };
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { env, asked, [Symbol.asyncDispose]: close };
}
