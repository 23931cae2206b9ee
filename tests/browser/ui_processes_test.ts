/** Several processes on one storage in the dashboard. */
import { assertEquals } from "@std/assert";
import { respond, startUpstream } from "../support/upstream.ts";
import { tempFolder } from "../support/_runtime_clients.ts";
import { assertAccessible, assertFits, keepPicture } from "./_accessible.ts";
import { testInChromium } from "./_chromium.ts";
import { Dashboard, startDashboardProxy } from "./_dashboard.ts";

/** What is looked at, and how. */
const looks = [[360, "light", "All 2 processes"], [1280, "dark", "other:8080"]] as const;

testInChromium("The dashboard offers a choice among the processes of a storage", async (browser) => {
  await using upstream = await startUpstream(respond());
  await using folder = await tempFolder();
  const config = (address: string) => ({
    proxy: { address },
    storage: { connector: "mesh.local-file.v1", path: `${folder.path}/state.json`, sync_policy: "periodic" },
  });
  const upstreams = { only: upstream.url };
  await using one = await startDashboardProxy({ upstreams, config: config("one:8080") });
  await using other = await startDashboardProxy({ upstreams, config: config("other:8080") });
  for (let sent = 0; sent < 3; sent++) await one.chat();
  await fetch(`${other.url}/live`);
  await other.chat();
  await using dashboard = await Dashboard.open(browser, one);
  const { page } = dashboard;
  await dashboard.isLive();
  await dashboard.holds(`document.querySelector("#process option:checked")?.text === "one:8080, this page's"`);
  await page.getByLabel("Process", { exact: true }).selectOption("All 2 processes");
  await dashboard.shows("#process-table tbody tr", /one:8080.*3/s);
  await dashboard.shows("#process-tiles .tile", /Requests\s*4/);
  await dashboard.shows("#process-about", "Charts and decisions are those of this page's process");
  assertEquals([await page.locator("#tiles").isVisible(), await page.locator("#charts").isVisible()], [false, true]);
  await page.getByLabel("Process", { exact: true }).selectOption("other:8080");
  await dashboard.shows("#process-tiles .tile", /In flight/);
  await page.locator("#charts").waitFor({ state: "hidden" }); // they are those of another process
  for (const [width, scheme, choice] of looks) {
    await using opened = await Dashboard.open(browser, one, { width, scheme });
    await opened.isLive();
    await opened.page.getByLabel("Process", { exact: true }).selectOption(choice);
    await opened.page.locator("#process-tiles").waitFor();
    await assertAccessible(opened);
    await assertFits(opened, width);
    await keepPicture(opened, `processes-${width}-${scheme}`);
  }
  await other[Symbol.asyncDispose]();
  await page.reload();
  await dashboard.isLive();
  assertEquals(await page.locator("#processes").isVisible(), false);
});
