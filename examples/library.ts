/**
 * The library: a non-streaming response, a streamed one, and the models that answered.
 *
 *     deno run -A examples/library.ts "What is a failover?"
 *
 * Providers are detected by their API keys in the environment. Without any, use the demo as a local server:
 * `VLLM_HOST=127.0.0.1:8080`.
 */
import { create, routingOf } from "@modelmesh/core";

const [question = "What is a failover?"] = Deno.args;
const messages = [{ role: "user" as const, content: question }];

await using client = create("chat-completion");

const answer = await client.chat.completions.create({ messages });
console.log(answer.choices[0]?.message.content);
console.log(`— ${routingOf(answer)?.model}\n`);

const stream = await client.chat.completions.create({ messages, stream: true });
for await (const chunk of stream) {
  await Deno.stdout.write(new TextEncoder().encode(chunk.choices[0]?.delta.content ?? ""));
}
console.log(`\n— ${routingOf(stream)?.model}`);
