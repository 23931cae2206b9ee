/**
 * Calls the upstream sequentially with one client library, and prints the CPU time per call, µs, and calls per second.
 *
 * Argument: JSON with `kind`, `library` (URL of this project's library), `url`, and the numbers of calls: `warm` calls
 * before the measurement, and `calls`.
 * @module
 */
import process from "node:process";

const { kind, library, url, warm, calls } = JSON.parse(process.argv[2]);
const messages = [{ role: "user", content: "Tell in a few words how a request finds its way. ".repeat(4) }];
const model = "mock-model";

const clients = {
  fetch() {
    const headers = { "content-type": "application/json", authorization: "Bearer key" };
    return async () => {
      const body = JSON.stringify({ model, messages });
      const response = await fetch(`${url}/chat/completions`, { method: "POST", headers, body });
      return (await response.json()).choices[0].message.content;
    };
  },
  async modelmesh() {
    const { create } = await import(library);
    const client = create({
      config: {
        providers: { mock: { connector: "openai.llm.v1", base_url: url, api_key: "key" } },
        models: { [model]: { provider: "mock", capabilities: ["chat-completion"] } },
        pools: { bench: { models: [model] } },
      },
    });
    return async () => {
      const answer = await client.chat.completions.create({ model: "bench", messages });
      return answer.choices[0].message.content;
    };
  },
  async openai() {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ baseURL: url, apiKey: "key" });
    return async () => (await client.chat.completions.create({ model, messages })).choices[0].message.content;
  },
  async ai() {
    const { generateText } = await import("ai");
    const { createOpenAI } = await import("@ai-sdk/openai");
    const chat = createOpenAI({ baseURL: url, apiKey: "key" }).chat(model);
    return async () => (await generateText({ model: chat, messages })).text;
  },
};

const call = await clients[kind]();
for (let index = 0; index < warm; index++) {
  if (!(await call()).startsWith("token ")) throw new Error("the answer is not the upstream's");
}
const before = process.cpuUsage();
const from = performance.now();
for (let index = 0; index < calls; index++) await call();
const { user, system } = process.cpuUsage(before);
const seconds = (performance.now() - from) / 1000;
process.stdout.write(`${JSON.stringify({ cpuMicros: (user + system) / calls, perSecond: calls / seconds })}\n`, () => {
  process.exit(0);
});
