/** The dashboard in a browser. */
import { assert, assertEquals } from "@std/assert";
import { respond, startUpstream, status } from "../support/upstream.ts";
import { testInChromium } from "./_chromium.ts";
import { Dashboard, startDashboardProxy } from "./_dashboard.ts";

const token = "token-of-the-operator-0123456789";

testInChromium("The dashboard shows a failover while it happens, and what it cost", async (browser) => {
  await using first = await startUpstream(status(429, { headers: { "retry-after": "40" } }));
  await using second = await startUpstream(respond({ text: "Hello" }));
  await using proxy = await startDashboardProxy({ upstreams: { first: first.url, second: second.url } });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.isLive();
  await dashboard.shows("#pools", "2 of 2 active");
  await proxy.chat();
  await dashboard.shows("#stream summary", /first\s*rate limited 429.*second/s);
  await dashboard.shows("#pools .model", /first.*standby: rate limited, recovers in \d+ s/s);
  await dashboard.shows("#pools", "1 of 2 active");
  await dashboard.shows(".tile", /Saved by failover\s*1/);
  await dashboard.shows("#table tbody tr", /first\s*1\s*100 %\s*0/); // asked, failed, and served nothing
  await dashboard.shows("#table tbody tr", /second\s*1\s*0 %\s*1/);

  await dashboard.page.locator("#stream summary").filter({ hasText: "second" }).click();
  await dashboard.shows("#stream .attempts li", /second \(second\)\s*ok/);
  await dashboard.shows("#stream .attempts li", /first \(first\)\s*rate limited 429/);
  assertEquals(dashboard.requests.filter((request) => !/ \/(ui|health|mesh\/status|mesh\/events)$/.test(request)), []);
});

testInChromium(
  "The dashboard asks for a token, says when it is refused, and keeps it in its tab alone",
  async (browser) => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url }, tokens: [token] });
    await using dashboard = await Dashboard.open(browser, proxy);
    await dashboard.page.locator("#gate").waitFor();
    assert(!(await dashboard.page.locator("body").innerText()).includes("only"), "a model is shown without a token");
    assertEquals(
      dashboard.requests,
      ["GET /ui", "GET /health"],
      "a request is rejected, and logged, for want of a token",
    );
    await dashboard.signIn("wrong-token-0123456789");
    await dashboard.shows("#gate-error", "The bearer token is not accepted");
    assertEquals(await dashboard.page.evaluate("sessionStorage.length"), 0);
    await dashboard.signIn(token);
    await dashboard.isLive();
    await dashboard.page.reload();
    await dashboard.isLive();
    assertEquals(await dashboard.page.evaluate("localStorage.length"), 0);
    assertEquals(await dashboard.page.evaluate("location.href"), `${proxy.url}/ui`);
    await dashboard.page.getByRole("button", { name: "Sign out" }).click();
    await dashboard.page.locator("#gate").waitFor();
    assertEquals(await dashboard.page.evaluate("sessionStorage.length"), 0);
  },
);

testInChromium("The dashboard shows names, prompts, answers and errors as text, never as markup", async (browser) => {
  const evil = `<img src=x onerror="window.wasRun=true">"'&lt;`;
  await using upstream = await startUpstream([
    respond({ text: evil }),
    status(400, { error: { message: evil, type: evil } }),
  ]);
  const model = { provider: "only", capabilities: ["chat-completion"], model: "plain" };
  const config = {
    models: { [evil]: model },
    pools: { chat: { models: [evil] } },
    proxy: { auth: { method: "bearer", tokens: [{ token, name: evil }] } },
  };
  await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url }, config, tokens: [token] });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.signIn(token);
  await dashboard.isLive();
  await dashboard.shows("#pools .model", evil);
  await dashboard.page.locator("#play-prompt").fill(evil);
  for (const expected of [evil, evil]) {
    await dashboard.page.locator("#play-stream").setChecked(false);
    await dashboard.page.getByRole("button", { name: "Send" }).click();
    await dashboard.shows("#play-answer", expected);
    await dashboard.shows("#play-answer[aria-busy=false]", expected);
  }
  await dashboard.shows("#stream summary", evil);
  await dashboard.page.locator("#group").getByText("Model").click();
  await dashboard.shows("#legend", evil);
  await dashboard.page.locator("#search").fill(evil);
  assertEquals(await dashboard.page.locator("img").count(), 0);
  assertEquals(await dashboard.page.evaluate("'wasRun' in window"), false);
});

testInChromium("The dashboard deactivates and activates by its buttons, as far as the token may", async (browser) => {
  await using upstream = await startUpstream(respond());
  const admin = "token-of-the-administrator-0123456789";
  const config = {
    proxy: { auth: { method: "bearer", tokens: [{ token, name: "tenant", rpm: 100 }], admin_tokens: [admin] } },
  };
  await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url }, config });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.signIn(token);
  const deactivate = dashboard.page.getByRole("button", { name: "Deactivate model only" });
  await dashboard.shows("#pools .model", "active · only");
  assertEquals(await deactivate.count(), 0, "a button that is for administrators");

  await dashboard.page.getByRole("button", { name: "Sign out" }).click();
  await dashboard.signIn(admin);
  await deactivate.press("Enter");
  await dashboard.shows("#pools .model", "standby: manual");
  await dashboard.shows("#action", "The model only is in standby until it is activated");
  assertEquals(await dashboard.page.evaluate("document.activeElement.ariaLabel"), "Activate model only");
  assertEquals(proxy.mesh.poolStatus().chat?.active, 0);
  await dashboard.page.getByRole("button", { name: "Activate model only" }).press("Enter");
  await dashboard.shows("#pools", "1 of 1 active");
  assertEquals(proxy.mesh.poolStatus().chat?.active, 1);
  await deactivate.press("Enter");
  await dashboard.page.getByRole("button", { name: "Undo" }).press("Enter");
  await dashboard.shows("#action", "The model only is active");
  assertEquals(await dashboard.page.evaluate("document.activeElement.ariaLabel"), "Deactivate model only");
  assertEquals(proxy.mesh.poolStatus().chat?.active, 1);
  await dashboard.page.getByRole("button", { name: "Deactivate provider only" }).click();
  await dashboard.shows("#providers", "standby: manual");
});

testInChromium(
  "The dashboard takes 10 000 decisions in less than 200 MB and without asking for anything more",
  async (browser) => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url } });
    await using dashboard = await Dashboard.open(browser, proxy);
    await dashboard.isLive();
    const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] });
    const send = async () => {
      const headers = { "content-type": "application/json" };
      const response = await proxy.handler(
        new Request(`${proxy.url}/v1/chat/completions`, { method: "POST", headers, body }),
      );
      await response.text();
    };
    for (let sent = 0; sent < 10_000; sent += 50) await Promise.all(Array.from({ length: 50 }, send));
    await dashboard.page.locator("#window").getByText("1 h").click();
    await dashboard.shows(".tile", /10K in \d/);
    await dashboard.page.locator("#search").fill("no such thing");
    await dashboard.shows("#empty", "No record matches");
    assertEquals(dashboard.requests, ["GET /ui", "GET /health", "GET /mesh/status", "GET /mesh/events"]);
    assert(await usedBytes(dashboard) < 200 * 1024 * 1024, "the page is too large");
    assert(
      await dashboard.page.evaluate<number>("document.querySelectorAll('*').length") < 5000,
      "the page has too much in it",
    );
  },
);

/** Memory of the page's scripts and elements, after what is not used any more was removed. */
async function usedBytes({ page }: Dashboard): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "JSHeapTotalSize")!.value;
}

testInChromium(
  "The dashboard shows what was spent per day and client, also after a reload of the page",
  async (browser) => {
    await using upstream = await startUpstream(respond());
    const team = { token: "token-of-a-team-0123456789", name: "team" };
    const config = {
      models: {
        only: {
          provider: "only",
          capabilities: ["chat-completion"],
          pricing: { input: 0, output: 0, per_request: 0.25 },
        },
      },
      proxy: { auth: { tokens: [team] } },
      storage: { connector: "mesh.memory.v1" },
    };
    await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url }, tokens: [token], config });
    await using dashboard = await Dashboard.open(browser, proxy);
    await dashboard.signIn(token);
    await dashboard.isLive();
    await dashboard.shows("#spend-empty", "Nothing was spent.");
    await proxy.chat();
    await dashboard.shows("#spend-table tbody", /–\s*\$0.25\s*\$0.25\s*\$0.25\s*\$0.25/);
    await proxy.chat({}, team.token);
    await proxy.chat({}, team.token);
    await dashboard.shows("#spend-table tbody tr:first-child", /team\s*\$0.50/);
    await dashboard.page.reload();
    await dashboard.shows("#spend-table tbody tr:first-child", /team\s*\$0.50/);
    await dashboard.shows("#spend-table tfoot", /\$0.75\s*\$0.75\s*\$0.75\s*\$0.75/);
    await dashboard.holds('document.querySelectorAll("#spend-days span:last-child i").length === 2');
  },
);
