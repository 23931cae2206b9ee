import { assertEquals } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";

/** What a connector declares, code left out. */
function declared(connector: object): object {
  return Object.fromEntries(Object.entries(connector).filter(([, value]) => typeof value !== "function"));
}

Deno.test("a connector that is imported when it is named is the one that was declared", async () => {
  for (const connector of serverConnectors) {
    if ("load" in connector) assertEquals(declared(await connector.load()), declared(connector), connector.id);
  }
});
