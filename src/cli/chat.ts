/**
 * `modelmesh chat`: sends a prompt, or those of a conversation, and prints the responses as they arrive.
 * @module
 */
import { servesOperation } from "../capability/operations.ts";
import { capabilityTree } from "../capability/tree.ts";
import type { UpstreamResponse } from "../contracts/runtime.ts";
import { MeshError } from "../errors.ts";
import { isObject } from "../util/is_object.ts";
import { SseParser } from "../util/sse_parse.ts";
import { type Command, type CommandParts, type Flags, UsageError } from "./command.ts";
import type { ChatBody, StreamedAsk } from "./conversation.ts";
import { LocalProxy } from "./local_proxy.ts";
import { fetchPools } from "./pools.ts";
import { ProgressLine } from "./progress.ts";
import { readBodyChunks, readBodyText, remoteHelp, RemoteProxy, remoteValues } from "./remote.ts";
import { printable } from "../util/printable.ts";
import { counted, paintFor } from "./table.ts";

/** A running proxy, or one in this process. */
export type AnyProxy = Pick<RemoteProxy, "send" | "json">;

const usage = `Usage: modelmesh chat [prompt] [options]

Sends one prompt. The response is streamed to standard output, and the model that served it is printed to standard error.
Without a prompt, a terminal begins a conversation: each line is sent with all before it. Ctrl-C stops a response, and at the
prompt it ends the conversation, as Ctrl-D does. Otherwise, and with "-", standard input is the prompt. Requests run in this
process, with the configured or detected providers, unless --url names a running proxy.

Options:
  --model <name>       Pool, model or capability; by default the first pool for chat
  --system <text>      System prompt
  --config <file>      Configuration (.yaml, .yml or .json) for a request in this process
${remoteHelp}
  --env-file <file>    Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json               Print {"model", "provider", "pool", "content", "usage", "cost_usd", …} as JSON when complete
  --help               Show this help

Examples:
  modelmesh chat
  modelmesh chat "What is an entry point?"
  modelmesh chat "Translate to French" --system "Answer in one line" --model chat-completion
  modelmesh chat - --url http://127.0.0.1:8080 --json

Exit code: 0 done, 1 failed, 2 usage error
`;

export const chat: Command = {
  help: usage,
  values: ["model", "system", "config", ...remoteValues],
  maxArguments: 1,
  async run(flags, parts) {
    const isConversation = flags.positional.length === 0 && parts.shell.isInteractive;
    const prompt = isConversation ? undefined : await readPrompt(flags, parts);
    if (isConversation && flags.json) throw new UsageError('"--json" needs a prompt: modelmesh chat "…" --json');
    const { proxy, close } = await openProxy(flags, parts);
    try {
      const system = flags.value("system");
      const before = system === undefined ? [] : [{ role: "system", content: system } as const];
      const model = flags.value("model") ?? await defaultModel(proxy);
      if (prompt === undefined) {
        const { converse } = await import("./conversation.ts");
        await converse(
          { model, before, ask: (body, options) => askStreamed(body, proxy, { ...parts, ...options }) },
          parts,
        );
      } else {
        const body = { model, messages: [...before, { role: "user", content: prompt } as const] };
        await (flags.json ? askNonStreaming : askStreamed)(body, proxy, parts);
      }
      return 0;
    } finally {
      await close();
    }
  },
};

async function readPrompt(flags: Flags, { shell }: CommandParts): Promise<string> {
  const [text] = flags.positional;
  const prompt = text === undefined || text === "-" ? await shell.readInput() : text;
  if (prompt.trim() === "") throw new UsageError("The prompt is blank");
  return prompt;
}

async function openProxy(flags: Flags, parts: CommandParts): Promise<{ proxy: AnyProxy; close: () => Promise<void> }> {
  const isRemote = flags.value("url") !== undefined || parts.runtime.env("MODELMESH_URL") !== undefined;
  if (isRemote && flags.value("config") === undefined) {
    return { proxy: new RemoteProxy(flags, parts.runtime), close: () => Promise.resolve() };
  }
  if (flags.value("url") !== undefined) {
    throw new UsageError('"--config" is for a request in this process: leave out "--url"');
  }
  if (flags.value("token") !== undefined) {
    throw new UsageError('"--token" needs "--url": it is sent to a running proxy');
  }
  const proxy = await LocalProxy.start(flags.value("config"), parts);
  return { proxy, close: () => proxy.close() };
}

/** Returns the first pool for chat. */
async function defaultModel(proxy: AnyProxy): Promise<string> {
  const { pools } = await fetchPools(proxy);
  const tree = capabilityTree();
  const found = pools.find(({ capability }) =>
    capability === null || tree.leaves(capability).some((leaf) => servesOperation(leaf, "chat"))
  );
  if (found !== undefined) return found.name;
  throw new MeshError("No pool serves chat: name a model with --model");
}

const path = "/v1/chat/completions";

async function askNonStreaming(body: ChatBody, proxy: AnyProxy, { shell }: CommandParts): Promise<void> {
  const progress = waiting(shell);
  const send = async () => {
    const response = await proxy.send(path, { method: "POST", body });
    return { response, text: await readBodyText(response) };
  };
  const { response, text } = await send().finally(() => progress.end());
  const { choices, usage, model: id } = JSON.parse(text);
  const header = (name: string) => response.headers.get(name);
  const cost = header("x-mesh-cost-usd");
  const shown = {
    model: header("x-mesh-model") ?? id,
    provider: header("x-mesh-provider"),
    pool: header("x-mesh-pool"),
    attempts: Number(header("x-mesh-attempts") ?? 1),
    fallbacks: Number(header("x-mesh-fallbacks") ?? 0),
    content: choices?.[0]?.message?.content ?? null,
    finish_reason: choices?.[0]?.finish_reason ?? null,
    usage: usage ?? null,
    cost_usd: cost === null ? null : Number(cost),
    request_id: header("x-request-id"),
  };
  shell.stdout.write(`${JSON.stringify(shown)}\n`);
}

async function askStreamed(
  body: ChatBody,
  proxy: AnyProxy,
  { shell, runtime, signal, onText }: Pick<CommandParts, "shell" | "runtime"> & StreamedAsk,
): Promise<void> {
  const startedAt = runtime.clock.monotonic();
  const streamed = { ...body, stream: true, stream_options: { include_usage: true } };
  const progress = waiting(shell);
  const response = await proxy.send(path, { method: "POST", body: streamed, signal }).finally(() => progress.end());
  const { isTerminal } = shell.stdout;
  const safe = (text: string) => isTerminal ? text.split("\n").map(printable).join("\n") : text;
  let last = "\n";
  const tokens = await readStream(response, (text) => {
    shell.stdout.write(safe(text));
    onText?.(text);
    last = text;
  });
  if (!last.endsWith("\n")) shell.stdout.write("\n");
  const ms = Math.round(runtime.clock.monotonic() - startedAt);
  shell.stderr.write(`${paintFor(shell.stderr, runtime).dim(servedBy(response, { tokens, ms }))}\n`);
}

/** Several models may be tried before the first words come. */
function waiting({ stderr }: Pick<CommandParts["shell"], "stderr">): ProgressLine {
  const progress = new ProgressLine(stderr);
  progress.show("Waiting for the response");
  return progress;
}

interface Tokens {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** Writes the text as it arrives. Resolves to the token counts, if reported. */
async function readStream(response: UpstreamResponse, write: (text: string) => void): Promise<Tokens | undefined> {
  const parser = new SseParser();
  let tokens: Tokens | undefined;
  let isComplete = false;
  for await (const chunk of readBodyChunks(response)) {
    for (const { data } of parser.push(chunk)) {
      if (data === "[DONE]") isComplete = true;
      else {
        const { error, choices, usage } = JSON.parse(data);
        if (isObject(error)) {
          throw new MeshError(`The stream was interrupted: ${error.message}`, { code: "stream_interrupted" });
        }
        const text = choices?.[0]?.delta?.content;
        if (typeof text === "string" && text !== "") write(text);
        if (isObject(usage)) tokens = usage as unknown as Tokens;
      }
    }
  }
  if (!isComplete) throw new MeshError("The stream ended before it was complete", { code: "stream_interrupted" });
  return tokens;
}

function servedBy({ headers }: UpstreamResponse, { tokens, ms }: { tokens: Tokens | undefined; ms: number }): string {
  const [model, provider, pool] = ["model", "provider", "pool"].map((name) => headers.get(`x-mesh-${name}`));
  if (!model) return `Served in ${ms} ms`;
  const attempts = Number(headers.get("x-mesh-attempts") ?? 1);
  const facts = [
    `pool ${pool}`,
    ...attempts > 1 ? [counted(attempts, "attempt")] : [],
    ...tokens === undefined ? [] : [`${tokens.prompt_tokens} + ${tokens.completion_tokens} tokens`],
    `${ms} ms`,
  ];
  return printable(`Served by ${model} of ${provider} (${facts.join(", ")})`);
}
