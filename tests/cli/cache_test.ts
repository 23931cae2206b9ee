/** `modelmesh cache`: what a running proxy keeps, and how it is emptied. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { runCommand } from "../support/_cli.ts";
import { assertOutput } from "../support/_cli_outputs.ts";
import { testConfig } from "../support/proxy.ts";
import { adminToken, startClientsProxy } from "../support/_runtime_clients.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const team = "t-team-0123456789";

/** Runs the command at a proxy that has served as many requests as there are contents. */
async function withCache(
  contents: readonly string[],
  test: (run: (...args: string[]) => ReturnType<typeof runCommand>, url: string) => Promise<void>,
  more: Record<string, unknown> = { cache: {} },
) {
  await using upstream = await startUpstream(ok());
  const pricing = { input: 0, output: 0, per_request: 0.5 };
  await using proxy = await startClientsProxy(testConfig({
    upstreams: { a: upstream.url },
    config: {
      models: { a: { provider: "a", capabilities: ["chat-completion"], pricing } },
      proxy: { auth: { tokens: [adminToken, { token: team, name: "team", rpm: 100 }] } },
      ...more,
    },
  }));
  for (const content of contents) {
    const response = await fetch(`${proxy.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${team}` },
      body: JSON.stringify({ model: "chat", messages: [{ role: "user", content }], temperature: 0 }),
    });
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  const env = { MODELMESH_URL: proxy.url, MODELMESH_TOKEN: adminToken };
  await test((...args) => runCommand(["cache", ...args], { env }), proxy.url);
}

describe("modelmesh cache", () => {
  it("shows entries, size, hits and savings", async () => {
    await withCache(["one", "two", "one", "one", "one"], async (run) => {
      const { code, out, err } = await run("stats");
      assertEquals([code, err], [0, ""]);
      assertMatch(
        out,
        /^entries {2}2\nsize {5}\d+(\.\d kB| B)\nhits {5}3 of 5 requests \(60\.0 %\)\nsaved {4}\$1\.50\n$/,
      );
      const { bytes, ...counts } = assertOutput("cache", (await run("stats", "--json")).out);
      assertEquals([counts, bytes > 0], [{ entries: 2, hits: 3, misses: 2, saved_usd: 1.5 }, true]);
    });
  });

  it("empties it, and says how many entries there were", async () => {
    await withCache(["one"], async (run) => {
      assertEquals((await run("clear")).out, "Deleted 1 entry\n");
      assertEquals(assertOutput("cleared", (await run("clear", "--json")).out), { cleared: 0 });
      assertStringIncludes((await run("stats")).out, "entries  0\nsize     0 B\nhits     0 of 1 request (0.0 %)\n");
    });
  });

  it("says that the proxy has no cache, or that the token is not an administrator's", async () => {
    await withCache([], async (run) => {
      const { code, err } = await run("stats");
      assertEquals([code, /section `cache`/.test(err)], [1, true]);
    }, {});
    await withCache([], async (run) => {
      const { code, err } = await run("clear", "--token", team);
      assertEquals([code, /administrator's token/.test(err)], [1, true]);
    });
  });
});
