/** A minute of what `deno task soak` does in ten, and `deno task soak:fleet` in sixty. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { findFleetProblems, hangForAWhile, soakFleet } from "../support/_fleet_soak.ts";
import { makeFolder } from "../support/_library.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { findProblems, soak } from "../support/_soak.ts";

describe("A proxy under 500 streams at once for a minute", () => {
  it("leaks no memory, timer or listener, lets no rejection go unhandled, and counts every request", async () => {
    await using folder = await makeFolder();
    const result = await soak({ seconds: 60, streams: 500, folder: folder.path });
    assertEquals(findProblems(result), [], JSON.stringify(result));
  });
});

(hasRedis ? describe : describe.skip)("Two proxies on one Redis that hangs for a while, for a minute", () => {
  it("leak no memory, and count every dollar and every record once", async () => {
    await using redis = await TestRedis.start();
    const result = await soakFleet({
      seconds: 60,
      count: 2,
      storage: { connector: "redis.redis.v1", url: redis.url },
      disturb: () => hangForAWhile(redis),
    });
    assertEquals(findFleetProblems(result), [], JSON.stringify(result));
  });
});
