/**
 * Builds the npm package, and tests it in new projects outside of this repository. Prints a line per test;
 * the last line is the summary: `12 passed, 0 failed`.
 *
 * Arguments: `--all` also runs those with older compilers, runtimes and clients; `--filter=word` runs tests whose names
 * contain the word; `--package=` uses a tarball, or the folder of a built package; `--keep` keeps the projects.
 * @module
 */
import { stop } from "./npm/esbuild.ts";
import { packPackage } from "./npm/pack.ts";
import { killAll } from "./npm/process.ts";
import { commandLine } from "./npm/proofs/command_line.ts";
import { examples } from "./npm/proofs/examples.ts";
import { linters } from "./npm/proofs/linters.ts";
import { pageProofs } from "./npm/proofs/pages.ts";
import { runtimes } from "./npm/proofs/runtimes.ts";
import { tarball } from "./npm/proofs/tarball.ts";
import { types } from "./npm/proofs/types.ts";
import { type Proof, Workshop } from "./npm/workshop.ts";

/** Number of tests run concurrently. */
const lanes = 2;

/** Timeout of a test, including package installation, seconds. */
const limitSeconds = 420;

const proofs: readonly Proof[] = [
  ...tarball,
  ...runtimes,
  ...commandLine,
  ...types,
  ...pageProofs,
  ...examples,
  ...linters,
];

/** Runs a test and prints its result. */
async function prove({ name, prove }: Proof, workshop: Workshop): Promise<boolean> {
  const started = performance.now();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`Not done after ${limitSeconds} s`)), limitSeconds * 1000);
  const failure = await Promise.race([prove(workshop), late.promise]).then(() => undefined, (error: Error) => error);
  clearTimeout(timer);
  const seconds = `(${((performance.now() - started) / 1000).toFixed(1)} s)`;
  console.log(failure === undefined ? `ok      ${name} ${seconds}` : `FAILED  ${name} ${seconds}: ${failure.message}`);
  return failure === undefined;
}

/** Runs all tests, some concurrently. */
async function proveAll(chosen: readonly Proof[], workshop: Workshop): Promise<boolean[]> {
  const results: boolean[] = [];
  const queue = [...chosen];
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) results.push(await prove(next, workshop));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

/** Kills processes and removes the folder at exit. */
function cleanAtEnd(folder: string, isKept: boolean): void {
  globalThis.addEventListener("unload", () => {
    killAll();
    if (isKept) console.log(folder);
    else Deno.removeSync(folder, { recursive: true });
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => Deno.exit(1));
}

async function main(args: readonly string[]): Promise<number> {
  const option = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const word = option("filter") ?? "";
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "modelmesh-" }));
  cleanAtEnd(folder, args.includes("--keep"));
  const workshop = new Workshop(folder, await packPackage(folder, { built: option("package") }));
  const isAll = args.includes("--all") || word !== "";
  const chosen = proofs.filter(({ name, isNightly }) => name.includes(word) && (isAll || !isNightly));
  const results = await proveAll(chosen, workshop);
  await stop();
  const failed = results.filter((result) => !result).length;
  console.log(`${results.length - failed} passed, ${failed} failed`);
  return failed === 0 && results.length > 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
