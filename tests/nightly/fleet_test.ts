/** A fleet on each engine: exact budgets, also while one proxy is stopped, one is killed, and the engine fails over. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { writeFileSync } from "node:fs";
import process from "node:process";
import { spawnCommand } from "../support/_cli.ts";
import { makeFolder } from "../support/_library.ts";
import { askFleet, assertExactBudgets, fleetConfig, fleetTokens, paidResponse } from "../support/fleet.ts";
import { fleetEngines } from "../support/fleet_engines.ts";
import { until } from "../support/patience.ts";
import { startUpstream } from "../support/upstream.ts";

/** The budget of all, dollars; those of the team and of each client are higher. */
const dollars = 400;
const limits = { client: dollars + 100, team: dollars + 50, all: dollars };

/** Callers of each proxy. Each has one call open when its proxy is killed. */
const callers = 4;

/** Time after which the leases of a killed proxy have ended, ms. */
const leasesEndedMs = 20_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls one proxy until it has ended, or the budget is spent. */
async function spend(url: string, token: string, seen: Map<string, number>): Promise<void> {
  for (;;) {
    const end = await askFleet(url, token);
    seen.set(end, (seen.get(end) ?? 0) + 1);
    if (end === "budget_exceeded" || end === "lost" || end === "shutting_down") return;
    await pause(end === "200" ? 5 : 100);
  }
}

for (const { title, isInstalled, start } of fleetEngines) {
  (isInstalled ? describe : describe.skip)(`A fleet on ${title}`, () => {
    for (const count of [2, 4]) {
      it(`spends budgets of three levels to the dollar, ${count} proxies asked a hundred times at once`, async () => {
        await using engine = await start("exact");
        await assertExactBudgets(engine.storage, count);
      });
    }

    it("loses nothing and spends nothing twice while a proxy is stopped, one killed, and the engine fails over", async () => {
      await using engine = await start("failures");
      await using upstream = await startUpstream(paidResponse);
      await using folder = await makeFolder();
      const path = `${folder.path}/mesh.json`;
      writeFileSync(path, JSON.stringify(fleetConfig({ url: upstream.url, limits, storage: engine.storage })));
      const proxies = Array.from({ length: 4 }, () => spawnCommand(["proxy", "--config", path, "--port", "0"]));
      const urls = await Promise.all(proxies.map((proxy) => proxy.url()));
      const seen = new Map<string, number>();
      const spendAll = (each: readonly string[]) =>
        Promise.all(
          each.flatMap((url) =>
            Array.from({ length: callers }, (_, index) => spend(url, fleetTokens[index % 2]!, seen))
          ),
        );
      const spending = spendAll(urls);
      const called = (share: number) => until(() => upstream.calls >= dollars * share, `calls: ${share}`);
      await called(0.2);
      process.kill(proxies[0]!.pid, "SIGTERM");
      await called(0.4);
      process.kill(proxies[1]!.pid, "SIGKILL");
      await called(0.6);
      await engine.failOver();
      await spending;
      await pause(leasesEndedMs); // what the killed proxy had reserved is free again
      await spendAll(urls.slice(2));
      const count = (end: string) => seen.get(end) ?? 0;
      const maxLost = callers;
      const facts = JSON.stringify({ calls: upstream.calls, seen: Object.fromEntries(seen) });
      assert(upstream.calls >= dollars && upstream.calls <= dollars + maxLost, facts);
      assert(count("200") >= dollars - maxLost && count("200") <= upstream.calls, facts);
      assertEquals(await proxies[0]!.code, 0, "a stopped proxy ends by itself");
      for (const proxy of proxies.slice(2)) {
        process.kill(proxy.pid, "SIGTERM");
        assertEquals(await proxy.code, 0);
      }
    });
  });
}
