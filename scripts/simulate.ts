/**
 * Lives through simulated worlds, one per seed, until one breaks a rule. The last line says how many did not:
 * `10000 passed, 0 failed`.
 *
 * `--seeds=10000` how many, `--from=1` the first, `--workers=2` threads; a single seed is printed line by line.
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { simulate } from "../tests/simulation/simulation.ts";

/** Seeds that a thread lives through before it reports. */
const batch = 50;

/** What a thread is asked for: seeds from one number up to another, without that. */
interface Task {
  readonly from: number;
  readonly to: number;
}

/** What came of a task. */
interface Report {
  readonly passed: number;
  /** The first seed that broke a rule, and how. */
  readonly failure?: { readonly seed: number; readonly violation: string };
}

async function work({ from, to }: Task): Promise<Report> {
  for (let seed = from; seed < to; seed++) {
    const { violation } = await simulate(seed);
    if (violation !== undefined) return { passed: seed - from, failure: { seed, violation } };
  }
  return { passed: to - from };
}

/** Tasks in order, a batch each. */
function* tasks(from: number, seeds: number): Generator<Task> {
  for (let next = from; next < from + seeds; next += batch) {
    yield { from: next, to: Math.min(next + batch, from + seeds) };
  }
}

/** Has the tasks done by threads, until one fails. */
async function inThreads(queue: Iterator<Task>, threads: number, onReport: (report: Report) => boolean): Promise<void> {
  let isOver = false;
  const drive = async () => {
    const worker = new Worker(import.meta.url, { type: "module" });
    for (let task = queue.next(); !task.done && !isOver; task = queue.next()) {
      const answer = new Promise<Report>((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (event) => reject(new Error(event.message));
      });
      worker.postMessage(task.value);
      if (!onReport(await answer)) isOver = true;
    }
    worker.terminate();
  };
  await Promise.all(Array.from({ length: threads }, drive));
}

/** One world, printed line by line. */
async function follow(seed: number): Promise<number> {
  const { violation, ...counts } = await simulate(seed, { trace: (line) => console.log(line) });
  console.log(`seed ${seed}: ${JSON.stringify(counts)}`);
  if (violation !== undefined) console.log(`FAILED: seed ${seed}: ${violation}`);
  console.log(violation === undefined ? "1 passed, 0 failed" : "0 passed, 1 failed");
  return violation === undefined ? 0 : 1;
}

/** Lives through all of them. */
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

/** A thread's side: a report for every task. */
function serve(): void {
  const thread = globalThis as unknown as {
    onmessage: (event: MessageEvent<Task>) => void;
    postMessage: (report: Report) => void;
  };
  thread.onmessage = async ({ data }) => thread.postMessage(await work(data));
}

// a thread's own module counts as main too
if ("WorkerGlobalScope" in globalThis) serve();
else if (import.meta.main) Deno.exit(await main(Deno.args));
