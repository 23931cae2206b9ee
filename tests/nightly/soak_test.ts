/** A minute of what `deno task soak` does in ten, and `deno task soak:fleet` in sixty. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { findFleetProblems, soakFleet } from "../support/_fleet_soak.ts";
import { fleetEngines } from "../support/fleet_engines.ts";
import { makeFolder } from "../support/_library.ts";
import { findProblems, soak } from "../support/_soak.ts";

describe("A proxy under 500 streams at once for a minute", () => {
  it("leaks no memory, timer or listener, lets no rejection go unhandled, and counts every request", async () => {
    await using folder = await makeFolder();
    const result = await soak({ seconds: 60, streams: 500, folder: folder.path });
    assertEquals(findProblems(result), [], JSON.stringify(result));
  });
});

for (const { title, isInstalled, start } of fleetEngines) {
  if (title.includes("killed")) continue; // a master that is killed has no replica afterwards
  (isInstalled ? describe : describe.skip)(`Two proxies on ${title}, for half a minute`, () => {
    it("leak no memory, and count every dollar and every record once", async () => {
      await using engine = await start("soak");
      const { storage } = engine;
      const result = await soakFleet({ seconds: 30, count: 2, storage, disturb: () => engine.failOver() });
      assertEquals(findFleetProblems(result), [], JSON.stringify(result));
    });
  });
}
