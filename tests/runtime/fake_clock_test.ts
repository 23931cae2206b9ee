import { assertEquals, assertGreaterOrEqual, assertLess, assertNotEquals, assertRejects } from "@std/assert";
import { NetworkError } from "../../src/errors.ts";
import { createFakeResponse, fakeClock, seededRandom, testRuntime } from "../../src/runtime/test.ts";

Deno.test("fakeClock() stands still until it is advanced", async () => {
  const clock = fakeClock({ now: 1_000 });
  await clock.advance(250);
  assertEquals([clock.now(), clock.monotonic()], [1_250, 250]);
});

Deno.test("fakeClock() fires timers in order, each at its own time", async () => {
  const clock = fakeClock({ now: 0 });
  const fired: [string, number][] = [];
  clock.after(30, () => fired.push(["c", clock.now()]));
  clock.after(10, () => fired.push(["a", clock.now()]));
  clock.after(10, () => fired.push(["b", clock.now()]));
  clock.after(31, () => fired.push(["d", clock.now()]));
  await clock.advance(30);
  assertEquals(fired, [["a", 10], ["b", 10], ["c", 30]]);
  assertEquals(clock.pending, 1);
});

Deno.test("fakeClock() lets promises settle between timers, so that chains of sleeps pass in one advance", async () => {
  const clock = fakeClock();
  const times: number[] = [];
  const loop = (async () => {
    for (let turn = 0; turn < 3; turn++) {
      await clock.sleep(100);
      times.push(clock.monotonic());
    }
  })();
  await clock.advance(1_000);
  await loop;
  assertEquals(times, [100, 200, 300]);
  assertEquals(clock.sleeps, [100, 100, 100]);
  assertEquals(clock.monotonic(), 1_000);
});

Deno.test("fakeClock() sleep rejects with the signal's reason and leaves no timer", async () => {
  const clock = fakeClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(100, controller.signal);
  controller.abort(new RangeError("enough"));
  await assertRejects(() => sleeping, RangeError, "enough");
  await assertRejects(() => clock.sleep(100, controller.signal), RangeError, "enough");
  assertEquals(clock.pending, 0);
});

Deno.test("fakeClock() every calls again and again, never two at once, and stops when cancelled", async () => {
  const clock = fakeClock();
  const times: number[] = [];
  const cancel = clock.every(100, async () => {
    times.push(clock.monotonic());
    if (times.length === 2) await clock.sleep(150); // misses a turn
    if (times.length === 3) throw new Error("reported elsewhere");
  });
  await clock.advance(500);
  assertEquals(times, [100, 200, 400, 500]);
  cancel();
  await clock.advance(500);
  assertEquals([times.length, clock.pending], [4, 0]);
});

Deno.test("fakeClock() runAll fires what is set, new timers too, and leaves what repeats", async () => {
  const clock = fakeClock();
  const fired: string[] = [];
  clock.every(1_000, () => Promise.resolve(void fired.push("every")));
  clock.after(500, () => {
    fired.push("first");
    clock.after(1_000, () => fired.push("second"));
  });
  await clock.runAll();
  assertEquals(fired, ["first", "every", "second"]);
  assertEquals([clock.pending, clock.monotonic()], [1, 1_500]);
});

Deno.test("fakeClock() runAll gives up on timers that go on for ever", async () => {
  const clock = fakeClock();
  const again = () => void clock.after(1, again);
  again();
  await assertRejects(() => clock.runAll(), Error, "go on");
});

Deno.test("fakeClock() jumpWall moves the wall clock only", async () => {
  const clock = fakeClock({ now: 5_000 });
  let fired = 0;
  clock.after(100, () => fired++);
  clock.jumpWallTime(-3_600_000);
  await clock.advance(99);
  assertEquals([fired, clock.now(), clock.monotonic()], [0, 5_000 - 3_600_000 + 99, 99]);
  await clock.advance(1);
  assertEquals(fired, 1);
});

Deno.test("fakeClock() reports each jump of the wall clock", () => {
  const clock = fakeClock({ now: 0 });
  const seen: number[] = [];
  const stop = clock.onStep(() => seen.push(clock.now()));
  clock.jumpWallTime(1_000);
  clock.jumpWallTime(-500);
  stop();
  clock.jumpWallTime(1_000);
  assertEquals([seen, clock.pending], [[1_000, 500], 0]);
});

Deno.test("fakeClock() stop lets time pass without timers, which fire late", async () => {
  const clock = fakeClock({ now: 0 });
  const fired: [string, number][] = [];
  clock.after(10, () => fired.push(["a", clock.monotonic()]));
  clock.after(200, () => fired.push(["b", clock.monotonic()]));
  clock.stop(100);
  assertEquals([fired, clock.now(), clock.monotonic()], [[], 100, 100]);
  await clock.advance(0);
  assertEquals(fired, [["a", 100]]);
  await clock.advance(100);
  assertEquals(fired, [["a", 100], ["b", 200]]);
});

Deno.test("fakeClock() with skipSleeps moves on by itself and fires what falls due", async () => {
  const clock = fakeClock({ now: 0, skipSleeps: true });
  const controller = new AbortController();
  clock.after(1_500, () => controller.abort(new Error("deadline")));
  await clock.sleep(1_000, controller.signal);
  await assertRejects(() => clock.sleep(1_000, controller.signal), Error, "deadline");
  assertEquals([clock.sleeps, clock.now(), clock.pending], [[1_000, 1_000], 1_500, 0]);
});

Deno.test("fakeClock() with skipSleeps lets sleeps at the same time overlap", async () => {
  const clock = fakeClock({ skipSleeps: true });
  await Promise.all([clock.sleep(1_000), clock.sleep(400)]);
  assertEquals(clock.monotonic(), 1_000);
});

Deno.test("seededRandom() repeats itself and is spread evenly", () => {
  const first = seededRandom(7);
  const second = seededRandom(7);
  const bins = new Array<number>(10).fill(0);
  for (let draw = 0; draw < 10_000; draw++) {
    const value = first();
    assertEquals(value, second());
    bins[Math.floor(value * 10)]!++;
  }
  for (const bin of bins) {
    assertGreaterOrEqual(bin, 850);
    assertLess(bin, 1_150);
  }
  assertNotEquals(seededRandom(1)(), seededRandom(2)());
});

Deno.test("testRuntime() has nothing but what it is given", async () => {
  const bare = testRuntime();
  assertEquals(bare.env("HOME"), undefined);
  assertEquals(bare.env("toString"), undefined);
  const error = await assertRejects(() => bare.send({ url: "https://a.example/", headers: {} }), NetworkError);
  assertEquals([error.neverSent, bare.requests.length], [true, 1]);
  await assertRejects(() => bare.files.readText("a"), Error, "ENOENT");
});

Deno.test("testRuntime() answers by script and keeps files in memory", async () => {
  const runtime = testRuntime({
    env: { KEY: "1" },
    files: { "a.yaml": "a: 1" },
    random: () => 0.5,
    send: () =>
      Promise.resolve(createFakeResponse({ status: 429, headers: { "Retry-After": "5" }, body: ["one ", "two"] })),
  });
  const answer = await runtime.send({ url: "https://a.example/", headers: {} });
  assertEquals([answer.status, answer.headers.get("retry-after")], [429, "5"]);
  assertEquals(await new Response(answer.body).text(), "one two");
  assertEquals([runtime.env("KEY"), runtime.random(), await runtime.files.readText("a.yaml")], ["1", 0.5, "a: 1"]);
  await assertRejects(() => runtime.files.writeText("a.yaml", "", { createNew: true }), Error, "EEXIST");
  await runtime.files.writeText("b", "text");
  assertEquals(runtime.files.contents.get("b"), "text");
});
