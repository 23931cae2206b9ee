import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { BrowserBaseProvider, create, createBrowserProviderConfig, ProviderError, routingOf } from "../../browser.ts";
import { startTestProxy } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";
import { key, messages, providerAt, read } from "./_provider.ts";

const token = "token-of-the-page-0123456789";

describe("proxyUrl", () => {
  it("alone is a ModelMesh proxy, which keeps the keys; a version or a slash at its end does not matter", async () => {
    await using upstream = await startUpstream(respond({ text: "Hello" }));
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, tokens: [token] });
    for (const proxyUrl of [proxy.url, `${proxy.url}/`, `${proxy.url}/v1`, `${proxy.url}/v1/`]) {
      const config = createBrowserProviderConfig({ proxyUrl, apiKey: token, models: ["chat"] });
      await using client = create("chat-completion", { providers: [new BrowserBaseProvider(config)] });
      const { choices } = await client.chat.completions.create({ messages });
      assertEquals(choices[0]?.message.content, "Hello");
      assertEquals(await read(await client.chat.completions.create({ messages, stream: true })), "Hello");
    }
    assertEquals(upstream.calls, 8);
    assertEquals(upstream.requests[0]?.headers.authorization, "Bearer key-of-a-0123456789");
  });

  it("that is a ModelMesh proxy says who answered behind it", async () => {
    await using upstream = await startUpstream(respond({ text: "Hello" }));
    await using proxy = await startTestProxy({ upstreams: { alpha: upstream.url } });
    const config = createBrowserProviderConfig({ proxyUrl: proxy.url, models: ["chat"] });
    await using client = create("chat-completion", { providers: [new BrowserBaseProvider(config)] });
    const served = { model: "alpha", provider: "alpha" };
    assertEquals(routingOf(await client.chat.completions.create({ messages }))?.served_by, served);
    const stream = await client.chat.completions.create({ messages, stream: true });
    assertEquals(routingOf(stream)?.served_by, served);
    assertEquals(await read(stream), "Hello");
  });

  it("reports that the proxy requires a token, or does not accept the one of the page, and where both are set", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, tokens: [token] });
    const host = new URL(proxy.url).host;
    const remedy = `set the API key of "${host}" (apiKey, or api_key in a configuration) to a token of the proxy, ` +
      "which has them from --token, MODELMESH_TOKEN and proxy.auth";
    const rows = [
      [undefined, `The proxy at ${host} requires a token, and none was sent: ${remedy}`],
      ["token-of-another-page", `The proxy at ${host} does not accept the token that was sent: ${remedy}`],
    ] as const;
    for (const [apiKey, message] of rows) {
      for (const options of [{ proxyUrl: proxy.url }, { baseUrl: `${proxy.url}/v1` }]) {
        const config = createBrowserProviderConfig({ ...options, apiKey, models: ["chat"] });
        await using client = create("chat-completion", { providers: [new BrowserBaseProvider(config)] });
        for (const stream of [false, true]) {
          const error = await assertRejects(() => client.chat.completions.create({ messages, stream }), ProviderError);
          assertEquals([error.message, error.code], [message, "upstream_auth_error"]);
        }
      }
    }
    assertEquals(upstream.calls, 0);
  });

  it("with an address is a forwarder in front of it", async () => {
    await using forwarder = await startUpstream(respond());
    const proxyUrl = `http://127.0.0.1:${forwarder.port}/to/`;
    const provider = providerAt("https://api.acme.example/v1/", { proxyUrl });
    assertEquals(provider.id, "api.acme.example");
    await using client = create("chat-completion", { providers: [provider] });
    await client.chat.completions.create({ messages });
    assertEquals(forwarder.requests[0]?.path, "/to/https://api.acme.example/v1/chat/completions");
    assertEquals(forwarder.requests[0]?.headers.authorization, `Bearer ${key}`);
  });

  it("forwards a subclass's own address once, whether or not it has resolved it already", async () => {
    await using forwarder = await startUpstream(respond());
    const proxyUrl = `http://127.0.0.1:${forwarder.port}`;
    class Plain extends BrowserBaseProvider {
      protected override _getCompletionEndpoint() {
        return "https://api.acme.example/v2/chat";
      }
    }
    class Eager extends Plain {
      protected override _getCompletionEndpoint() {
        return this._resolveUrl(super._getCompletionEndpoint());
      }
    }
    for (const Provider of [Plain, Eager]) {
      const provider = new Provider(createBrowserProviderConfig({ id: "acme", proxyUrl, models: ["m"] }));
      await using client = create("chat-completion", { providers: [provider] });
      await client.chat.completions.create({ messages });
    }
    assertEquals(forwarder.requests.map(({ path }) => path), Array(2).fill("/https://api.acme.example/v2/chat"));
  });
});
