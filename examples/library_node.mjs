// @ts-check
/**
 * The library on Node 20: routing events on standard error, the response on standard output.
 *
 *     npm install @modelmesh/core
 *     node library_node.mjs "What is a failover?"
 *
 * Providers are detected by their API keys in the environment. Without any, use the demo as a local server:
 * `VLLM_HOST=127.0.0.1:8080`.
 */
import { create, NoProvidersError, routingOf } from "@modelmesh/core";
import process from "node:process";

const [question = "What is a failover?"] = process.argv.slice(2);
try {
  const client = create("chat-completion", {
    on: (record) => record.type === "event" && console.error(`${record.event}: ${record.model} (${record.reason})`),
  });
  const stream = await client.chat.completions.create({
    messages: [{ role: "user", content: question }],
    stream: true,
  });
  for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");
  process.stdout.write(`\n— ${routingOf(stream)?.model}\n`);
  await client.close();
} catch (error) {
  if (!NoProvidersError.isInstance(error)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
