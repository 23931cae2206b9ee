/** The dashboard for everyone: on every width, by keyboard, read out by a screen reader, in light and dark. */
import { assertEquals } from "@std/assert";
import { respond, startUpstream, status } from "../support/upstream.ts";
import { assertAccessible, assertFits, keepPicture } from "../browser/_accessible.ts";
import { testInChromium } from "../browser/_chromium.ts";
import { Dashboard, type DashboardProxy, startDashboardProxy } from "../browser/_dashboard.ts";

const token = "token-of-the-operator-0123456789";

/** Every width, and every scheme. */
const windows = [[360, "light"], [768, "dark"], [1280, "light"], [1680, "dark"]] as const;

testInChromium(
  "In the dashboard axe finds nothing serious, Tab reaches each control, and no page is wider than its window",
  async (browser, test) => {
    await using first = await startUpstream([status(429, { headers: { "retry-after": "40" } }), respond()]);
    await using second = await startUpstream(respond());
    const config = {
      models: { first: priced("first"), second: priced("second") },
      budget: { daily_limit: 20 },
      proxy: { auth: { method: "bearer", tokens: [{ token, name: "a-client" }] } },
      storage: { connector: "mesh.memory.v1" },
    };
    const upstreams = { first: first.url, second: second.url };
    await using proxy = await startDashboardProxy({ upstreams, config, tokens: [token] });
    for (let sent = 0; sent < 12; sent++) await proxy.chat({ stream: sent % 2 === 0 });
    for (const [width, scheme] of windows) {
      await test.step(`${width} px, ${scheme}`, async () => {
        await using dashboard = await Dashboard.open(browser, proxy, { width, scheme });
        await assertAccessible(dashboard);
        await dashboard.signIn(token);
        await dashboard.isLive();
        await dashboard.shows("#stream summary", "second");
        await dashboard.shows("#clients li", "a-client");
        await dashboard.page.locator("#stream summary").first().click();
        await dashboard.page.getByRole("button", { name: "Send" }).click();
        await dashboard.shows("#play-route", "Overhead");
        await assertAccessible(dashboard);
        await assertFits(dashboard, width);
        await assertReachable(dashboard);
        await keepPicture(dashboard, `dashboard-${width}-${scheme}`);
      });
    }
    await test.step("without the proxy", async () => {
      await using dashboard = await Dashboard.open(browser, proxy);
      await dashboard.signIn(token);
      await dashboard.isLive();
      await proxy.leave();
      await dashboard.shows("#lost", "Connection lost");
      await assertAccessible(dashboard);
      await keepPicture(dashboard, "dashboard-lost");
      await proxy.comeBack();
    });
  },
);

testInChromium("The dashboard has room for 20 pools of 60 models with long names", async (browser, test) => {
  await using upstream = await startUpstream(respond());
  await using proxy = await startLargeProxy(upstream.url);
  proxy.mesh.deactivate(getName(2));
  for (let pool = 0; pool < 20; pool++) await proxy.chat({ model: `pool-${pool}-${"of-a-tenant-".repeat(5)}` });
  for (const [width, scheme] of [windows[0], windows[1]]) {
    await test.step(`${width} px, ${scheme}`, async () => {
      await using dashboard = await Dashboard.open(browser, proxy, { width, scheme });
      await dashboard.isLive();
      await dashboard.shows("#pools-about", "20 pools, 60 models");
      await dashboard.page.locator("#group").getByText("Model").click();
      await dashboard.shows("#legend", "others");
      await assertAccessible(dashboard);
      await assertFits(dashboard, width);
      await keepPicture(dashboard, `dashboard-large-${width}-${scheme}`);
      await dashboard.page.locator("#pool-filter").getByText("With standby").click();
      assertEquals(await dashboard.page.locator("#pools .pool:visible").count(), 1);
      await dashboard.shows("#pools .pool:visible", `${getName(2)}: manual`);
      await dashboard.page.locator("#pools .pool:visible summary").click();
      await dashboard.shows("#pools .model:visible", "standby: manual");
    });
  }
});

testInChromium("The dashboard says in each part that there is nothing yet", async (browser) => {
  await using upstream = await startUpstream(respond());
  await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url } });
  await using dashboard = await Dashboard.open(browser, proxy, { width: 360 });
  await dashboard.isLive();
  await dashboard.shows(".chart", /Latency.*No responses/s);
  await dashboard.shows("#table-empty", "No request in this time");
  await dashboard.shows("#empty", "Send one from the playground");
  assertEquals(
    await dashboard.page.locator("#budgets-title:visible, #clients-title:visible, table:visible").count(),
    0,
  );
  await assertAccessible(dashboard);
  await keepPicture(dashboard, "dashboard-empty");
});

function getName(model: number): string {
  return `accounts/a-vendor/models/a-model-with-a-long-name-${model}-instruct-preview`;
}

function startLargeProxy(url: string): Promise<DashboardProxy> {
  const numbers = Array.from({ length: 60 }, (_, model) => model);
  const model = { provider: "only", capabilities: ["chat-completion"], model: "plain" };
  const pools = numbers.slice(0, 20).map((pool) => [
    `pool-${pool}-${"of-a-tenant-".repeat(5)}`,
    { models: [0, 1, 2].map((member) => getName(pool * 3 + member)) },
  ]);
  const config = {
    models: Object.fromEntries(numbers.map((number) => [getName(number), model])),
    pools: Object.fromEntries(pools),
  };
  return startDashboardProxy({ upstreams: { only: url }, config });
}

function priced(provider: string) {
  return { provider, capabilities: ["chat-completion"], pricing: { input: 0.01, output: 0.04 } };
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
    .filter((one) => one.checkVisibility({ opacityProperty: false, visibilityProperty: true }) && !one.disabled)
    .filter((one) => one.closest("#stream") === null)
    .filter((one) => one.type !== "radio" || one.checked)
    .filter((one) => !passed.has(one)).map((one) => one.outerHTML.slice(0, 120))`,
  );
  assertEquals(left, []);
}
