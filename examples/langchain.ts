// deno-lint-ignore-file no-import-prefix -- in an npm project: "@langchain/openai"
/**
 * LangChain with the proxy.
 *
 *     deno run -A examples/langchain.ts http://127.0.0.1:8080
 */
import { ChatOpenAI } from "npm:@langchain/openai@1.6.0";

const [address = "http://127.0.0.1:8080"] = Deno.args;
const model = new ChatOpenAI({
  model: "chat-completion",
  apiKey: "the token, or any text if none is set",
  configuration: { baseURL: `${address}/v1` },
});

const answer = await model.invoke("What is a failover?");
console.log(answer.text);

for await (const { text } of await model.stream("And a circuit breaker?")) {
  await Deno.stdout.write(new TextEncoder().encode(text));
}
console.log();
