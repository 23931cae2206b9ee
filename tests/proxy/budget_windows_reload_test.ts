/** Budgets with windows under one configuration after the other: what was spent counts on where the window is the same. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startOnFile } from "../support/_renewed.ts";
import { clientsConfig, tempFolder } from "../support/_runtime_clients.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const token = "of-the-app-0123456789";

describe("A budget with windows, over a reload", () => {
  const places: Readonly<Record<string, (budget: unknown) => Record<string, unknown>>> = {
    "of all": (budget) => ({ budget, proxy: { auth: { tokens: [token] } } }),
    "of a client": (budget) => ({ proxy: { auth: { tokens: [{ token, name: "app", budget }] } } }),
    "of a team": (budget) => ({
      teams: { shop: { budget } },
      proxy: { auth: { tokens: [{ token, name: "app", team: "shop" }] } },
    }),
  };
  const month = (limit: number, timezone = "Europe/Berlin") => ({ limit, window: "1mo", timezone });
  for (const [whose, createSections] of Object.entries(places)) {
    it(`${whose} has what was spent in the windows that remain, under other limits too`, async () => {
      await using upstream = await startUpstream(ok());
      await using folder = await tempFolder();
      const config = clientsConfig(upstream, undefined);
      const write = (budget: unknown) => ({ ...config, ...createSections(budget) });
      await using proxy = await startOnFile(folder.path, write({ monthly_limit: 9 }));
      const askTwice = async () => [await proxy.ask(token), await proxy.ask(token)];
      assertEquals(await askTwice(), [200, 200]);
      await proxy.renew(write([{ limit: 3, window: "1mo" }, month(9)]));
      assertEquals(await askTwice(), [200, 429], "1mo in UTC is the window of monthly_limit");
      await proxy.renew(write([month(2)]));
      assertEquals(await askTwice(), [200, 429], "one of the three was spent since the window exists");
      await proxy.renew(write([month(2, "Asia/Tokyo"), { limit: 9, window: "rolling 24h" }]));
      assertEquals(await askTwice(), [200, 200], "another time zone is another window");
      await proxy.renew(write([{ limit: 3, window: "rolling 1d" }]));
      assertEquals(await askTwice(), [200, 429]);
    });
  }
});
