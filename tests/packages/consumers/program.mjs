// A program in plain JavaScript: imports every entry, asks a provider on loopback, non-streaming and streaming.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { create, MeshConfig, MeshError, mockClient, ProviderError, routingOf } from "@modelmesh/core";
import { BaseProvider } from "@modelmesh/core/connectors";
import * as browser from "@modelmesh/core/browser";
import { mesh } from "@modelmesh/core/ai-sdk";
import { main } from "@modelmesh/core/cli";
import { serve } from "@modelmesh/core/proxy";

assert.equal(typeof main, "function");
assert.equal(browser.MeshError, MeshError, "the entries share one engine");
assert.equal(browser.BaseProvider, BaseProvider, "the entries share one engine");

const messages = [{ role: "user", content: "Hi" }];

const mock = mockClient({ responses: ["Hello"] });
assert.equal((await mock.chat.completions.create({ messages })).choices[0].message.content, "Hello");
await mock.close();

let calls = 0;
const provider = createServer((request, response) => {
  let body = "";
  request.on("data", (data) => body += data);
  request.on("end", () => {
    if (++calls === 1) return response.writeHead(503).end("{}");
    answer(JSON.parse(body), response);
  });
});

function answer({ model, stream }, response) {
  const head = { id: "1", created: 1, model };
  const message = { role: "assistant", content: "Hello you" };
  if (!stream) {
    const whole = { ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }] };
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [delta, finish_reason] of [[{ content: "Hello " }, null], [{ content: "you" }, null], [{}, "stop"]]) {
    const chunk = { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}

provider.listen(0, "127.0.0.1");
await once(provider, "listening");
const base_url = `http://127.0.0.1:${provider.address().port}/v1`;
const config = {
  providers: { local: { connector: "openai.compatible.v1", base_url, api_key: "k" } },
  models: { small: { provider: "local", capabilities: ["chat-completion"] } },
  pools: { chat: { capability: "chat-completion", retry: { initial_delay: "1ms", max_delay: "1ms" } } },
};

const client = create({ config });
const { specificationVersion, modelId } = mesh(client)("chat");
assert.deepEqual([specificationVersion, modelId], ["v4", "chat"]);
const whole = await client.chat.completions.create({ messages });
assert.equal(whole.choices[0].message.content, "Hello you");
assert.equal(routingOf(whole).model, "small");
assert.equal(calls, 2, "the first answer was a 503");
let text = "";
for await (const chunk of await client.chat.completions.create({ messages, stream: true })) {
  text += chunk.choices[0]?.delta.content ?? "";
}
assert.equal(text, "Hello you");
await client.close();

await writeFile("written.yaml", MeshConfig.parse(config).toYaml());
const read = create({ config: "written.yaml" }); // YAML is inlined, and loaded when it is needed
await read.ready();
assert.deepEqual(read.mesh.listPools().map(({ name }) => name), ["chat"]);
await read.close();

const proxy = await serve({ config, port: 0 });
const models = await (await fetch(`${proxy.url}/v1/models`)).json();
assert.deepEqual(models.data.map(({ id }) => id).slice(0, 2), ["chat", "small"]);
await proxy.stop();

provider.close();
provider.closeAllConnections();
const failing = create({ config });
const error = await failing.chat.completions.create({ messages }).then(() => undefined, (reason) => reason);
assert.ok(ProviderError.isInstance(error), `nobody listens any more: ${error}`);
await failing.close();
console.log("program: done");
