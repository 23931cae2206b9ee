/**
 * Runs the tests repeatedly while every core is busy, as on a build machine, to find tests that pass only on an idle
 * machine. Prints a line per run; the first failure ends it, with the output of that run.
 *
 * `--runs=10`: number of runs. Other arguments are passed to the test command, such as a path.
 * @module
 */

/** Result of one run of the tests. */
export interface Run {
  readonly isGood: boolean;
  /** Its complete output. */
  readonly output: string;
}

/** Options of {@linkcode runAll}. */
export interface Runs {
  readonly runs: number;
  /** Runs the tests once. */
  readonly run: () => Promise<Run>;
  readonly report: (line: string) => void;
}

/**
 * Runs the tests until a run fails.
 *
 * @returns Whether all runs have passed.
 */
export async function runAll({ runs, run, report }: Runs): Promise<boolean> {
  for (let number = 1; number <= runs; number++) {
    const from = performance.now();
    const { isGood, output } = await run();
    const seconds = ((performance.now() - from) / 1000).toFixed(1);
    report(`run ${number} of ${runs}: ${output.trimEnd().split("\n").at(-1)}, ${seconds} s`);
    if (isGood) continue;
    report(output.slice(Math.max(0, output.indexOf("\n ERRORS "))));
    return false;
  }
  return true;
}

/** Program that keeps a core busy. It exits when its standard input is closed, which happens when its parent exits. */
const busy = `
  Deno.stdin.read(new Uint8Array(1)).then(() => Deno.exit());
  const spin = () => {
    for (const from = performance.now(); performance.now() - from < 50;);
    setTimeout(spin);
  };
  spin();`;

/** Busy processes. */
export interface Load extends AsyncDisposable {
  readonly pids: readonly number[];
}

/**
 * Starts busy processes, which exit when the load is disposed.
 *
 * @param count Number of processes.
 */
export function startLoad(count: number): Load {
  const command = new Deno.Command(Deno.execPath(), { args: ["eval", busy], stdin: "piped", stdout: "null" });
  const children = Array.from({ length: count }, () => command.spawn());
  return {
    pids: children.map(({ pid }) => pid),
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map(async (child) => {
        child.kill("SIGKILL");
        await Promise.all([child.status, child.stdin.close().catch(() => {})]);
      }));
    },
  };
}

/** Runs the README's test command with the current Deno. */
async function runTests(args: readonly string[]): Promise<Run> {
  const cwd = new URL("../", import.meta.url);
  const command = new Deno.Command(Deno.execPath(), { args: ["task", "test", ...args], cwd, stdin: "null" });
  const { success, stdout } = await command.output();
  return { isGood: success, output: new TextDecoder().decode(stdout) };
}

async function main(args: readonly string[]): Promise<number> {
  const runsOption = args.find((arg) => arg.startsWith("--runs="))?.slice("--runs=".length) ?? "10";
  const runs = Number(runsOption);
  if (!Number.isInteger(runs) || runs < 1) {
    console.error(`--runs: expected an integer from 1, found "${runsOption}"`);
    return 2;
  }
  const others = args.filter((arg) => !arg.startsWith("--runs="));
  await using _load = startLoad(navigator.hardwareConcurrency);
  const areGood = await runAll({ runs, run: () => runTests(others), report: console.log });
  return areGood ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
