/** A web page that calls a proxy of ours, which keeps the keys, from another origin. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { startTestProxy } from "../support/proxy.ts";
import { Gate, respond, startUpstream, stream } from "../support/upstream.ts";
import { describeInChromium } from "./_chromium.ts";
import { streamed } from "./_programs.ts";

const token = "token-of-the-page-0123456789";

describeInChromium("A page that calls a proxy", (open) => {
  it("with a token, from any origin, gets a stream event by event", async () => {
    const gate = new Gate();
    gate.open(2);
    await using upstream = await startUpstream(stream({ pieces: ["one", "two"], gate }));
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, tokens: [token] });
    await using page = await open({ host: "app.example" });
    const done = page.run(streamed, { proxyUrl: proxy.url, apiKey: token });
    await page.shows("one");
    await gate.reached(3);
    assertEquals(await page.text(), "one");
    gate.openAll();
    assertEquals(await done, ["one", "two"]);
    assertEquals(upstream.requests[0]?.headers.authorization, "Bearer key-of-a-0123456789", "the proxy's own key");
  });

  it("without a token, from the own machine, is answered", async () => {
    await using upstream = await startUpstream(respond({ text: "Hello" }));
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    await using page = await open({ host: "localhost" });
    for (const proxyUrl of [proxy.url, `${proxy.url}/`, `${proxy.url}/v1`]) {
      assertEquals(await page.run(streamed, { proxyUrl }), ["Hello"]);
    }
  });

  it("without a token, from elsewhere, is answered what to do, and is served once that is done", async () => {
    await using upstream = await startUpstream(respond({ text: "Hello" }));
    await using page = await open({ host: "app.example" });
    {
      await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
      const error = await page.failure(streamed, { proxyUrl: proxy.url });
      assertEquals(error.name, "ProviderError");
      assertStringIncludes(error.text, "proxy.cors.origins");
      assertEquals(upstream.calls, 0);
    }
    const config = { proxy: { cors: { origins: [page.origin] } } };
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, config });
    assertEquals(await page.run(streamed, { proxyUrl: proxy.url }), ["Hello"]);
  });

  it("with a wrong token is answered so, without the token", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, tokens: [token] });
    await using page = await open({ host: "app.example" });
    const wrong = "token-of-somebody-else-0123456789";
    const error = await page.failure(streamed, { proxyUrl: proxy.url, apiKey: wrong });
    assertEquals([error.name, error.code], ["ProviderError", "upstream_auth_error"]);
    assert(!`${error.text}${page.console}`.includes(wrong), "the token is shown");
    assertEquals(upstream.calls, 0);
  });
});
