/**
 * `--demo`: three simulated providers on loopback HTTP, to watch a failover without an API key.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { RunningServer, Shell } from "../contracts/shell.ts";

/** `Retry-After` of the second provider, seconds. It rejects every other call, beginning with the first. */
const retryAfterSeconds = 5;

/** The running providers, and a proxy configuration that uses them. */
export interface Demo {
  readonly config: Readonly<Record<string, unknown>>;
  /** Stops the providers. */
  stop(): Promise<void>;
}

interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly text: string;
}

/** Starts the providers on free ports. */
export async function startDemo(shell: Pick<Shell, "serve">, clock: Clock): Promise<Demo> {
  let calls = 0;
  const isRefused = () => calls++ % 2 === 0;
  const start = (
    dialect: (request: ChatRequest, words: readonly string[], clock: Clock) => Response,
    refuses: () => boolean,
  ): Promise<RunningServer> =>
    shell.serve(async (request) => {
      const chat = readChatRequest(await request.json());
      if (refuses()) return rateLimited();
      const words = `Hello from ${chat.model}, a simulated provider. You said: ${chat.text}`.split(/(?<= )/);
      return dialect(chat, words, clock);
    }, { host: "127.0.0.1", port: 0 });
  const servers = await Promise.all([
    start(openAiDialect, () => false),
    start(openAiDialect, isRefused),
    start(anthropicDialect, () => false),
  ]);
  return {
    config: createDemoConfig(servers.map(({ port }) => `http://127.0.0.1:${port}/v1`)),
    async stop() {
      await Promise.all(servers.map((server) => server.stop(0)));
    },
  };
}

function createDemoConfig([alpha, beta, gamma]: readonly string[]): Demo["config"] {
  return {
    providers: {
      "demo-alpha": { connector: "openai.compatible.v1", base_url: alpha, api_key: "demo" },
      "demo-beta": { connector: "openai.compatible.v1", base_url: beta, api_key: "demo" },
      "demo-gamma": {
        connector: "anthropic.claude.v1",
        base_url: gamma,
        api_key: "demo",
        discovery: { enumerate_models: false }, // the models below are complete
      },
    },
    models: {
      "alpha": model("demo-alpha", { input: 0.1, output: 0.4 }),
      "beta": model("demo-beta", { input: 0.2, output: 0.8 }),
      "gamma": model("demo-gamma", { input: 0.3, output: 1.5 }),
    },
    pools: { "chat-completion": { capability: "chat-completion", strategy: "round-robin" } },
  };
}

function model(provider: string, pricing: { input: number; output: number }): Record<string, unknown> {
  return { provider, capabilities: ["chat-completion"], pricing };
}

function readChatRequest(body: { model: string; stream?: boolean; messages: { content: unknown }[] }): ChatRequest {
  const content = body.messages.at(-1)?.content;
  const text = Array.isArray(content) ? content.map((part) => part?.text ?? "").join("") : String(content ?? "");
  return { model: body.model, stream: body.stream === true, text: text.slice(0, 200) };
}

function rateLimited(): Response {
  return Response.json(
    { error: { message: "Too many requests", type: "rate_limit_error", param: null, code: "rate_limit_exceeded" } },
    { status: 429, headers: { "retry-after": String(retryAfterSeconds) } },
  );
}

function openAiDialect({ model, stream, text }: ChatRequest, words: readonly string[], clock: Clock): Response {
  const head = { id: `demo-${crypto.randomUUID()}`, created: Math.floor(clock.now() / 1000), model };
  const usage = estimateUsage(text, words);
  if (!stream) {
    const message = { role: "assistant", content: words.join(""), refusal: null };
    const choices = [{ index: 0, message, finish_reason: "stop", logprobs: null }];
    return Response.json({ ...head, object: "chat.completion", choices, usage });
  }
  const event = (choices: unknown[], rest: Record<string, unknown> = {}) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices, ...rest })}\n\n`;
  const choice = (delta: unknown, finish_reason: string | null) => [{ index: 0, delta, finish_reason, logprobs: null }];
  return eventStream([
    event(choice({ role: "assistant", content: "" }, null)),
    ...words.map((word) => event(choice({ content: word }, null))),
    event(choice({}, "stop")) + event([], { usage }) + "data: [DONE]\n\n",
  ], clock);
}

function anthropicDialect({ model, stream, text }: ChatRequest, words: readonly string[], clock: Clock): Response {
  const { prompt_tokens: input_tokens, completion_tokens: output_tokens } = estimateUsage(text, words);
  const head = { id: `msg_${crypto.randomUUID()}`, type: "message", role: "assistant", model, stop_sequence: null };
  if (!stream) {
    const content = [{ type: "text", text: words.join("") }];
    return Response.json({ ...head, content, stop_reason: "end_turn", usage: { input_tokens, output_tokens } });
  }
  const event = (type: string, rest: Record<string, unknown>) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  return eventStream([
    event("message_start", {
      message: { ...head, content: [], stop_reason: null, usage: { input_tokens, output_tokens: 1 } },
    }) + event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...words.map((word) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text: word } })),
    event("content_block_stop", { index: 0 }) +
    event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens } }) +
    event("message_stop", {}),
  ], clock);
}

/** Estimates token counts. */
function estimateUsage(text: string, words: readonly string[]) {
  const prompt_tokens = Math.ceil(text.length / 4) + 3;
  const completion_tokens = words.length;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/** Sends an event stream word by word, slowly enough to watch. */
function eventStream(chunks: readonly string[], clock: Clock): Response {
  const encoder = new TextEncoder();
  let next = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (next > 0) await clock.sleep(40);
      controller.enqueue(encoder.encode(chunks[next++]!));
      if (next === chunks.length) controller.close();
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
