import { assertEquals } from "@std/assert";
import { stepWatcher, systemClock } from "../../src/runtime/_timers.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";

/** Watches a clock as the runtimes watch theirs. */
function watched(clock: FakeClock): { onStep: NonNullable<ReturnType<typeof stepWatcher>>; steps: number[] } {
  const onStep = stepWatcher({
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (ms, task) => clock.after(ms, task),
  })!;
  return { onStep, steps: [] };
}

Deno.test("onStep() notices within a second that the clock was set, or the machine slept", async () => {
  const clock = fakeClock();
  const { onStep, steps } = watched(clock);
  const stop = onStep(() => steps.push(clock.monotonic()));
  await clock.advance(10_500);
  assertEquals(steps, []);
  clock.jumpWallTime(3_600_000);
  await clock.advance(1_000);
  clock.jumpWallTime(-7_200_000);
  await clock.advance(5_000);
  assertEquals(steps, [11_000, 12_000]);
  stop();
  assertEquals(clock.pending, 0);
});

Deno.test("onStep() notices a clock that is adjusted slowly, once it is off by more than 50 ms", async () => {
  const clock = fakeClock();
  const { onStep, steps } = watched(clock);
  const stop = onStep(() => steps.push(clock.monotonic()));
  for (let second = 0; second < 10; second++) {
    clock.jumpWallTime(10);
    await clock.advance(1_000);
  }
  assertEquals(steps, [6_000]);
  stop();
});

Deno.test("onStep() compares the clocks only while there is a listener, and notifies each listener", async () => {
  const clock = fakeClock();
  const { onStep } = watched(clock);
  const notified: string[] = [];
  assertEquals(clock.pending, 0);
  const stops = ["a", "b"].map((name) => onStep(() => notified.push(name)));
  assertEquals(clock.pending, 1);
  clock.jumpWallTime(60_000);
  await clock.advance(1_000);
  stops[0]!();
  stops[0]!();
  clock.jumpWallTime(60_000);
  await clock.advance(1_000);
  assertEquals(notified, ["a", "b", "b"]);
  stops[1]!();
  clock.jumpWallTime(60_000); // unseen: there is no listener
  const stop = onStep(() => notified.push("c"));
  await clock.advance(1_000);
  assertEquals(notified, ["a", "b", "b"]);
  stop();
  assertEquals(clock.pending, 0);
});

Deno.test("the machine's clock notices that its wall clock is set", () => {
  const { Date: { now }, performance: { now: monotonic }, setTimeout: set } = globalThis;
  let [wall, elapsed] = [0, 0];
  let fire = () => {};
  Date.now = () => wall;
  performance.now = () => elapsed;
  globalThis.setTimeout = ((task: () => void) => {
    fire = task;
    return 0;
  }) as unknown as typeof setTimeout;
  try {
    let steps = 0;
    systemClock().onStep!(() => steps++);
    for (const [present, expected] of [[1_000, 0], [3_600_000, 1], [3_601_000, 1]] as const) {
      [wall, elapsed] = [present, elapsed + 1_000];
      fire();
      assertEquals(steps, expected);
    }
  } finally {
    Date.now = now;
    performance.now = monotonic;
    globalThis.setTimeout = set;
  }
});
