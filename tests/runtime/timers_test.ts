import { assert, assertEquals, assertGreaterOrEqual, assertRejects } from "@std/assert";
import { callAfter, systemClock } from "../../src/runtime/_timers.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { happens } from "../support/patience.ts";

const clock = systemClock();

/** Runs `task` with `setTimeout` recorded, not run. */
function withRecordedTimers(task: (waits: number[], fire: () => void) => void): void {
  const original = globalThis.setTimeout;
  const waits: number[] = [];
  let last = () => {};
  globalThis.setTimeout = ((run: () => void, ms: number) => {
    waits.push(ms);
    last = run;
    return 0;
  }) as unknown as typeof setTimeout;
  try {
    task(waits, () => last());
  } finally {
    globalThis.setTimeout = original;
  }
}

Deno.test("callAfter() makes long waits of steps that no runtime fires early", () => {
  withRecordedTimers((waits, fire) => {
    let fired = 0;
    callAfter(30 * 24 * 3_600_000, () => fired++);
    fire();
    assertEquals(fired, 0);
    assertEquals(waits, [2 ** 31 - 1, 2 ** 31 - 1]); // no time has passed in between
  });
});

Deno.test("callAfter() never fires for Infinity and fires soon for 0, less and NaN", () => {
  withRecordedTimers((waits) => {
    for (const ms of [Infinity, 0, -5, NaN]) callAfter(ms, () => {});
    assertEquals(waits, [2 ** 31 - 1, 0, 0, 0]);
  });
});

Deno.test("systemClock() sleeps for no less than it is asked to", async () => {
  for (let turn = 0; turn < 20; turn++) {
    const started = clock.monotonic();
    await clock.sleep(2.5);
    assertGreaterOrEqual(clock.monotonic() - started, 2.5);
  }
});

Deno.test("systemClock() sleep rejects with the signal's reason at once and cleans up", async () => {
  const controller = new AbortController();
  const sleeping = clock.sleep(60_000, controller.signal); // the test's sanitizer sees a timer left behind
  controller.abort(new RangeError("enough"));
  await assertRejects(() => sleeping, RangeError, "enough");
  await assertRejects(() => clock.sleep(60_000, controller.signal), RangeError, "enough");
});

Deno.test("systemClock() sleep leaves no listener behind", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(signal, args);
  };
  await clock.sleep(1, signal);
  assertEquals(listeners, 0);
});

Deno.test("systemClock() after can be cancelled, twice too", async () => {
  let fired = 0;
  const cancel = clock.after(1, () => fired++);
  cancel();
  cancel();
  clock.after(1, () => fired += 10);
  await clock.sleep(5);
  assertEquals(fired, 10);
});

Deno.test("systemClock() every never runs two at once, survives a failure and stops", async () => {
  let [running, most, turns] = [0, 0, 0];
  const finished = Promise.withResolvers<void>();
  const cancel = clock.every(2, async () => {
    most = Math.max(most, ++running);
    await clock.sleep(5);
    running--;
    if (++turns === 3) finished.resolve();
    throw new Error("reported elsewhere");
  });
  await finished.promise;
  cancel();
  await clock.sleep(10);
  assertEquals([most, turns], [1, 3]);
});

Deno.test("denoRuntime() timers keep no process alive, its sleep does", async () => {
  const url = new URL("../../src/runtime/deno.ts", import.meta.url);
  const code = `
    import { denoRuntime } from ${JSON.stringify(url.href)};
    const { clock } = denoRuntime();
    clock.after(60_000, () => {});
    clock.every(60_000, () => Promise.resolve());
    clock.sleep(20).then(() => console.log("slept"));`;
  const controller = new AbortController(); // ends it where it does not end by itself
  const command = new Deno.Command(Deno.execPath(), { args: ["eval", code], signal: controller.signal });
  const { stdout, success } = await happens("the process ends", command.output()).finally(() => controller.abort());
  assert(success);
  assertEquals(new TextDecoder().decode(stdout), "slept\n");
});

Deno.test("denoRuntime() env is unset where it may not look", async () => {
  const { env } = denoRuntime();
  Deno.env.set("MODELMESH_TEST_VARIABLE", "value");
  assertEquals(env("MODELMESH_TEST_VARIABLE"), "value");
  Deno.env.delete("MODELMESH_TEST_VARIABLE");
  for (const name of ["MODELMESH_TEST_VARIABLE", "", "A=B", "A\0B"]) assertEquals(env(name), undefined);
  const url = new URL("../../src/runtime/deno.ts", import.meta.url);
  const code = `import { denoRuntime } from ${JSON.stringify(url.href)}; console.log(denoRuntime().env("PATH"));`;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, code);
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["run", "--no-prompt", "--no-config", file] })
    .output();
  await Deno.remove(file);
  assertEquals(new TextDecoder().decode(stdout), "undefined\n");
});

Deno.test("denoRuntime() files are read and written whole, and not replaced when new ones are asked for", async () => {
  const { files } = denoRuntime();
  const folder = await Deno.makeTempDir();
  const path = `${folder}/a.txt`;
  await files!.writeText(path, "first, the longer one");
  await files!.writeText(path, "second");
  assertEquals(await files!.readText(path), "second");
  await assertRejects(() => files!.writeText(path, "third", { createNew: true }), Deno.errors.AlreadyExists);
  await files!.writeText(`${folder}/b.txt`, "new", { createNew: true });
  await assertRejects(() => files!.readText(`${folder}/c.txt`), Deno.errors.NotFound);
  await Deno.remove(folder, { recursive: true });
});
