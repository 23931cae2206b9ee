/** session-stickiness over HTTP: a session stays with its model, whichever way it is named. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Stage, stage } from "../support/_failover.ts";
import { tally } from "../support/_tuned.ts";
import { type Behaviour, ok, status } from "../support/upstream.ts";

const [a, b, c] = ["a", "b", "c"].map((name) => ok({ text: name })) as [Behaviour, Behaviour, Behaviour];
const sticky = {
  pool: {
    strategy: "session-stickiness",
    model_priority: undefined,
    retry: { max_attempts: 0 },
    deactivation: { retry_limit: 1 },
  },
};
const json = { "content-type": "application/json" };
const names = Array.from({ length: 15 }, (_, place) => `session-${place}`);

type Ask = (scene: Stage, session: string) => ReturnType<Stage["ask"]>;

const byHeader: Ask = (scene, session) => scene.ask({}, { headers: { ...json, "x-mesh-session": session } });

/** In the order in which they count. */
const ways: Record<string, Ask> = {
  "the header x-mesh-session": byHeader,
  "mesh.session": (scene, session) => scene.ask({ mesh: { session } }),
  "prompt_cache_key": (scene, prompt_cache_key) => scene.ask({ prompt_cache_key }),
  "safety_identifier": (scene, safety_identifier) => scene.ask({ safety_identifier }),
  "user": (scene, user) => scene.ask({ user }),
};

/** Which model each session is with. */
async function homes(scene: Stage, ask: Ask): Promise<string[]> {
  const all: string[] = [];
  for (const name of names) all.push((await ask(scene, name)).text!);
  return all;
}

describe("a session", () => {
  for (const [way, ask] of Object.entries(ways)) {
    it(`named by ${way} stays with its model, and others are with others`, async () => {
      await using scene = await stage({ a, b, c }, sticky);
      const first = await homes(scene, ask);
      assertEquals(await homes(scene, ask), first);
      assert(Object.values(tally(first)).every((count) => count >= 2), JSON.stringify(tally(first)));
      assertEquals(Object.keys(tally(first)).sort(), ["a", "b", "c"]);
      assertEquals(scene.events, []);
    });
  }

  it("is the same one, whichever way it is named", async () => {
    await using scene = await stage({ a, b, c }, sticky);
    const [first, ...others] = await Promise.all(Object.values(ways).map((ask) => homes(scene, ask)));
    for (const other of others) assertEquals(other, first);
  });

  it("is named by the header rather than by `user`", async () => {
    await using scene = await stage({ a, b, c }, sticky);
    const expected = await homes(scene, byHeader);
    const headers = (session: string) => ({ headers: { ...json, "x-mesh-session": session } });
    const both: Ask = (_, session) => scene.ask({ user: "somebody", mesh: { session: "other" } }, headers(session));
    assertEquals(await homes(scene, both), expected);
  });

  it("is not sent to the provider, but for what is the provider's own field", async () => {
    await using scene = await stage({ a }, sticky);
    await scene.ask({ user: "u-1", mesh: { session: "s-1" } }, { headers: { ...json, "x-mesh-session": "s-2" } });
    const { headers, body } = await scene.received("a");
    assertEquals(JSON.parse(body).user, "u-1");
    assert(!body.includes("s-1") && !JSON.stringify(headers).includes("s-2"), body);
  });
});

describe("the sessions of a model in standby", () => {
  it("are the only ones to move, and stay for 30 minutes where they went", async () => {
    await using scene = await stage({ a, b, c }, sticky);
    const before = await homes(scene, byHeader);
    scene.upstreams.a!.follow([status(500), a]);
    const away = await homes(scene, byHeader);
    const isMoved = before.map((home) => home === "a");
    away.forEach((home, place) => isMoved[place] ? assert(home !== "a") : assertEquals(home, before[place]));
    await scene.clock.advance(60_000);
    assertEquals([scene.states().a, await homes(scene, byHeader)], ["active", away]);
    await scene.clock.advance(28 * 60_000);
    assertEquals(await homes(scene, byHeader), away);
    await scene.clock.advance(60_000);
    assertEquals(await homes(scene, byHeader), before);
  });

  it("without a name go on as under stick-until-failure", async () => {
    await using scene = await stage({ a: [a, status(500), a], b }, sticky);
    const answers = await scene.askTimes(3);
    await scene.clock.advance(60_000);
    answers.push(await scene.ask());
    assertEquals(answers.map(({ text }) => text).join(""), "abbb");
  });
});
