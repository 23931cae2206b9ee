import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { OverviewOwner, type OverviewReport } from "../../src/proxy/overview/shared_overview.ts";
import type { Overview } from "../../src/proxy/overview/overview.ts";
import { fakeClock } from "../../src/runtime/test.ts";

const report = (facts: Partial<OverviewReport>): OverviewReport => ({
  records: [],
  finished: [],
  refused: [],
  rotations: [],
  guarded: [],
  lookups: [],
  held: undefined,
  inFlight: 0,
  lost: [],
  ...facts,
});

describe("What the process above shows of several", () => {
  it("adds up what is true of each, and keeps what one that ended has counted", async () => {
    const owner = new OverviewOwner(fakeClock());
    owner.receive(1, report({ inFlight: 3, lost: [["console", 2]], refused: [{ status: 401, client: "web" }] }));
    owner.receive(2, report({ inFlight: 4, lost: [["console", 5]], refused: [{ status: 401, client: "web" }] }));
    owner.receive(1, report({ inFlight: 2, lost: [["console", 3]] }));
    const read = async () => {
      const { inFlight, lost, clients } = await owner.respond({ part: "clients" }) as Overview;
      return [inFlight, lost, clients[0]?.requests] as const;
    };
    assertEquals(await read(), [6, [["console", 8]], 2]);
    owner.end(1);
    assertEquals(await read(), [4, [["console", 8]], 2]);
    owner.end(2);
    owner.end(2);
    assertEquals(await read(), [0, [["console", 8]], 2]);
  });

  it("adds up what the caches have served, and hold in the memory of those that are left", async () => {
    const owner = new OverviewOwner(fakeClock());
    const hit = { pool: "chat", result: "hit", savedUsd: 0.5 } as const;
    const miss = { pool: "chat", result: "miss" } as const;
    const read = async () => {
      const { cache, held } = await owner.respond({ part: "cache" }) as Overview;
      return [cache, held];
    };
    owner.receive(1, report({ lookups: [hit, miss] }));
    assertEquals(await read(), [{ hits: 1, misses: 1, saved_usd: 0.5 }, undefined]);
    owner.receive(1, report({ lookups: [hit], held: { entries: 2, bytes: 20 } }));
    owner.receive(2, report({ held: { entries: 3, bytes: 30 } }));
    assertEquals(await read(), [{ hits: 2, misses: 1, saved_usd: 1 }, { entries: 5, bytes: 50 }]);
    owner.end(2);
    assertEquals(await read(), [{ hits: 2, misses: 1, saved_usd: 1 }, { entries: 2, bytes: 20 }]);
  });

  it("numbers the records of all in one row, and has a reader wait for the next one", async () => {
    const clock = fakeClock();
    const owner = new OverviewOwner(clock);
    owner.receive(1, report({ records: [{ type: "event", pool: "a" }] }));
    owner.receive(2, report({ records: [{ type: "event", pool: "b" }, { type: "event", pool: "c" }] }));
    const first = await owner.respond({ after: 1, waitMs: 1000 });
    assertEquals(first, { latest: 3, records: [[2, { type: "event", pool: "b" }], [3, { type: "event", pool: "c" }]] });
    const next = owner.respond({ after: 3, waitMs: 1000 });
    owner.receive(1, report({ records: [{ type: "event", pool: "d" }] }));
    assertEquals(await next, { latest: 4, records: [[4, { type: "event", pool: "d" }]] });
    const none = owner.respond({ after: 4, waitMs: 1000 });
    await clock.advance(1000);
    assertEquals(await none, { latest: 4, records: [] });
    assertEquals(await owner.respond({ after: null, waitMs: 0 }), { latest: 4, records: [] });
  });
});
