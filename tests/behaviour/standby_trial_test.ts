/** A model that comes back from standby is half-open: one request at a time, until one of them has an outcome. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { behind, breathe, soon, type Stage, stage, type StageOptions } from "../support/_failover.ts";
import { type Behaviour, Gate, hang, respond, type Script, status, stream } from "../support/upstream.ts";

const b = respond({ text: "from b" });
const fromA = respond({ text: "from a" });
const oneOutcome: StageOptions = { pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } } };

/** A provider whose model has been in standby and is half-open from now on, and another one. */
async function halfOpen(script: Script, options = oneOutcome): Promise<Stage> {
  const scene = await stage({ a: status(500), b }, options);
  await scene.ask();
  await scene.clock.advance(60_000);
  scene.upstreams.a!.follow(script);
  return scene;
}

/** Calls of the model since it is half-open. */
const trials = (scene: Stage) => scene.calls.a! - 1;

describe("a half-open model", () => {
  it("gets one request at a time, and the others go to the next model", async () => {
    const gate = new Gate();
    await using scene = await halfOpen(behind(gate, fromA));
    const trial = scene.ask();
    await scene.received("a", 2);
    assertEquals((await scene.askTimes(3)).map(({ text }) => text), Array(3).fill("from b"));
    assertEquals(trials(scene), 1);
    gate.open();
    assertEquals((await trial).text, "from a");
  });

  it("that serves has passed: requests at once go to it again", async () => {
    const gate = new Gate();
    await using scene = await halfOpen([fromA, behind(gate, fromA)]);
    await scene.ask();
    const answers = [scene.ask(), scene.ask(), scene.ask()];
    await scene.received("a", 5);
    gate.openAll();
    assertEquals((await Promise.all(answers)).map(({ text }) => text), Array(3).fill("from a"));
  });

  it("holds its place as long as a stream is open", async () => {
    const gate = new Gate();
    await using scene = await halfOpen(stream({ pieces: ["from", " a"], gate }));
    gate.open(2); // the role and the first piece
    const trial = await scene.proxy.chat({ stream: true });
    assertEquals((await scene.ask()).text, "from b");
    gate.openAll();
    assertEquals((await trial.text()).includes("[DONE]"), true);
    await scene.ask();
    assertEquals(trials(scene), 2);
  });

  it("gets all requests when no other model is left: answering comes first", async () => {
    const gate = new Gate();
    await using scene = await halfOpen(behind(gate, fromA));
    scene.upstreams.b!.follow(status(500));
    const first = scene.ask();
    await scene.received("a", 2);
    const second = scene.ask(); // sets b aside
    const third = scene.ask();
    await scene.received("a", 4);
    gate.openAll();
    assertEquals((await Promise.all([first, second, third])).map(({ text }) => text), Array(3).fill("from a"));
  });

  it("is distinguished from an active one neither by the status of its pool, nor by an event", async () => {
    await using scene = await halfOpen(fromA);
    assertEquals([scene.states(), scene.events.at(-1)], [{ a: "active", b: "active" }, "recovery a retry_limit"]);
    await scene.ask();
    assertEquals(scene.events.slice(-2), ["recovery a retry_limit", "rotation b>a recovery"]);
  });
});

describe("a failed trial request", () => {
  it("is one request, whatever retry_limit says", async () => {
    const options = { pool: { retry: { max_attempts: 0 } } };
    await using scene = await stage({ a: status(500), b }, options);
    await scene.askTimes(3);
    await scene.clock.advance(60_000);
    assertEquals((await scene.ask()).text, "from b");
    assertEquals([scene.calls.a, scene.states().a], [4, "retry_limit for 120s"]);
    assertEquals(scene.events.slice(-2), ["deactivation a retry_limit", "rotation a>b server"]);
  });

  const ladders: readonly [cooldown: string, seconds: readonly number[]][] = [
    ["60s", [60, 120, 240, 480, 600, 600]],
    ["90s", [90, 180, 360, 600, 600]],
    ["10m", [600, 600, 600]],
    ["20m", [1200, 1200, 1200]],
  ];
  for (const [cooldown, seconds] of ladders) {
    it(`after a cooldown of ${cooldown} is in standby for ${seconds.join(", ")} s`, async () => {
      await using scene = await stage({ a: status(500), b }, { pool: { ...oneOutcome.pool, recovery: { cooldown } } });
      for (const rest of seconds) {
        await scene.ask();
        assertEquals(scene.states().a, `retry_limit for ${rest}s`);
        await scene.clock.advance(rest * 1000);
      }
      assertEquals(scene.calls.a, seconds.length);
    });
  }

  it("is a stream that breaks, too", async () => {
    await using scene = await halfOpen(stream({ cut: { after: 1, how: "end" } }));
    assertEquals((await scene.askStream()).last, "error");
    assertEquals(scene.states().a, "retry_limit for 120s");
  });

  it("frees the permit: after the longer standby the next request is the next trial request", async () => {
    await using scene = await halfOpen([status(500), fromA]);
    await scene.ask();
    await scene.clock.advance(120_000);
    assertEquals([(await scene.ask()).text, trials(scene)], ["from a", 2]);
  });
});

describe("a trial request that succeeds", () => {
  it("resets the cooldown and the consecutive failures", async () => {
    const options = { pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 2 } } };
    const bad = status(500);
    await using scene = await stage({ a: [bad, bad, bad, fromA, bad, bad], b }, options);
    await scene.askTimes(2);
    await scene.clock.advance(60_000);
    await scene.ask();
    assertEquals(scene.states().a, "retry_limit for 120s");
    await scene.clock.advance(120_000);
    assertEquals((await scene.askTimes(2)).map(({ text }) => text), ["from a", "from b"]);
    assertEquals(scene.states().a, "active");
    await scene.ask();
    assertEquals(scene.states().a, "retry_limit for 60s");
  });
});

describe("a trial request without an outcome", () => {
  const silent: readonly [name: string, behaviour: Behaviour, text: string][] = [
    ["a fault of the request", status(400), "from b"],
    ["an empty answer", respond({ text: "" }), "from b"],
  ];
  for (const [name, behaviour, text] of silent) {
    it(`${name}: the next request is the trial, and one is enough to fail`, async () => {
      await using scene = await halfOpen([behaviour, status(500)]);
      assertEquals([(await scene.ask()).text, scene.states().a], [text, "active"]);
      await scene.ask();
      assertEquals([trials(scene), scene.states().a], [2, "retry_limit for 120s"]);
    });
  }

  it("a client that leaves: the place is free at once, and one failure is enough", async () => {
    await using scene = await halfOpen([hang(), status(500)]);
    const controller = new AbortController();
    const left = scene.ask({}, { signal: controller.signal }).catch((error: Error) => error.name);
    const call = await scene.received("a", 2);
    controller.abort();
    assertEquals(await left, "AbortError");
    await soon(call.closed);
    await breathe();
    await scene.ask();
    assertEquals([trials(scene), scene.states().a], [2, "retry_limit for 120s"]);
  });

  it("a success of a request from before the standby: the standby goes on", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: [behind(gate, fromA), status(500)], b }, oneOutcome);
    const early = scene.ask();
    await scene.received("a", 1);
    await scene.ask();
    await scene.clock.advance(10_000);
    gate.open();
    assertEquals([(await early).text, scene.states().a], ["from a", "retry_limit for 50s"]);
    await scene.clock.advance(50_000);
    scene.upstreams.a!.follow(status(500));
    await scene.ask();
    assertEquals(scene.states().a, "retry_limit for 120s");
  });
});
