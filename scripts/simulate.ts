/**
 * Runs simulations, one per seed, until one violates a rule. The last line is the summary: `10000 passed, 0 failed`.
 *
 * `--seeds=10000`: number of seeds; `--from=1`: first seed; `--workers=2`: threads. A single seed is printed line by
 * line.
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { simulate } from "../tests/simulation/simulation.ts";

/** Number of seeds that a thread runs before it reports. */
const batch = 50;

/** A range of seeds for a thread; the end is exclusive. */
interface Task {
  readonly from: number;
  readonly to: number;
}

/** Result of a task. */
interface Report {
  readonly passed: number;
  /** The first seed that violated a rule, and the violation. */
  readonly failure?: { readonly seed: number; readonly violation: string };
}

async function work({ from, to }: Task): Promise<Report> {
  for (let seed = from; seed < to; seed++) {
    const { violation } = await simulate(seed);
    if (violation !== undefined) return { passed: seed - from, failure: { seed, violation } };
  }
  return { passed: to - from };
}

/** Generates tasks of one batch each. */
function* tasks(from: number, seeds: number): Generator<Task> {
  for (let next = from; next < from + seeds; next += batch) {
    yield { from: next, to: Math.min(next + batch, from + seeds) };
  }
}

/** Runs tasks in threads until one fails. */
async function inThreads(queue: Iterator<Task>, threads: number, onReport: (report: Report) => boolean): Promise<void> {
  let isOver = false;
  const drive = async () => {
    const worker = new Worker(import.meta.url, { type: "module" });
    for (let task = queue.next(); !task.done && !isOver; task = queue.next()) {
      const report = new Promise<Report>((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (event) => reject(new Error(event.message));
      });
      worker.postMessage(task.value);
      if (!onReport(await report)) isOver = true;
    }
    worker.terminate();
  };
  await Promise.all(Array.from({ length: threads }, drive));
}

/** Runs one simulation, printed line by line. */
async function follow(seed: number): Promise<number> {
  const { violation, ...counts } = await simulate(seed, { trace: (line) => console.log(line) });
  console.log(`seed ${seed}: ${JSON.stringify(counts)}`);
  if (violation !== undefined) console.log(`FAILED: seed ${seed}: ${violation}`);
  console.log(violation === undefined ? "1 passed, 0 failed" : "0 passed, 1 failed");
  return violation === undefined ? 0 : 1;
}

/** Runs all seeds. */
async function followMany(from: number, seeds: number, threads: number): Promise<number> {
  const startedAt = performance.now();
  let passed = 0;
  let failures = 0;
  const line = new TextEncoder();
  await inThreads(tasks(from, seeds), threads, (report) => {
    passed += report.passed;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    Deno.stderr.writeSync(line.encode(`\r${passed} of ${seeds} seeds, ${seconds} s `));
    if (report.failure === undefined) return true;
    const { seed, violation } = report.failure;
    failures++;
    console.log(`\nFAILED: seed ${seed}: ${violation}\nReplay it: deno task simulate --seeds=1 --from=${seed}`);
    return false;
  });
  Deno.stderr.writeSync(line.encode("\n"));
  console.log(`${passed} passed, ${failures} failed`);
  return failures === 0 && passed === seeds ? 0 : 1;
}

async function main(args: readonly string[]): Promise<number> {
  const { seeds, from, workers } = parseArgs([...args], { string: ["seeds", "from", "workers"] });
  const count = Number(seeds ?? 200);
  const first = Number(from ?? 1);
  if (!(count > 0) || !Number.isInteger(first)) {
    console.error("Usage: deno task simulate [--seeds=200] [--from=1] [--workers=1]");
    return 2;
  }
  return count === 1 ? await follow(first) : await followMany(first, count, Number(workers ?? 1));
}

/** Runs in a thread: responds to each task with a report. */
function serve(): void {
  const thread = globalThis as unknown as {
    onmessage: (event: MessageEvent<Task>) => void;
    postMessage: (report: Report) => void;
  };
  thread.onmessage = ({ data }) => {
    work(data).then((report) => thread.postMessage(report), reportError);
  };
}

// a thread's module counts as main as well
if ("WorkerGlobalScope" in globalThis) serve();
else if (import.meta.main) Deno.exit(await main(Deno.args));
