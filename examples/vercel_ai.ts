// deno-lint-ignore-file no-import-prefix -- in an npm project: "ai"
/**
 * The Vercel AI SDK with ModelMesh in process, without a proxy.
 *
 *     deno run -A examples/vercel_ai.ts
 *
 * Providers are detected by their API keys in the environment. Without any, use the demo as a local server:
 * `VLLM_HOST=127.0.0.1:8080`.
 */
import { mesh } from "@modelmesh/core/ai-sdk";
import { streamText } from "npm:ai@7.0.173";

const { textStream, totalUsage, response } = streamText({
  model: mesh("chat-completion"),
  prompt: "What is a failover?",
});
for await (const text of textStream) await Deno.stdout.write(new TextEncoder().encode(text));
console.log(`\n— ${(await response).modelId}, ${(await totalUsage).totalTokens} tokens`);
