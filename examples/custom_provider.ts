/**
 * A custom provider: answers from a table, as the last resort of a pool.
 *
 *     deno run -A examples/custom_provider.ts http://127.0.0.1:8080 "When are you open?"
 *
 * While the demo runs, its models answer. When it is stopped, the table answers.
 */
import {
  BaseProvider,
  type ChatCompletion,
  type CompletionChunk,
  type CompletionRequest,
  type CompletionResponse,
  create,
  routingOf,
} from "@modelmesh/core";

const [address = "http://127.0.0.1:8080", question = "When are you open?"] = Deno.args;

/** Answers by keywords in the question. */
class TableProvider extends BaseProvider {
  readonly #answers: Readonly<Record<string, string>>;

  constructor(answers: Readonly<Record<string, string>>) {
    super("table", [{ id: "table-1", capabilities: ["chat-completion"] }]);
    this.#answers = answers;
  }

  override listModels() {
    return Promise.resolve([]);
  }

  protected override chat({ body, model }: CompletionRequest): Promise<CompletionResponse> {
    const message = { role: "assistant" as const, content: this.#find(body), refusal: null };
    const choices = [{ index: 0, message, finish_reason: "stop" as const, logprobs: null }];
    const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const answer: ChatCompletion = { ...head(model.id), object: "chat.completion", choices, usage };
    return Promise.resolve({ body: answer });
  }

  override async *stream({ body, model }: CompletionRequest): AsyncGenerator<CompletionChunk> {
    const chunk = { ...head(model.id), object: "chat.completion.chunk" as const };
    const delta = { role: "assistant" as const, content: this.#find(body) };
    yield await Promise.resolve({ value: { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] } });
    yield { value: { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] } };
  }

  #find({ messages }: CompletionRequest["body"]): string {
    const asked = String(messages.at(-1)?.content).toLowerCase();
    const word = Object.keys(this.#answers).find((word) => asked.includes(word));
    return word === undefined ? "Please call us." : this.#answers[word]!;
  }
}

function head(model: string) {
  return { id: `table-${crypto.randomUUID()}`, created: Math.floor(Date.now() / 1000), model };
}

await using client = create({
  config: {
    providers: {
      demo: { connector: "openai.compatible.v1", base_url: `${address}/v1`, discovery: { enumerate_models: false } },
      table: { instance: new TableProvider({ open: "From 9 to 17 h.", price: "Ten francs." }) },
    },
    models: {
      "demo-chat": { provider: "demo", model: "chat-completion", capabilities: ["chat-completion"] },
      "table-1": { provider: "table", pricing: { input: 0, output: 0 } },
    },
    pools: {
      desk: {
        models: ["demo-chat", "table-1"],
        strategy: "priority-selection",
        model_priority: ["demo-chat", "table-1"],
        retry: { max_attempts: 0 },
      },
    },
  },
});

const answer = await client.chat.completions.create({ messages: [{ role: "user", content: question }] });
console.log(answer.choices[0]?.message.content);
console.log(`— ${routingOf(answer)?.model}`);
