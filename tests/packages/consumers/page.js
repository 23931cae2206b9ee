// A page's program: one provider, streamed into the document.
import { BrowserBaseProvider, create, createBrowserProviderConfig } from "@modelmesh/core/browser";

const config = createBrowserProviderConfig({ baseUrl: "https://api.example.com/v1", apiKey: "k", models: ["m"] });
const client = create("chat-completion", { providers: [new BrowserBaseProvider(config)] });
const messages = [{ role: "user", content: "Hi" }];

for await (const chunk of await client.chat.completions.create({ messages, stream: true })) {
  document.body.append(chunk.choices[0]?.delta.content ?? "");
}
