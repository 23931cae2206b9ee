/** The dashboard over time: what it shows while nothing happens, while the proxy is away, and in its title. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { respond, startUpstream, status } from "../support/upstream.ts";
import { testInChromium } from "./_chromium.ts";
import { Dashboard, startDashboardProxy } from "./_dashboard.ts";

testInChromium("The dashboard says when the proxy is gone, and goes on when it is there again", async (browser) => {
  await using upstream = await startUpstream(respond());
  await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url } });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.isLive();
  await proxy.chat();
  await dashboard.shows(".tile", /1 in \d/);
  await proxy.leave();
  await dashboard.shows("#connection[data-state=lost]", "Connection lost");
  await dashboard.shows("#lost", /This is the state at \d\d:\d\d:\d\d/);
  await dashboard.holds('document.title === "Disconnected · ModelMesh"');
  await dashboard.shows("#pools", "only");
  await dashboard.page.getByRole("button", { name: "Deactivate model only" }).click();
  await dashboard.shows("#action", "The proxy does not respond");
  await proxy.comeBack();
  await dashboard.page.locator("#lost-retry").dispatchEvent("click"); // the page may have connected by itself by now
  await dashboard.isLive();
  await dashboard.page.locator("#lost").waitFor({ state: "hidden" });
  await proxy.chat();
  await dashboard.shows(".tile", /2 in \d/);
  await dashboard.holds('document.title === "ModelMesh"');
});

testInChromium("The dashboard counts the time to recovery down, and sends nothing meanwhile", async (browser) => {
  await using first = await startUpstream(status(429, { headers: { "retry-after": "40" } }));
  await using second = await startUpstream(respond());
  await using proxy = await startDashboardProxy({ upstreams: { first: first.url, second: second.url } });
  await using dashboard = await Dashboard.open(browser, proxy, { hasFakeTime: true });
  await dashboard.isLive();
  await proxy.chat();
  await dashboard.shows("#pools .model", /first.*recovers in (40|39) s/s);
  const sent = dashboard.requests.length;
  for (let seconds = 0; seconds < 20; seconds++) await dashboard.page.clock.runFor(1000);
  await dashboard.shows("#pools .model", /first.*recovers in (1\d|20) s/s);
  assertEquals(dashboard.requests.slice(sent), []);
});

testInChromium("The dashboard shows a failover within 2 s of its clock", async (browser) => {
  await using first = await startUpstream(status(429, { headers: { "retry-after": "40" } }));
  await using second = await startUpstream(respond());
  await using proxy = await startDashboardProxy({ upstreams: { first: first.url, second: second.url } });
  await using dashboard = await Dashboard.open(browser, proxy, { hasFakeTime: true });
  await dashboard.page.addInitScript(copyEvents);
  await dashboard.page.reload();
  await dashboard.isLive();
  await dashboard.page.clock.pauseAt(await dashboard.page.evaluate<number>("Date.now() + 5000"));
  const isShown = () => dashboard.page.locator("#stream summary", { hasText: "second" }).isVisible();

  await proxy.chat();
  await dashboard.holds(`events.includes('"type":"routing"')`);
  assertEquals(await isShown(), false, "the page is drawn although its clock stands still");
  const refreshed = dashboard.page.waitForResponse("**/mesh/status");
  await dashboard.page.clock.runFor(500);
  await (await refreshed).finished();
  await dashboard.page.clock.runFor(1500);
  assertEquals(await isShown(), true);
  assertMatch(await dashboard.page.locator("#pools .model").first().innerText(), /standby: rate limited/);
  assertMatch(await dashboard.page.locator(".tile", { hasText: "Saved by failover" }).innerText(), /\b1\b/);
});

/** Makes the page copy what it receives as events into the variable `events`. */
const copyEvents = `{
  const send = globalThis.fetch;
  globalThis.events = "";
  globalThis.fetch = async (url, init) => {
    const response = await send(url, init);
    if (!String(url).endsWith("/mesh/events") || !response.ok) return response;
    const [own, copy] = response.body.tee();
    copy.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write: (text) => void (events += text) }))
      .catch(() => {});
    return new Response(own, response);
  };
}`;

testInChromium("The title of the tab says what is in standby or down", async (browser) => {
  await using first = await startUpstream(respond());
  await using second = await startUpstream(respond());
  await using proxy = await startDashboardProxy({ upstreams: { first: first.url, second: second.url } });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.isLive();
  await dashboard.holds('document.title === "ModelMesh"');
  proxy.mesh.deactivate("first");
  await dashboard.holds('document.title === "1 model in standby · ModelMesh"');
  await dashboard.shows(".tile[data-tone=warn]", /1 of 2\s*the pool is up/);
  proxy.mesh.deactivate("second");
  await dashboard.holds('document.title === "pool chat is down · ModelMesh"');
  await dashboard.shows(".tile[data-tone=bad]", /0 of 2\s*pool chat is down/);
  proxy.mesh.activate("first");
  proxy.mesh.activate("second");
  await dashboard.holds('document.title === "ModelMesh"');
});

testInChromium("A rate limit of seconds is not an outage", async (browser) => {
  await using only = await startUpstream(status(429, { headers: { "retry-after": "40" } }));
  await using proxy = await startDashboardProxy({ upstreams: { only: only.url } });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.isLive();
  await proxy.chat();
  await dashboard.holds('document.title === "pool chat is rate limited · ModelMesh"');
  await dashboard.shows(".tile[data-tone=warn]", /0 of 1\s*pool chat is rate limited/);
  await dashboard.shows("#pools .badge[data-tone=warn]", "rate limited, 0 of 1 active");
  await dashboard.shows("#stream .event", /chat waits · rate limited|the pool waits · rate limited/);
});

testInChromium("The dashboard's rates are over the time whose records the proxy has kept", async (browser) => {
  await using upstream = await startUpstream(respond());
  await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url } });
  await proxy.chat();
  await using dashboard = await Dashboard.open(browser, proxy);
  const records = [60, 40, 20].map((secondsAgo, index) => {
    const timestamp = new Date(Date.now() - secondsAgo * 1000).toISOString();
    const facts = {
      request_id: "1",
      capability: null,
      pool: "chat",
      model: "only",
      provider: "only",
      delivery: "sync",
    };
    const record = { type: "routing", timestamp, ...facts, fallback_chain: [], attempts: 1, routing_latency_ms: 1 };
    return `id: ${5000 + index}\ndata: ${JSON.stringify(record)}\n\n`;
  });
  const started = { version: "1", uptime_seconds: 7200, pools: {}, providers: [], budgets: [] };
  await dashboard.page.route("**/mesh/status", (route) => route.fulfill({ json: started }));
  await dashboard.page.route(
    "**/mesh/events",
    (route) => route.fulfill({ body: `${records.join("")}:\n\n`, contentType: "text/event-stream" }),
  );
  await dashboard.page.reload();
  await dashboard.shows(".tile", /3 in 1 min \d+ s/);
  await dashboard.page.locator(".chart svg").nth(1).hover();
  await dashboard.shows(".chart .tip:not([hidden])", /\d\d:\d\d:\d\d\s*p95/);
  assertEquals(await dashboard.page.locator(".cursor").count(), 6, "charts that mark the time under the pointer");
  await dashboard.page.locator("h1").hover();
  assertEquals(await dashboard.page.locator(".cursor, .tip:not([hidden])").count(), 0);
});

testInChromium("A token that is rejected later removes what the page showed", async (browser) => {
  const token = "token-of-the-operator-0123456789";
  await using upstream = await startUpstream(respond());
  await using proxy = await startDashboardProxy({ upstreams: { only: upstream.url }, tokens: [token] });
  await using dashboard = await Dashboard.open(browser, proxy);
  await dashboard.signIn(token);
  await dashboard.isLive();
  await dashboard.shows("#pools", "only");
  const error = { message: "The bearer token is not accepted" };
  await dashboard.page.route("**/mesh/status", (route) => route.fulfill({ status: 401, json: { error } }));
  await proxy.leave();
  await proxy.comeBack();
  await dashboard.shows("#gate-error", error.message);
  await dashboard.page.unroute("**/mesh/status");
  proxy.mesh.deactivate("only");
  await dashboard.signIn(token);
  await dashboard.isLive();
  await dashboard.shows("#pools", "standby: manual");
  assert(dashboard.count("GET /ui") === 2, "the page was not loaded anew");
});
