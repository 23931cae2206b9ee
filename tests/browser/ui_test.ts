/** The dashboard in a browser. */
import { assert, assertEquals } from "@std/assert";
import { answer, startUpstream, status, stream } from "../support/upstream.ts";
import { axe } from "./_axe.ts";
import { testInChromium } from "./_chromium.ts";
import { Dashboard, startDashboardProxy } from "./_dashboard.ts";

const token = "token-of-the-operator-0123456789";

testInChromium("The dashboard shows a failover while it happens, and what it cost", async (browser) => {
  await using first = await startUpstream(status(429, { headers: { "retry-after": "40" } }));
  await using second = await startUpstream(answer({ text: "Hello" }));
  await using proxy = await startDashboardProxy({ upstreams: { first: first.url, second: second.url } });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.isLive();
  await dashboard.shows("#pools", "2 of 2 active");
  await proxy.chat();
  await dashboard.shows("#stream summary", /first\s*rate limited 429.*second/s);
  await dashboard.shows("#pools .model", /first.*standby: rate limited, back in/s);
  await dashboard.shows("#pools", "1 of 2 active");
  await dashboard.shows(".tile", /Saved by failover\s*1/);
  await dashboard.shows("#table", "second");

  await dashboard.page.locator("#stream summary").filter({ hasText: "second" }).click();
  await dashboard.shows("#stream .attempts li", /second \(second\)\s*ok/);
  await dashboard.shows("#stream .attempts li", /first \(first\)\s*rate limited 429/);
  assertEquals(dashboard.requests.filter((request) => !/ \/(ui|mesh\/status|mesh\/events)$/.test(request)), []);
});

testInChromium(
  "The dashboard is for everyone: axe finds nothing serious, each control has a name and is reached by Tab, and no page is wider than its window",
  async (browser, test) => {
    await using first = await startUpstream([status(429, { headers: { "retry-after": "40" } }), answer()]);
    await using second = await startUpstream(answer());
    const config = {
      models: { first: priced("first"), second: priced("second") },
      budget: { daily_limit: 20 },
      proxy: { auth: { method: "bearer", tokens: [{ token, name: "a-client" }] } },
    };
    await using proxy = await startDashboardProxy({
      upstreams: { first: first.url, second: second.url },
      config,
      tokens: [token],
    });
    for (let sent = 0; sent < 12; sent++) await proxy.chat({ stream: sent % 2 === 0 });
    for (const width of [360, 1440]) {
      for (const scheme of ["light", "dark"] as const) {
        await test.step(`${width} px, ${scheme}`, async () => {
          await using dashboard = await Dashboard.open(browser, proxy, { width, scheme });
          await assertAccessible(dashboard);
          await signIn(dashboard, token);
          await dashboard.isLive();
          await dashboard.shows("#stream summary", "second");
          await dashboard.page.locator("#stream summary").first().click();
          await assertAccessible(dashboard);
          assertEquals(await dashboard.page.evaluate("innerWidth"), width);
          assert(await dashboard.page.evaluate(fitsWindow), "the page is wider than its window");
          await assertReachable(dashboard);
          await keepPicture(dashboard, `dashboard-${width}-${scheme}`);
        });
      }
    }
  },
);

testInChromium(
  "The dashboard asks for a token, says when it is refused, and keeps it in its tab alone",
  async (browser) => {
    await using upstream = await startUpstream(answer());
    await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url }, tokens: [token] });
    await using dashboard = await Dashboard.open(browser, proxy);
    await dashboard.page.locator("#gate").waitFor();
    assert(!(await dashboard.page.locator("body").innerText()).includes("only"), "a model is shown without a token");
    await signIn(dashboard, "wrong-token-0123456789");
    await dashboard.shows("#gate-error", "The bearer token is not accepted");
    assertEquals(await dashboard.page.evaluate("sessionStorage.length"), 0);
    await signIn(dashboard, token);
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
    answer({ text: evil }),
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
  await signIn(dashboard, token);
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

testInChromium("The dashboard says when the proxy is gone, and goes on when it is there again", async (browser) => {
  await using upstream = await startUpstream(answer());
  await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url } });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.isLive();
  await proxy.chat();
  await dashboard.shows(".tile", /1 in 5 min/);
  await proxy.leave();
  await dashboard.shows("#connection[data-state=lost]", "Connection lost");
  await dashboard.shows("#pools", "only");
  await proxy.comeBack();
  await dashboard.isLive();
  await proxy.chat();
  await dashboard.shows(".tile", /2 in 5 min/);
});

testInChromium("The dashboard deactivates and activates by its buttons, as far as the token may", async (browser) => {
  await using upstream = await startUpstream(answer());
  const admin = "token-of-the-administrator-0123456789";
  const config = {
    proxy: { auth: { method: "bearer", tokens: [{ token, name: "tenant", rpm: 100 }], admin_tokens: [admin] } },
  };
  await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url }, config });
  await using dashboard = await Dashboard.open(browser, proxy);
  await signIn(dashboard, token);
  const deactivate = dashboard.page.getByRole("button", { name: "Deactivate model only" });
  await deactivate.click();
  await dashboard.shows("#action", "for administrators");
  assertEquals(proxy.mesh.poolStatus().chat?.active, 1);

  await dashboard.page.getByRole("button", { name: "Sign out" }).click();
  await signIn(dashboard, admin);
  await deactivate.press("Enter");
  await dashboard.shows("#pools .model", "standby: manual");
  assertEquals(proxy.mesh.poolStatus().chat?.active, 0);
  await dashboard.page.getByRole("button", { name: "Activate model only" }).press("Enter");
  await dashboard.shows("#pools", "1 of 1 active");
  assertEquals(proxy.mesh.poolStatus().chat?.active, 1);
  await dashboard.page.getByRole("button", { name: "Deactivate provider only" }).click();
  await dashboard.shows("#more", "standby: manual");
});

testInChromium("The dashboard sends a chat, streams the answer and shows how it was routed", async (browser) => {
  await using first = await startUpstream(status(500));
  await using second = await startUpstream(stream({ pieces: ["Hel", "lo"] }));
  const pool = { retry: { max_attempts: 0 } };
  await using proxy = await startDashboardProxy({ upstreams: { first: first.url, second: second.url }, pool });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.isLive();
  await dashboard.page.locator("#play-prompt").press("Control+Enter");
  await dashboard.shows("#play-answer", "Hello");
  await dashboard.shows("#play-route .chain", /first.*second/s);
  await dashboard.page.locator("#play-model").selectOption("first");
  await dashboard.page.getByRole("button", { name: "Send" }).click();
  await dashboard.shows("#play-answer.problem", "first");
});

testInChromium(
  "The dashboard takes 10 000 decisions in less than 200 MB and without asking for anything more",
  async (browser) => {
    await using upstream = await startUpstream(answer());
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
    await dashboard.shows(".tile", /10K in 1 h/);
    await dashboard.page.locator("#search").fill("no such thing");
    await dashboard.shows("#empty", "Nothing of what was recorded matches");
    assertEquals(dashboard.requests, ["GET /ui", "GET /mesh/status", "GET /mesh/events"]);
    assert(await usedBytes(dashboard) < 200 * 1024 * 1024, "the page is too large");
    assert(
      await dashboard.page.evaluate<number>("document.querySelectorAll('*').length") < 5000,
      "the page has too much in it",
    );
  },
);

const fitsWindow = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";

function priced(provider: string) {
  return { provider, capabilities: ["chat-completion"], pricing: { input: 100, output: 400 } };
}

async function signIn(dashboard: Dashboard, given: string): Promise<void> {
  await dashboard.page.locator("#token").fill(given);
  await dashboard.page.getByRole("button", { name: "Show the dashboard" }).click();
}

async function assertAccessible({ page }: Dashboard): Promise<void> {
  await page.evaluate(`${axe.source}; 0`);
  const found = await page.evaluate<string[]>(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`);
  assertEquals(found, []);
}

/** Goes through the page by Tab until it begins anew; each control has to be passed, and to have a name. */
async function assertReachable({ page }: Dashboard): Promise<void> {
  const missing = await page.evaluate<number>(`{
    globalThis.passed = new Set();
    document.addEventListener("focusin", ({ target }) => passed.add(target));
    document.activeElement?.blur();
    0;
  }`);
  assertEquals(missing, 0);
  for (let at = 0; at < 120; at++) await page.keyboard.press("Tab");
  const left = await page.evaluate<string[]>(
    `[...document.querySelectorAll("button, input, select, textarea, summary, a[href]")]
    .filter((one) => one.checkVisibility({ opacityProperty: false }) && !one.disabled && one.closest("#stream") === null)
    .filter((one) => one.type !== "radio" || one.checked)
    .filter((one) => !passed.has(one)).map((one) => one.outerHTML.slice(0, 120))`,
  );
  assertEquals(left, []);
}

/** Keeps a picture for people, where a folder for such is given. */
async function keepPicture({ page }: Dashboard, name: string): Promise<void> {
  const folder = Deno.env.get("MODELMESH_ARTIFACTS");
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

/** Memory of the page's scripts and elements, after what is not used any more was removed. */
async function usedBytes({ page }: Dashboard): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "JSHeapTotalSize")!.value;
}
