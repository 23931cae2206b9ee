/** Manual overrides: standbys beside a model's own, each ended by an operator. */
import { assertEquals, assertObjectMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fakeClock } from "../../src/runtime/test.ts";
import type { BreakerOwner, OverrideCause } from "../../src/state/breaker/circuit_breaker.ts";
import { minute, Process } from "./_state.ts";

const names = ["chat/a@one", "other/a@one", "chat/b@one", "chat/c@two"];

/** A process in which an operator has deactivated something until it is activated. */
function holding(owner: BreakerOwner, cause: OverrideCause = "manual", standbyMs = Infinity): Process {
  const process = new Process(names);
  hold(process, owner, cause).open(cause, process.clock.monotonic(), standbyMs);
  return process;
}

const hold = ({ state }: Process, owner: BreakerOwner, cause: OverrideCause) => state.overrides.get(owner, cause);
const looks = (process: Process) => names.map((name) => process.look(name));

describe("a manual override", () => {
  const rows: readonly [owner: BreakerOwner, held: readonly string[]][] = [
    [{ provider: "one" }, ["chat/a@one", "other/a@one", "chat/b@one"]],
    [{ model: "a", provider: "one" }, ["chat/a@one", "other/a@one"]],
    [{ pool: "chat", model: "a", provider: "one" }, ["chat/a@one"]],
    [{ model: "a", provider: "two" }, []],
  ];
  for (const [owner, held] of rows) {
    it(`of ${JSON.stringify(owner)} concerns ${held.join(", ") || "none"}, made before or after`, () => {
      const expected = names.map((name) => held.includes(name) ? "manual for ever" : "active");
      assertEquals(looks(holding(owner)), expected);
      const empty = new Process([]);
      hold(empty, owner, "manual").open("manual", 0, Infinity);
      assertEquals(looks(empty), expected);
    });
  }

  it("goes on when the other standby of its owner is over, and the other way round", () => {
    const process = holding({ provider: "one" }, "health_probe", 2 * minute);
    process.model("chat/a@one").breakers.openProvider("quota_exhausted", 0, minute);
    assertEquals(process.look("chat/a@one"), "health_probe for 120s");
    process.model("chat/a@one").breakers.openProvider("quota_exhausted", 0, 3 * minute);
    assertEquals(process.look("chat/a@one"), "quota_exhausted for 180s");
    hold(process, { provider: "one" }, "health_probe").close(undefined, true);
    assertEquals(process.look("chat/a@one"), "quota_exhausted for 180s");
  });

  it("by an operator is what is reported, where others have no end either", () => {
    const process = holding({ provider: "one" }, "health_probe");
    hold(process, { provider: "one" }, "manual").open("manual", 0, Infinity);
    assertEquals(process.look("chat/a@one"), "manual for ever");
  });

  it("that is over leaves the model half-open, and its events name the owner only", async () => {
    const owner = { pool: "chat", model: "a", provider: "one" };
    const process = holding(owner, "maintenance_window", minute);
    assertEquals(process.state.nextRecovery(), minute);
    await process.clock.advance(minute);
    process.state.halfOpenDue(minute);
    assertEquals(process.look("chat/a@one"), "trial");
    assertEquals(process.reported, [{ owner, to: "active", reason: "maintenance_window" }]);
    process.request("chat/a@one", "failure");
    assertEquals(process.look("chat/a@one"), "retry_limit for 60s");
  });
});

describe("a manual override in a snapshot", () => {
  it("is apart from the other standby of its owner, and stays so", () => {
    const first = holding({ provider: "one" });
    first.model("chat/a@one").breakers.openProvider("quota_exhausted", 0, minute);
    const second = new Process(names, fakeClock({ now: first.clock.now() })).takeUp(first.written());
    assertEquals(second.written(), first.written());
    assertObjectMatch(first.written() as object, {
      version: 1,
      breakers: [
        { provider: "one", standby: { reason: "quota_exhausted" } },
        { provider: "one", cause: "manual", standby: { reason: "manual", until: null } },
      ],
    });
    second.model("chat/a@one");
    hold(second, { provider: "one" }, "manual").close();
    assertEquals(second.look("chat/a@one"), "quota_exhausted for 60s");
  });

  it("holds what is made later, and is passed on until then", () => {
    const first = holding({ model: "a", provider: "one" });
    const second = new Process([], fakeClock({ now: first.clock.now() })).takeUp(first.written());
    assertEquals(second.written(), first.written());
    assertEquals(looks(second), looks(first));
  });

  it("that knows of none ends those that are", () => {
    const process = holding({ provider: "one" });
    process.takeUp(new Process(names).written());
    assertEquals(looks(process), Array(4).fill("active"));
  });

  it("of another process that goes on beside this one is taken up", () => {
    const process = new Process(names);
    process.archive.merge(holding({ model: "a", provider: "one" }).written());
    assertEquals(looks(process), ["manual for ever", "manual for ever", "active", "active"]);
  });

  it("may be of an earlier release, in which there were none", async () => {
    const standby = { reason: "health_probe", since: 0, until: null };
    const process = new Process(names).takeUp({
      version: 1,
      saved_at: 0,
      breakers: [{ provider: "one", standby }],
      failures: [],
    });
    await process.clock.advance(minute);
    assertEquals(process.look("chat/a@one"), "health_probe for ever");
  });
});
