/** The dashboard's playground. */
import { assertEquals, assertMatch } from "@std/assert";
import { Gate, respond, startUpstream, status, stream } from "../support/upstream.ts";
import { testInChromium } from "./_chromium.ts";
import { Dashboard, startDashboardProxy } from "./_dashboard.ts";

const once = { retry: { max_attempts: 0 } };

testInChromium("The playground shows an answer while it is written, and then how it was routed", async (browser) => {
  const gate = new Gate();
  await using first = await startUpstream(status(500));
  await using second = await startUpstream(stream({ pieces: ["Hel", "lo"], gate }));
  const upstreams = { first: first.url, second: second.url };
  const pricing = { input: 100, output: 400 };
  const models = Object.fromEntries(
    Object.keys(upstreams).map((provider) => [provider, { provider, capabilities: ["chat-completion"], pricing }]),
  );
  await using proxy = await startDashboardProxy({ upstreams, pool: once, config: { models } });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.isLive();
  await dashboard.page.locator("#play-prompt").press("Control+Enter");
  gate.open(2); // the role, and the first piece
  await dashboard.shows("#play-answer[aria-busy=true]", /^Hel$/);
  await dashboard.shows("#play-state", "Answer of second");
  gate.openAll();
  await dashboard.shows("#play-answer[aria-busy=false]", /^Hello$/);
  await dashboard.shows("#play-route .attempts li", /first \(first\).*500/s);
  await dashboard.shows("#play-route .attempts li", /second \(second\)\s*ok/);
  const route = await dashboard.page.locator("#play-route dl").innerText();
  for (const fact of ["Model second", "Provider second", "Tokens out 5", "Cost $0.003"]) {
    assertMatch(route.replaceAll(/\s+/g, " "), new RegExp(`${fact.replace("$", "\\$")}( |$)`));
  }
  assertMatch(route, /Latency\s+[\d.]+ (ms|s)/);
});

testInChromium("The playground shows an error with its status, its code and the attempts", async (browser) => {
  await using upstream = await startUpstream(status(500, { error: { message: "Out of order" } }));
  await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url }, pool: once });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.isLive();
  await dashboard.page.getByRole("button", { name: "Send" }).click();
  await dashboard.shows("#play-state", /Failed · 5\d\d · \w+/);
  await dashboard.shows("#play-answer.problem", /\S/);
  await dashboard.shows("#play-route .attempts li", /only \(only\).*500/s);
});

testInChromium("The playground stops a stream, and sends the next chat", async (browser) => {
  await using upstream = await startUpstream([stream({ cut: { after: 1, how: "hang" } }), respond({ text: "Next" })]);
  await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url } });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.isLive();
  const send = dashboard.page.getByRole("button", { name: "Send" });
  await send.click();
  await dashboard.shows("#play-answer", "Hello");
  assertEquals(await send.getAttribute("aria-disabled"), "true");
  await dashboard.page.getByRole("button", { name: "Stop" }).click();
  await dashboard.shows("#play-state", "Stopped");
  await send.click();
  await dashboard.shows("#play-answer[aria-busy=false]", /^Next$/);
});

testInChromium(
  "The playground offers pools for chats first, and says that an empty answer has no text",
  async (browser) => {
    await using upstream = await startUpstream([
      respond({ text: null, toolCalls: [{ name: "look", arguments: "{}" }] }),
    ]);
    const model = (leaf: string) => ({ provider: "only", capabilities: [leaf], model: "plain" });
    const config = {
      models: { vectors: model("text-embeddings"), words: model("chat-completion") },
      pools: { "a-vectors": { capability: "text-embeddings" }, "b-chats": { capability: "chat-completion" } },
    };
    await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url }, config });
    await using dashboard = await Dashboard.open(browser, proxy);
    await dashboard.isLive();
    const offered = await dashboard.page.locator("#play-model optgroup").first().locator("option").allInnerTexts();
    assertEquals(offered, ["b-chats", "a-vectors"]);
    await dashboard.page.getByRole("button", { name: "Send" }).click();
    await dashboard.shows("#play-state", "The answer has no text");
  },
);
