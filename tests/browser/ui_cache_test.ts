/** The cache in the dashboard. */
import { respond, startUpstream } from "../support/upstream.ts";
import { assertAccessible, assertFits, keepPicture } from "./_accessible.ts";
import { testInChromium } from "./_chromium.ts";
import { Dashboard, startDashboardProxy } from "./_dashboard.ts";

/** How it is looked at. */
const looks = [[360, "dark"], [1280, "light"]] as const;

testInChromium("The dashboard shows how often the cache had the response, and what that saved", async (browser) => {
  await using upstream = await startUpstream(respond());
  const pricing = { input: 0, output: 0, per_request: 0.5 };
  await using proxy = await startDashboardProxy({
    upstreams: { only: upstream.url },
    config: { models: { only: { provider: "only", capabilities: ["chat-completion"], pricing } }, cache: {} },
  });
  await using dashboard = await Dashboard.open(browser, proxy, { hasFakeTime: true });
  await dashboard.page.clock.runFor(1000);
  await dashboard.isLive();
  await dashboard.page.clock.runFor(1000);
  await dashboard.shows(".tile", /Cache hits\s*–\s*\$0 saved, 0 entries/);
  for (let sent = 0; sent < 4; sent++) await proxy.chat({ temperature: 0 });
  await dashboard.page.clock.runFor(11_000);
  await dashboard.holds(`document.getElementById("tiles").innerText.includes("1 entry")`);
  await dashboard.page.clock.runFor(1000);
  await dashboard.shows(".tile", /Cache hits\s*75 %\s*\$1\.50 saved, 1 entry/);
  await dashboard.shows("#stream summary", /only.*from the cache/s);
  for (const [width, scheme] of looks) {
    await using opened = await Dashboard.open(browser, proxy, { width, scheme });
    await opened.isLive();
    await opened.shows(".tile", /Cache hits\s*75 %/);
    await assertAccessible(opened);
    await assertFits(opened, width);
    await keepPicture(opened, `cache-${width}-${scheme}`);
  }
});

testInChromium("The dashboard has no figure of a cache without one", async (browser) => {
  await using upstream = await startUpstream(respond());
  await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url } });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.isLive();
  await dashboard.shows(".tile", /Requests per second/);
  await dashboard.holds(`!document.getElementById("tiles").innerText.includes("Cache")`);
});
