/** Four proxies on a Redis or a PostgreSQL: budgets of client, team and all hold; nightly on every engine. */
import { it } from "@std/testing/bdd";
import { assertExactBudgets } from "../support/fleet.ts";
import { describeOnServers } from "../support/shared_servers.ts";

describeOnServers("four proxies on one", (start) => {
  it("spend budgets of three levels to the dollar, whichever is the lowest, asked a hundred times at once", async () => {
    await using server = await start();
    await assertExactBudgets(server.storage, 4);
  });
});
