/** What processes publish of their standbys. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { EndDate } from "../../src/state/breaker/end_date.ts";
import { BreakerEvents } from "../../src/state/sharing/breaker_events.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { minute, Process } from "./_state.ts";

class Party extends Process {
  readonly events: BreakerEvents;

  constructor(id: string, wall?: number) {
    super(["chat/a@one"], fakeClock(wall === undefined ? {} : { now: wall }));
    this.events = new BreakerEvents(this.state, this.clock, id);
  }

  /** Sends all of its news to the others. */
  tell(...others: readonly Party[]): number {
    let messages = 0;
    for (let news = this.events.pending(); news !== undefined; news = this.events.pending()) {
      news.done();
      messages++;
      for (const other of others) other.events.receive(news.message);
    }
    return messages;
  }

  get left(): number | undefined {
    const until = this.state.modelBreaker("a", "one").standby?.until;
    return until === undefined ? undefined : until - this.clock.monotonic();
  }

  rest(ms: number): void {
    this.state.report(this.state.modelBreaker("a", "one").open("rate_limited", this.clock.monotonic(), ms));
  }
}

function pair(wall?: number): [Party, Party] {
  return [new Party("one"), new Party("other", wall)];
}

describe("breakers of two processes", () => {
  it("are merged as the later end, whichever was published first", () => {
    const [one, other] = pair();
    one.rest(minute);
    other.rest(2 * minute);
    one.tell(other);
    other.tell(one);
    assertEquals([one.left, other.left], [2 * minute, 2 * minute]);
    assertEquals([one.tell(other), other.tell(one)], [0, 0]);
  });

  it("last as long where the other's clock is an hour off", () => {
    for (const wall of [Date.UTC(2025, 11, 31, 23), Date.UTC(2026, 0, 1, 1)]) {
      const [one, other] = pair(wall);
      one.rest(minute);
      one.tell(other);
      assertEquals(other.left, minute);
    }
  });

  it("that end at a date follow each process's wall clock, however far apart these are", () => {
    const [one, other] = pair(Date.UTC(2026, 0, 1, 1));
    const end = new EndDate(one.clock.now() + 60 * minute, one.clock);
    one.state.report(one.state.modelBreaker("a", "one").open("quota_exhausted", one.clock.monotonic(), end));
    one.tell(other);
    assertEquals(other.left, 60 * minute);
    other.clock.jumpWallTime(45 * minute);
    assertEquals([one.left, other.left], [60 * minute, 15 * minute]);
  });

  it("end for all when one of them ends them before their time, and do not come back", async () => {
    const [one, other] = pair();
    one.rest(minute);
    one.tell(other);
    await Promise.all([one.clock.advance(1000), other.clock.advance(1000)]);
    const late = () => {
      other.events.markStale(); // it was asked, and sends what it knew before it heard
      return other.events.pending()!.message;
    };
    const message = late();
    one.state.report(one.state.modelBreaker("a", "one").close("manual"));
    one.tell(other);
    one.events.receive(message);
    assertEquals([one.left, other.left], [undefined, undefined]);
  });

  it("end for all although everything was to be published anew in between", () => {
    const [one, other] = pair();
    one.rest(minute);
    one.tell(other);
    one.events.markStale();
    one.state.report(one.state.modelBreaker("a", "one").close("manual"));
    one.tell(other);
    assertEquals(other.left, undefined);
  });

  it("that are over by themselves are not published", async () => {
    const [one, other] = pair();
    one.rest(minute);
    one.tell(other);
    await one.clock.advance(minute + 1);
    one.state.halfOpenDue(one.clock.monotonic());
    assertEquals(one.tell(other), 0);
  });

  it("by hand hold for both, of a provider that both have", () => {
    const [one, other] = pair();
    one.state.overrides.get({ provider: "one" }, "manual").open("manual", 0, Infinity);
    one.state.overrides.get({ provider: "unknown" }, "manual").open("manual", 0, Infinity);
    one.tell(other);
    assertEquals(other.model("chat/a@one").breakers.all.filter(({ standby }) => standby !== undefined).length, 1);
    assertEquals(other.state.breakers.some(({ owner }) => owner.provider === "unknown"), false);
  });

  it("are sent to any process that asks, and what is not a message is passed over", () => {
    const [one, other] = pair();
    one.rest(minute);
    one.tell();
    assertEquals(one.events.receive(other.events.request()), true);
    one.tell(other);
    assertEquals(other.left, minute);
    for (const text of ["", "null", "{}", '{"version":1,"from":"x","breakers":[{}]}']) {
      assertEquals(one.events.receive(text), false);
    }
  });
});
