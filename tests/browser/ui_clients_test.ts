/** Clients in the dashboard: who may make, change and revoke them, and where their tokens are seen. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { respond, startUpstream } from "../support/upstream.ts";
import { assertAccessible, assertFits, keepPicture } from "./_accessible.ts";
import { testInChromium } from "./_chromium.ts";
import { Dashboard, startDashboardProxy } from "./_dashboard.ts";

const admin = "token-of-the-administrator-0123456789";
const limited = "token-of-a-tenant-0123456789";

/** A proxy with an administrator and a tenant, whose requests cost a quarter of a dollar. */
function start(url: string) {
  const config = {
    models: {
      only: {
        provider: "only",
        capabilities: ["chat-completion"],
        pricing: { input: 0, output: 0, per_request: 0.25 },
      },
    },
    proxy: { auth: { tokens: [{ token: limited, name: "tenant", rpm: 100 }], admin_tokens: [admin] } },
    teams: { web: { pools: ["chat"], concurrent: 9, budget: { monthly_limit: 50 } } },
    storage: { connector: "mesh.memory.v1" },
  };
  return startDashboardProxy({ upstreams: { only: url }, config });
}

testInChromium("An administrator makes a client, whose token is shown once and kept nowhere", async (browser) => {
  await using upstream = await startUpstream(respond());
  await using proxy = await start(upstream.url);
  await using dashboard = await Dashboard.open(browser, proxy);
  const { page } = dashboard;
  await dashboard.signIn(admin);
  await dashboard.isLive();
  await page.getByRole("button", { name: "New client" }).click();
  await page.getByLabel("Name", { exact: true }).fill("app");
  await page.getByRole("textbox", { name: "Pools" }).fill("chat, chatt");
  await page.locator("#client-team").selectOption("web");
  await page.getByLabel("Requests per minute").fill("60");
  await page.getByLabel("USD a day").fill("5");
  await page.getByRole("button", { name: "Create" }).click();
  await dashboard.shows("#client-pools-problem", /no pool "chatt".*"chat"/);
  assertEquals(await page.evaluate("document.activeElement.id"), "client-pools");
  await page.getByRole("textbox", { name: "Pools" }).fill("chat");
  await page.keyboard.press("Enter");
  const shown = page.locator("#new-token");
  await shown.waitFor();
  const token = await shown.inputValue();
  assertMatch(token, /^mm_/);
  await page.getByRole("button", { name: "Copy" }).click();
  await dashboard.shows("#token-state", /Copied|Selected/);
  await page.getByRole("button", { name: "Done" }).click();
  await dashboard.holds('document.getElementById("new-token").value === ""');
  await dashboard.shows(
    "#clients li",
    /app\s*\$0\s*no request yet\s*team web · \$5.00 a day · 60 requests\/min · pools: chat/,
  );
  await proxy.chat({}, token);
  await dashboard.shows("#clients li", /app\s*\$0.25\s*1 request/);
  await dashboard.shows("#budgets li", /client app, day\s*\$0.25 of \$5.00\s*5.0 % used, \$4.75 left/);
  await dashboard.shows("#teams li", /web\s*1 client\s*9 at once · pools: chat/);
  await dashboard.shows("#budgets li", /team web, 1mo|team web, month/);
  await page.locator("#spend-by").getByText("Team").click();
  await dashboard.shows("#spend-table tbody tr", /web\s*\$0.25/);
  const kept = await page.evaluate<string>(
    "JSON.stringify([location.href, history.state, history.length, {...sessionStorage}, {...localStorage}]) + document.documentElement.outerHTML",
  );
  assert(!kept.includes(token.slice(3)), "the token is still in the page");
  assert(!dashboard.requests.some((request) => request.includes(token.slice(3))));
});

testInChromium(
  "An administrator changes a client, gives it another token, and revokes it by keyboard",
  async (browser) => {
    await using upstream = await startUpstream(respond());
    await using proxy = await start(upstream.url);
    const made = await fetch(`${proxy.url}/mesh/clients`, {
      method: "POST",
      headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "app", rpm: 60, expires_at: "2099-01-31T12:00:00Z" }),
    });
    const { token } = await made.json();
    await using dashboard = await Dashboard.open(browser, proxy);
    const { page } = dashboard;
    await dashboard.signIn(admin);
    await dashboard.isLive();
    await page.getByRole("button", { name: "Edit app" }).press("Enter");
    assertEquals(await page.getByLabel("Expires on").inputValue(), "2099-01-31");
    await page.getByLabel("Requests per minute").fill("");
    await page.getByLabel("USD a month").fill("40");
    await page.getByLabel("May use its own keys").check();
    await page.getByLabel("USD a month").press("Enter");
    await dashboard.shows("#action", "The change holds");
    await dashboard.shows("#clients li", /expires 2099-01-31/);
    assertEquals(await page.evaluate("document.activeElement.ariaLabel"), "Edit app");
    const [stored] =
      (await (await fetch(`${proxy.url}/mesh/clients`, { headers: { authorization: `Bearer ${admin}` } }))
        .json()).data;
    assertEquals([stored.rpm, stored.byok, stored.budget, stored.expires_at], [
      undefined,
      true,
      { monthly_limit: 40 },
      "2099-01-31T12:00:00.000Z",
    ]);

    await page.getByRole("button", { name: "New token app" }).press("Enter");
    await page.getByLabel("The present token is accepted").selectOption("for a day");
    await page.getByRole("button", { name: "Make a new token" }).press("Enter");
    await page.locator("#new-token").waitFor();
    await page.keyboard.press("Escape");
    await dashboard.holds('document.getElementById("new-token").value === ""');
    assertMatch(await proxy.chat({}, token), /chat.completion/);
    await dashboard.shows("#clients li", /its previous token ends \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    await page.getByRole("button", { name: "New token app" }).press("Enter");
    await page.getByRole("button", { name: "Make a new token" }).press("Enter");
    await dashboard.holds('document.getElementById("new-token").value !== ""');
    const next = await page.locator("#new-token").inputValue();
    await page.getByRole("button", { name: "Done" }).press("Enter");
    assertMatch(await proxy.chat({}, token), /invalid_api_key/);

    await page.getByRole("button", { name: "Revoke app" }).press("Enter");
    await page.keyboard.press("Enter"); // at first, the button that leaves everything as it is has the focus
    await dashboard.shows("#clients li", "app");
    await page.getByRole("button", { name: "Revoke app" }).press("Enter");
    await page.getByRole("button", { name: "Revoke", exact: true }).press("Enter");
    await dashboard.shows("#action", "The client app is revoked");
    assertEquals(await page.evaluate("document.activeElement.id"), "client-new");
    await page.getByRole("button", { name: "Revoke app" }).waitFor({ state: "detached" });
    assertMatch(await proxy.chat({}, next), /invalid_api_key/);
  },
);

testInChromium("A limited client sees its own sums, and no button that it may not use", async (browser) => {
  await using upstream = await startUpstream(respond());
  await using proxy = await start(upstream.url);
  await proxy.chat({}, admin);
  await proxy.chat({}, limited);
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.signIn(limited);
  await dashboard.isLive();
  await dashboard.shows("#clients li", /tenant\s*\$0.25\s*1 request/);
  const names = await dashboard.page.getByRole("button").allInnerTexts();
  assertEquals(names, ["Sign out", "◐", "Pause", "Send"]);
  assertEquals(dashboard.count("GET /mesh/clients"), 0, "what it may not read is asked for");
});

testInChromium(
  "The dialogs of clients fit narrow and wide windows, and axe finds nothing serious",
  async (browser, test) => {
    await using upstream = await startUpstream(respond());
    await using proxy = await start(upstream.url);
    for (const [width, scheme] of [[360, "dark"], [1280, "light"]] as const) {
      await test.step(`${width} px, ${scheme}`, async () => {
        await using dashboard = await Dashboard.open(browser, proxy, { width, scheme });
        const { page } = dashboard;
        const look = async (name: string) => {
          await assertAccessible(dashboard);
          await assertFits(dashboard, width);
          await keepPicture(dashboard, `${name}-${width}-${scheme}`);
        };
        await dashboard.signIn(admin);
        await dashboard.isLive();
        await page.getByRole("button", { name: "New client" }).click();
        await page.getByLabel("Name", { exact: true }).fill(`app of ${width}`);
        await page.getByRole("textbox", { name: "Pools" }).fill("chatt");
        await page.getByRole("button", { name: "Create" }).click();
        await dashboard.shows("#client-pools-problem", "chatt");
        await look("client-form");
        await page.getByRole("textbox", { name: "Pools" }).fill("");
        await page.getByRole("button", { name: "Create" }).click();
        await page.locator("#new-token").waitFor();
        await look("client-token");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: `Revoke app of ${width}` }).click();
        await look("client-revoke");
        await page.getByRole("button", { name: "Cancel" }).click();
        await look("clients");
      });
    }
  },
);
