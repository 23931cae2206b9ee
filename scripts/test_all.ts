/**
 * Runs the suites of the gate: those of `deno task test`, then those that need a browser, a server, npm packages or
 * Node. With `--nightly`, runs those that are slow by nature instead. Prints a line per part with its time; the last
 * line is the total: `12 passed, 0 failed`. `--package=npm` tests the npm package in this folder; by default, whatever
 * needs it builds it.
 * @module
 */
import { fileURLToPath } from "node:url";
import { nightlyFolders, outsideFolders } from "./test.ts";

const root = new URL("../", import.meta.url);

/** A task with its arguments, and its timeout in minutes. */
interface Part {
  readonly task: readonly string[];
  readonly minutes: number;
  /** Whether its last line counts tests; otherwise its exit code is its result. */
  readonly counts?: boolean;
  /** Whether it tests the npm package: it gets `--package` then. */
  readonly usesPackage?: boolean;
}

/** Parts that run one after the other. */
type Lane = readonly Part[];

/**
 * Stages, one after the other; the lanes of one run side by side: the parts of the second one wait for servers, pages and
 * installations most of the time.
 */
const gate: readonly (readonly Lane[])[] = [
  [[{ task: ["test"], minutes: 10 }]],
  [
    [{ task: ["test", ...outsideFolders], minutes: 25 }],
    [
      { task: ["test:node", "--split"], minutes: 20, usesPackage: true },
      { task: ["test:packages"], minutes: 20, usesPackage: true },
    ],
  ],
];

const nightly: Lane = [
  { task: ["test", ...nightlyFolders], minutes: 30 },
  { task: ["test:packages", "--all"], minutes: 20 },
  { task: ["test:compile"], minutes: 5 },
  { task: ["test:container"], minutes: 10 },
  { task: ["test:node", "--all"], minutes: 60 },
  { task: ["simulate", "--seeds=3000"], minutes: 15, counts: false },
  { task: ["crash"], minutes: 15, counts: false },
  { task: ["soak:fleet", "--minutes=60"], minutes: 75, counts: false },
];

/** Numbers of passed and failed tests. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/**
 * Parses the results of a part. A part with a non-zero exit code has at least one failure.
 *
 * @param isGood Whether its exit code was 0.
 */
export function parseCounts(output: string, isGood: boolean): Counts {
  const last = [...output.matchAll(/^(\d+) passed, (\d+) failed/gm)].at(-1);
  const [passed, failed] = [Number(last?.[1] ?? 0), Number(last?.[2] ?? 0)];
  const isSound = isGood && last !== undefined;
  return { passed, failed: isSound ? failed : Math.max(failed, 1) };
}

/** Writes text to standard output, whole. */
function print(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(Deno.stdout.writeSync(rest));
}

/** Runs a part. Prints its output as it comes, or when it ends if others run beside it. */
async function run(
  { task, minutes, counts: hasCounts = true }: Part,
  { isAlone, env }: { readonly isAlone: boolean; readonly env: Record<string, string> },
): Promise<Counts> {
  const from = performance.now();
  const signal = AbortSignal.timeout(minutes * 60_000);
  const options: Deno.CommandOptions = { env, stdin: "null", stdout: "piped", stderr: "inherit", signal };
  const child = new Deno.Command(Deno.execPath(), { args: ["task", ...task], ...options }).spawn();
  let output = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    output += text;
    if (isAlone) print(text);
  }
  const { success } = await child.status;
  if (!isAlone) print(output);
  const counts = hasCounts ? parseCounts(output, success) : { passed: success ? 1 : 0, failed: success ? 0 : 1 };
  const seconds = Math.round((performance.now() - from) / 1000);
  if (signal.aborted) console.log(`stopped after ${minutes} minutes`);
  console.log(`${counts.failed === 0 ? "ok     " : "FAILED "} ${task.join(" ")} (${seconds} s)\n`);
  return counts;
}

function addPackage(part: Part, options: readonly string[]): Part {
  return part.usesPackage ? { ...part, task: [...part.task, ...options] } : part;
}

async function main(args: readonly string[]): Promise<number> {
  Deno.chdir(root);
  const total = { passed: 0, failed: 0 };
  const options = args.filter((arg) => arg.startsWith("--package="));
  const built = options.map((option) => fileURLToPath(new URL(option.slice("--package=".length), root)));
  const env = Object.fromEntries(built.map((path) => ["MODELMESH_PACKAGE", path]));
  for (const lanes of args.includes("--nightly") ? [[nightly]] : gate) {
    const isAlone = lanes.length === 1;
    await Promise.all(lanes.map(async (lane) => {
      for (const part of lane) {
        const { passed, failed } = await run(addPackage(part, options), { isAlone, env });
        total.passed += passed;
        total.failed += failed;
      }
    }));
  }
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
