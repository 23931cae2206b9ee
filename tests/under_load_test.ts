/** The tests, run again and again beside a load: `scripts/test_under_load.ts`. */
import { assertEquals, assertMatch } from "@std/assert";
import { kill } from "node:process";
import { type Run, runAll, startLoad } from "../scripts/test_under_load.ts";
import { happens } from "./support/patience.ts";

/** Runs with these outcomes; gives whether all were good, and what was printed. */
async function reported(runs: number, outcomes: readonly Run[]): Promise<[boolean, string[]]> {
  const lines: string[] = [];
  const left = [...outcomes];
  const areGood = await runAll({
    runs,
    run: () => Promise.resolve(left.shift()!),
    report: (line) => lines.push(line.replace(/\d+\.\d s/, "1.0 s")),
  });
  return [areGood, lines];
}

const good: Run = { isGood: true, output: "a ... ok (1ms)\n\n12 passed, 0 failed\n" };
const bad: Run = { isGood: false, output: "a ... FAILED\n\n ERRORS \n\na => b\n11 passed, 1 failed\n" };

function isAlive(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch {
    return false;
  }
}

Deno.test("runAll() prints each run as a line", async () => {
  assertEquals(await reported(2, [good, good]), [true, [
    "run 1 of 2: 12 passed, 0 failed, 1.0 s",
    "run 2 of 2: 12 passed, 0 failed, 1.0 s",
  ]]);
});

Deno.test("runAll() ends with the first run that fails, and shows why", async () => {
  const [areGood, lines] = await reported(3, [good, bad]);
  assertEquals([areGood, lines[1], lines.length], [false, "run 2 of 3: 11 passed, 1 failed, 1.0 s", 3]);
  assertMatch(lines[2]!, /^\n ERRORS \n\na => b/);
});

Deno.test("startLoad() ends when it is disposed of", async () => {
  const load = startLoad(2);
  assertEquals(load.pids.map(isAlive), [true, true]);
  await load[Symbol.asyncDispose]();
  assertEquals(load.pids.map(isAlive), [false, false]);
});

Deno.test("startLoad() ends with the process that started it", async () => {
  const url = new URL("../scripts/test_under_load.ts", import.meta.url).href;
  const code = `console.log(...(await import("${url}")).startLoad(2).pids); setInterval(() => {}, 1000);`;
  const command = new Deno.Command(Deno.execPath(), { args: ["eval", code], stdout: "piped", stderr: "piped" });
  const child = command.spawn();
  const ended = child.stderr.pipeTo(new WritableStream()); // the load has the same, and holds it open
  const reader = child.stdout.getReader();
  const pids = new TextDecoder().decode((await reader.read()).value).trim().split(" ").map(Number);
  assertEquals(pids.map(isAlive), [true, true]);
  child.kill("SIGKILL");
  await Promise.all([child.status, reader.cancel()]);
  await happens("the load ends", ended);
});
