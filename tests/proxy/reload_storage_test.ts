/** A reload where states and counts outlive the process in a file. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { budgeted, startOnFile } from "../support/_renewed.ts";
import { testConfig } from "../support/proxy.ts";
import { Gate, ok, startUpstream, status } from "../support/upstream.ts";

/** Dollars spent this month against the budget of all, as a state file has it. */
function spentIn(record: { spending: { budget: string; months: { spent: number }[] }[] }): number {
  return record.spending.find(({ budget }) => budget === "all")!.months.at(-1)!.spent / 1e9;
}

describe("a reload where the state is kept in a file", () => {
  for (const policy of ["sync-on-boundary", "immediate", "periodic"]) {
    it(`counts every dollar once, requests under way included, and keeps it after the end: ${policy}`, async () => {
      const folder = await Deno.makeTempDir();
      await using upstream = await startUpstream(ok());
      const storage = { path: `${folder}/state.json`, sync_policy: policy };
      {
        await using started = await startOnFile(folder, budgeted(upstream, storage, 5));
        assertEquals([await started.ask(), await started.ask()], [200, 200]);
        const gate = new Gate();
        upstream.follow({ play: async (exchange) => void (await gate.pass(), await ok().play(exchange)) });
        const underWay = started.ask();
        await gate.reached(1);
        await started.renew(budgeted(upstream, storage, 6));
        await started.renew(budgeted(upstream, storage, 4));
        gate.openAll();
        assertEquals(await underWay, 200);
        upstream.follow(ok());
        assertEquals([await started.ask(), await started.ask()], [200, 429]);
      }
      const record = JSON.parse(await Deno.readTextFile(`${folder}/state.json`));
      assertEquals(spentIn(record), 4);
      {
        await using again = await startOnFile(folder, budgeted(upstream, storage, 4));
        assertEquals(await again.ask(), 429, "the client's own money");
        assertEquals([await again.ask("of-nobody-0123456789"), await again.ask("of-nobody-0123456789")], [200, 429]);
      }
      await Deno.remove(folder, { recursive: true });
    });
  }

  it("asks models in standby for a budget again once the budget is raised, also after a restart", async () => {
    const folder = await Deno.makeTempDir();
    await using upstream = await startUpstream(ok());
    const storage = { path: `${folder}/state.json` };
    const unknownCaller = "of-nobody-0123456789";
    {
      await using started = await startOnFile(folder, budgeted(upstream, storage, 1));
      assertEquals([
        await started.ask(unknownCaller),
        await started.ask(unknownCaller),
        await started.ask(unknownCaller),
      ], [200, 200, 429]);
      assertEquals(started.proxy.mesh.listModels().map(({ status }) => status), ["standby"]);
    }
    {
      await using started = await startOnFile(folder, budgeted(upstream, storage, 1));
      assertEquals(started.proxy.mesh.listModels().map(({ status }) => status), ["standby"]);
    }
    {
      await using started = await startOnFile(folder, budgeted(upstream, storage, 2));
      assertEquals([await started.ask(unknownCaller), await started.ask(unknownCaller)], [200, 429]);
    }
    await Deno.remove(folder, { recursive: true });
  });

  it("keeps models in standby, in the snapshot too, and goes on with another file where one is named", async () => {
    const folder = await Deno.makeTempDir();
    await using upstream = await startUpstream(status(500));
    const config = (path: string) =>
      testConfig({
        upstreams: { a: upstream.url },
        config: { storage: { path: `${folder}/${path}` } },
        pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } },
      });
    {
      await using started = await startOnFile(folder, config("one.json"));
      await started.ask();
      await started.renew(config("two.json"));
      assertEquals(started.proxy.mesh.listModels().map(({ status }) => status), ["standby"]);
    }
    for (const name of ["one.json", "two.json"]) {
      const { breakers } = JSON.parse(await Deno.readTextFile(`${folder}/${name}`));
      assertEquals(breakers.length, 1, name);
    }
    await Deno.remove(folder, { recursive: true });
  });

  it("goes on as it was when the new storage cannot be opened", async () => {
    const folder = await Deno.makeTempDir();
    await using upstream = await startUpstream(ok());
    const storage = { path: `${folder}/state.json` };
    {
      await using started = await startOnFile(folder, budgeted(upstream, storage, 5));
      await started.ask();
      const broken = { ...storage, persistence: { encryption: true } };
      const error = await started.renew(budgeted(upstream, broken, 5)).then(() => undefined, (error) => error);
      assert(/MESH_STORAGE_KEY/.test(error?.message), error?.message);
      assertEquals(await started.ask(), 200);
    }
    assertEquals(spentIn(JSON.parse(await Deno.readTextFile(storage.path))), 2);
    await Deno.remove(folder, { recursive: true });
  });
});
