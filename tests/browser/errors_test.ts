/** What a web page reads when it cannot be answered. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { refusingUrl, respond, startUpstream, status } from "../support/upstream.ts";
import { describeInChromium } from "./_chromium.ts";
import type { PageError, Program, TestPage } from "./_page.ts";
import { startProvider } from "./_provider.ts";

const key = "key-of-the-user-0123456789";

/** Asks one provider, whose address has a secret in it. */
const asked: Program<{ url: string; key: string }, string> = async (modelmesh, { url, key }) => {
  const { BrowserBaseProvider, create, createBrowserProviderConfig } = modelmesh;
  class Acme extends BrowserBaseProvider {
    protected override _getCompletionEndpoint() {
      return `${url}/chat/completions?secret=in-the-query`;
    }
  }
  const acme = new Acme(createBrowserProviderConfig({ apiKey: key, models: ["small"] }));
  const client = create("chat-completion", { providers: [acme], random: () => 0 }); // no wait between tries
  const answer = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
  await client.close();
  return answer.choices[0]?.message.content ?? "";
};

/** Fails unless an error says what to do, and neither it nor the console gives the key away. */
function assertReports({ name, text }: PageError, page: TestPage, ...parts: readonly string[]): void {
  assertEquals(name, "ProviderError");
  for (const part of parts) assertStringIncludes(text, part);
  assert(!`${text}${page.console}`.includes(key), "the key is shown");
  assert(!text.includes("in-the-query"), "the query is shown");
}

describeInChromium("A page is told what to do", (open) => {
  it("when no provider is given", async () => {
    await using page = await open();
    for (const options of [undefined, {}, { providers: [] }]) {
      const error = await page.failure(`({ create }, options) => create("chat-completion", options)`, options);
      assertEquals(error.name, "NoProvidersError");
      assertStringIncludes(error.message, "Pass one");
    }
  });

  it("when the provider's response has no CORS headers", async () => {
    await using page = await open();
    for (const toPreflight of [status(405), status(204)]) {
      await using provider = await startUpstream(({ method }) => method === "OPTIONS" ? toPreflight : respond());
      const error = await page.failure(asked, { url: provider.url, key });
      assertReports(error, page, "CORS", "proxyUrl", "proxy.cors.origins");
    }
  });

  it("when no server listens at the provider's address", async () => {
    await using page = await open();
    assertReports(await page.failure(asked, { url: await refusingUrl(), key }), page, "no server listening");
  });

  it("when there is no network", async () => {
    await using provider = await startProvider(respond());
    await using page = await open();
    const askOffline = async () => {
      await page.setOffline(true);
      return await page.failure(asked, { url: provider.url, key });
    };
    let report = await askOffline();
    // pages of one process share `navigator.onLine`, and another test may have opened one
    for (let turn = 0; turn < 5 && !report.text.includes("offline"); turn++) report = await askOffline();
    assertReports(report, page, "offline");
    await page.setOffline(false);
    assertEquals(await page.run(asked, { url: provider.url, key }), "Hello world");
  });

  it("when the provider's address leads elsewhere", async () => {
    await using provider = await startProvider(status(307, { headers: { location: "http://127.0.0.1:9/" } }));
    await using page = await open();
    assertReports(await page.failure(asked, { url: provider.url, key }), page, "misconfigured, 302");
    assertEquals(provider.requests.length, 1, "it would lead there again");
  });

  it("when the key is refused", async () => {
    await using provider = await startProvider(status(401, { error: { message: `Incorrect API key: ${key}` } }));
    await using page = await open();
    assertReports(await page.failure(asked, { url: provider.url, key }), page, "401");
  });
});
