import { assertEquals } from "@std/assert";
import { coarseTimers } from "../../src/runtime/_timers.ts";

/** Runs `task` at one moment, with `setTimeout` and `clearTimeout` recorded; `fire` runs what is still set, later. */
async function withTimers(task: (timers: { set: number[]; open: () => number; fire: (ms?: number) => void }) => void) {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const waits: number[] = [];
  const open = new Map<number, () => void>();
  globalThis.setTimeout = ((run: () => void, ms: number) => {
    waits.push(ms);
    open.set(waits.length, run);
    return waits.length;
  }) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer: number) => void open.delete(timer)) as unknown as typeof clearTimeout;
  const { now } = performance;
  let time = 12; // neither the start of a group nor its end
  performance.now = () => time;
  const fire = (ms = 3_600_000) => {
    time += ms;
    for (const [timer, run] of [...open]) if (open.delete(timer)) run();
  };
  try {
    task({ set: waits, open: () => open.size, fire });
    await Promise.resolve();
  } finally {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
    performance.now = now;
  }
}

Deno.test("coarseTimers() sets one timer for many long waits, which ends none of them early", async () => {
  await withTimers(({ set, open, fire }) => {
    const after = coarseTimers();
    const ended: number[] = [];
    const cancels = Array.from({ length: 100 }, (_, place) => after(30_000, () => ended.push(place)));
    assertEquals(set, [2_000]);
    for (const cancel of cancels.slice(0, 98)) cancel();
    cancels[0]!();
    assertEquals(open(), 1);
    for (let fired = 0; fired < 15; fired++) fire(2_000);
    assertEquals([set.at(-1), open(), ended], [38, 1, []]);
    fire(38);
    assertEquals(ended.sort((one, other) => one - other), [98, 99]);
    assertEquals(open(), 0);
  });
});

Deno.test("coarseTimers() leaves no timer behind when all its waits are called off", async () => {
  await withTimers(({ open }) => {
    const after = coarseTimers();
    const cancels = Array.from({ length: 10 }, (_, place) => after(5_000 + place * 100, () => {}));
    for (const cancel of cancels) cancel();
    assertEquals(open(), 0);
  });
});

Deno.test("coarseTimers() sets no timer for waits that come and go while another one waits", async () => {
  await withTimers(({ set, open, fire }) => {
    const detached: unknown[] = [];
    const after = coarseTimers((timer) => detached.push(timer));
    const cancel = after(120_000, () => {});
    for (let round = 0; round < 1_000; round++) after(5_000 + round, () => {})();
    assertEquals([set.length, open(), detached.length], [1, 1, 1]);
    cancel();
    assertEquals(open(), 0);
    fire();
    assertEquals([set.length, open()], [1, 0]);
  });
});

Deno.test("coarseTimers() ends waits in the order in which they are due, whichever came first", async () => {
  await withTimers(({ fire, open }) => {
    const after = coarseTimers();
    const ended: number[] = [];
    for (const ms of [9_000, 3_000, 6_000, 120_000]) after(ms, () => ended.push(ms));
    assertEquals(open(), 1);
    fire();
    assertEquals(ended, [3_000, 6_000, 9_000, 120_000]);
    assertEquals(open(), 0);
  });
});

Deno.test("coarseTimers() lets a wait call another one off at the last moment", async () => {
  await withTimers(({ fire }) => {
    const after = coarseTimers();
    const ended: string[] = [];
    const cancels: (() => void)[] = [];
    for (const name of ["a", "b"]) {
      cancels.push(after(30_000, () => {
        ended.push(name);
        for (const cancel of cancels) cancel();
      }));
    }
    fire();
    assertEquals(ended, ["a"]);
  });
});

Deno.test("coarseTimers() is exact for short waits, and never ends an endless one", async () => {
  await withTimers(({ set }) => {
    const after = coarseTimers();
    after(250, () => {});
    assertEquals(set, [250]);
    after(Infinity, () => {});
    assertEquals(set.at(-1), 2 ** 31 - 1);
  });
});
