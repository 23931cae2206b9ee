/** What a mesh remembers, and what becomes of it in another process. */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MeshError } from "../../src/errors.ts";
import { fakeClock, seededRandom } from "../../src/runtime/test.ts";
import type { MeshSnapshot } from "../../src/state/persistence/snapshot.ts";
import { minute, Process } from "./_state.ts";

const names = ["chat/a@one", "chat/b@one", "chat/c@two", "other/a@one", "other/c@two"];
const start = Date.UTC(2026, 0, 1);

/** Another process, `laterMs` after the snapshot by the wall clock; its monotonic clock begins anew. */
async function restarted(written: unknown, laterMs: number, known: readonly string[] = names): Promise<Process> {
  const clock = fakeClock({ now: start + laterMs - 5000 });
  await clock.advance(5000); // up for a while before it looks
  return new Process(known, clock).takeUp(written);
}

function tired(): Process {
  const process = new Process(names);
  process.request("chat/a@one", "failure", 500);
  process.request("chat/a@one", "failure", 503); // in standby for a minute in its pool
  process.request("chat/b@one", "failure", 502); // one more and it is in standby
  process.model("chat/c@two").breakers.openModel("rate_limited", 0, 5 * minute);
  return process;
}

describe("a snapshot", () => {
  it("is plain JSON: standbys by pool, model and provider with times of day, consecutive failures", () => {
    const process = tired();
    process.model("chat/a@one").breakers.openProvider("quota_exhausted", 0, Infinity);
    const a = { pool: "chat", model: "a", provider: "one" };
    assertEquals(process.written(), {
      version: 1,
      saved_at: start,
      breakers: [
        { ...a, standby: { reason: "retry_limit", since: start, until: start + minute }, consecutive_trips: 1 },
        { provider: "one", standby: { reason: "quota_exhausted", since: start, until: null } },
        { model: "c", provider: "two", standby: { reason: "rate_limited", since: start, until: start + 5 * minute } },
      ],
      failures: [{ pool: "chat", model: "b", provider: "one", failures: 1, last_status: 502 }],
    });
  });

  it("of a state in which nothing has happened is empty", () => {
    assertEquals(new Process(names).written(), { version: 1, saved_at: start, breakers: [], failures: [] });
  });
});

describe("a restored state", () => {
  it("leaves alone what rested, for as long as was left by the wall clock", async () => {
    const process = await restarted(tired().written(), 20_000);
    assertEquals(names.map((name) => process.look(name)), [
      "retry_limit for 40s",
      "active",
      "rate_limited for 280s",
      "active",
      "rate_limited for 280s",
    ]);
    assertEquals(process.reported, []);
    assertEquals(process.state.nextRecovery(), process.clock.monotonic() + 40_000);
  });

  it("goes on with the row of failures and the code of the last one", async () => {
    const process = await restarted(tired().written(), 0);
    assertEquals(process.model("chat/b@one").lastStatus, 502);
    process.request("chat/b@one", "failure");
    assertEquals(process.look("chat/b@one"), "retry_limit for 60s");
  });

  it("restores half-open what is over meanwhile, emits so, and a failed trial request doubles the cooldown", async () => {
    const process = await restarted(tired().written(), minute);
    assertEquals([process.look("chat/a@one"), process.look("chat/c@two")], ["trial", "rate_limited for 240s"]);
    assertEquals(process.reported.map(({ owner, to, reason }) => [owner.model, to, reason]), [
      ["a", "active", "retry_limit"],
    ]);
    process.request("chat/a@one", "failure");
    assertEquals(process.look("chat/a@one"), "retry_limit for 120s");
  });

  it("keeps a half-open breaker that no request has closed", async () => {
    const first = tired();
    await first.clock.advance(minute);
    first.state.halfOpenDue(first.clock.monotonic());
    const process = await restarted(first.written(), 2 * minute);
    assertEquals([process.look("chat/a@one"), process.reported], ["trial", []]);
  });

  it("makes no standby longer when the wall clock went back", async () => {
    const process = await restarted(tired().written(), -24 * 60 * minute);
    assertEquals([process.look("chat/a@one"), process.look("chat/c@two")], [
      "retry_limit for 60s",
      "rate_limited for 300s",
    ]);
  });

  it("ends no standby by time that only an operator ends", async () => {
    const first = new Process(names);
    first.model("chat/c@two").breakers.openProvider("manual", 0, Infinity);
    const process = await restarted(first.written(), 400 * 24 * 60 * minute);
    assertEquals([process.look("chat/c@two"), process.look("other/c@two")], ["manual for ever", "manual for ever"]);
    assertEquals(process.state.nextRecovery(), undefined);
  });

  it("keeps nothing in standby for more than a month, whatever was written", async () => {
    const standby = { reason: "rate_limited", since: start, until: Number.MAX_SAFE_INTEGER };
    const written = { version: 1, saved_at: start, breakers: [{ model: "a", provider: "one", standby }], failures: [] };
    const process = await restarted(written, 0);
    assertEquals(process.look("chat/a@one"), `rate_limited for ${31 * 24 * 3600}s`);
  });

  it("ignores what no longer exists: other models, pools and providers of the names", async () => {
    const process = await restarted(tired().written(), 0, ["chat/a@two", "new/a@one", "chat/c@one", "chat/new@one"]);
    for (const name of ["chat/a@two", "new/a@one", "chat/c@one", "chat/new@one"]) {
      assertEquals(process.look(name), "active", name);
    }
    await process.clock.advance(10 * minute);
    process.state.halfOpenDue(process.clock.monotonic());
    assertEquals([process.reported, process.written()], [[], {
      version: 1,
      saved_at: start + 10 * minute,
      breakers: [],
      failures: [],
    }]);
  });

  it("knows a pool that is made for a request's name, and passes on unused standbys while they last", async () => {
    const second = await restarted(tired().written(), 10_000, []);
    const third = await restarted(second.written(), 20_000, ["chat/b@one"]);
    assertEquals([third.state.nextRecovery(), third.look("chat/a@one"), third.reported], [
      45_000,
      "retry_limit for 40s",
      [],
    ]);
    assertEquals([third.look("chat/c@two"), third.look("other/c@two")], [
      "rate_limited for 280s",
      "rate_limited for 280s",
    ]);
  });

  it("is the snapshot's, whatever was before", () => {
    const process = tired();
    process.takeUp({ version: 1, saved_at: start, breakers: [], failures: [] });
    assertEquals(names.map((name) => process.look(name)), Array(5).fill("active"));
    process.request("chat/b@one", "failure");
    assertEquals(process.look("chat/b@one"), "active");
  });

  it("is not counted for a request of the time before", () => {
    const process = new Process(["chat/a@one"]);
    const model = process.model("chat/a@one");
    const request = model.begin();
    process.takeUp(tired().written());
    model.finish(request, "success", { now: 0 });
    assertEquals(process.look("chat/a@one"), "retry_limit for 60s");
  });

  it("takes members that it does not know for another release's", async () => {
    const written = { ...tired().written() as object, spend: { one: 5 } };
    assertEquals((await restarted(written, 0)).look("chat/a@one"), "retry_limit for 60s");
  });
});

/** A state after many things that can happen to models. */
async function lived(random: () => number): Promise<Process> {
  const process = new Process(names);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  for (let step = 0; step < 40; step++) {
    const [name, now] = [pick(names), process.clock.monotonic()];
    const happenings = [
      () => process.request(name, pick(["success", "failure", "failure", "none"]), pick([undefined, 500, 429])),
      () => process.model(name).breakers.openModel("rate_limited", now, Math.round(random() * 5 * minute)),
      () => process.model(name).breakers.openModelForCooldown("model_not_found", now),
      () => process.model(name).breakers.openProvider("quota_exhausted", now, pick([Infinity, 7 * minute])),
    ];
    pick([happenings[0]!, happenings[0]!, ...happenings])();
    await process.clock.advance(Math.round(random() * minute));
    process.state.halfOpenDue(process.clock.monotonic());
    for (const one of names) process.look(one);
  }
  return process;
}

describe("any state", () => {
  it("that is written, read and written again is the same, on the spot and later", async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const first = await lived(seededRandom(seed));
      const clock = fakeClock({ now: first.clock.now() });
      const second = new Process(names, clock).takeUp(first.written());
      assertEquals(second.written(), first.written(), `seed ${seed}`);
      for (const process of [first, second]) {
        await process.clock.advance(minute);
        process.state.halfOpenDue(process.clock.monotonic());
      }
      assertEquals(second.written(), first.written(), `seed ${seed}`);
      for (const name of names) assertEquals(second.look(name), first.look(name), `seed ${seed}`);
    }
  });
});

describe("a snapshot of something else", () => {
  for (
    const snapshot of [null, [], "text", {}, { version: 2, saved_at: 0, breakers: [], failures: [] }, { version: "1" }]
  ) {
    it(`is refused whole: ${JSON.stringify(snapshot)}`, () => {
      const process = tired();
      const before = process.written();
      const error = assertThrows(() => process.takeUp(snapshot), MeshError);
      assertEquals(error.code, "invalid_state");
      assertEquals(error.message, "Cannot restore the saved state: it is damaged, or of another release");
      assertEquals(process.written(), before);
    });
  }
});

describe("a snapshot with one entry that cannot be read", () => {
  const standby = { reason: "manual", since: 0, until: 1 };
  const owner = { pool: "chat", model: "a", provider: "one" };
  const rest = (entry: unknown) => ({ breakers: entry });
  const failures = (entry: unknown) => ({ failures: entry });
  const key = { provider: "one", key: "k", reason: "auth", until: 1 };
  const table: readonly [at: string, entry: { breakers?: unknown; failures?: unknown; keys?: unknown }][] = [
    ["breakers[3].provider", rest(null)],
    ["breakers[3].provider", rest({ model: "a" })],
    ["breakers[3].model", rest({ model: 5, provider: "one" })],
    ["breakers[3].pool", rest({ pool: "chat", provider: "one" })],
    ["breakers[3].cause", rest({ ...owner, cause: 5 })],
    ["breakers[3].half_open", rest({ ...owner, half_open: 1 })],
    ["breakers[3].consecutive_trips", rest({ ...owner, consecutive_trips: 1.5 })],
    ["breakers[3].standby", rest({ ...owner, standby: null })],
    ["breakers[3].standby", rest({ ...owner, standby: { ...standby, reason: "<b>" } })],
    ["breakers[3].standby", rest({ ...owner, standby: { ...standby, since: 1e300 } })],
    ["breakers[3].standby", rest({ ...owner, standby: { ...standby, until: undefined } })],
    ["failures[1].pool", failures({ model: "a", provider: "one", failures: 1 })],
    ["failures[1].model", failures({ pool: "chat", provider: "one", failures: 1 })],
    ["failures[1].failures", failures({ ...owner, failures: -1 })],
    ["failures[1].last_status", failures({ ...owner, failures: 1, last_status: "500" })],
    ["keys[1].until", { keys: { ...key, until: "soon" } }],
    ["keys[1].reason", { keys: { ...key, reason: "whim" } }],
  ];
  for (const [at, entry] of table) {
    it(`is taken up without it, naming ${at}: ${JSON.stringify(entry)}`, () => {
      const first = tired();
      first.model("chat/a@one").breakers.openProvider("quota_exhausted", 0, Infinity);
      const written = first.written() as MeshSnapshot;
      const [[name, odd]] = Object.entries(entry) as [["breakers" | "failures" | "keys", unknown]];
      const list: readonly unknown[] = name === "keys" ? [key] : written[name];
      const process = new Process(names);
      assertEquals(process.archive.restore({ ...written, [name]: [...list, odd] }), [at]);
      assertEquals(process.written(), written);
    });
  }

  it("in place of a list, or of the time it was written at, is taken up without that", () => {
    const written = tired().written() as MeshSnapshot;
    for (const [name, odd] of Object.entries({ breakers: undefined, failures: {}, keys: "none", saved_at: -1 })) {
      const process = new Process(names);
      assertEquals(process.archive.restore({ ...written, [name]: odd }), [name]);
      assertEquals(process.look("chat/a@one"), name === "breakers" ? "active" : "retry_limit for 60s");
    }
  });

  it("of whatever JSON is refused with that error, or taken up", () => {
    const random = seededRandom(7);
    let [refused, taken] = [0, 0];
    for (let count = 0; count < 600; count++) {
      const process = new Process(names);
      const junk = JSON.parse(JSON.stringify(damaged(random)));
      try {
        process.takeUp(junk);
        taken++;
        for (const name of names) process.look(name);
        JSON.stringify(process.written());
      } catch (error) {
        refused++;
        assertMatch(
          String(error),
          /^MeshError: Cannot restore the saved state: it is damaged, or of another release$/,
        );
      }
    }
    assertEquals([refused > 20, taken > 100], [true, true], `${refused} refused, ${taken} taken`);
  });
});

/** A good snapshot with one member, anywhere in it, replaced by something else. */
function damaged(random: () => number): unknown {
  const process = tired();
  process.model("chat/b@one").breakers.openProvider("manual", 0, Infinity);
  const snapshot = process.written() as Record<string, unknown>;
  let place: Record<string, unknown> = snapshot;
  for (;;) {
    const keys = Object.keys(place);
    const key = keys[Math.floor(random() * keys.length)] ?? "anything";
    const next = place[key];
    if (typeof next === "object" && next !== null && random() < 0.7) {
      place = next as Record<string, unknown>;
      continue;
    }
    const junk = [null, "", "x", -1, 0, 1e308, 2 ** 53, true, [], {}, [[]], { __proto__: null, a: 1 }, undefined, 12.5];
    place[key] = junk[Math.floor(random() * junk.length)];
    return snapshot;
  }
}
