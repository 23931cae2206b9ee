/**
 * Compiles the executable and tests it. `deno compile` downloads its base runtime. If that is not possible, it is
 * compiled over the installed `deno`, which shows its content; such a file cannot be run, and is deleted.
 *
 * Prints a line per check; the last line is the summary: `5 passed, 0 failed`.
 * @module
 */
import { fromFileUrl, root } from "./npm/files.ts";
import { type Ended, run, start } from "./npm/process.ts";
import { proveDemo } from "./npm/proofs/command_line.ts";
import { must } from "./npm/workshop.ts";

const folder = fromFileUrl(root);
const executable = `${folder}modelmesh${Deno.build.os === "windows" ? ".exe" : ""}`;

/** Patterns that must or must not occur in the list printed by `deno compile`. */
const embedded: readonly (readonly [name: string, line: RegExp, isWanted: boolean])[] = [
  ["the command line", /─ cli\.ts \(/, true],
  ["its commands and the proxy", /[─┬] cli(?:\/\*)? \((?=[^]*[─┬] proxy(?:\/\*)? \()/, true],
  ["connectors of other dialects", /─ anthropic\.ts \((?=[^]*─ gemini\.ts \()/, true],
  ["the YAML module", /deno-std\/[^]*─ yaml\/mod\.ts/, true],
  ["no test, no script", /[─┬] (?:tests|(?:test|build_npm|check_layers)\.ts)\b/, false],
];

/** A check. */
type Check = readonly [name: string, hold: () => void | Promise<void>];

async function compile(env: Record<string, string>): Promise<Ended> {
  return await start([Deno.execPath(), "task", "compile"], { folder, limitSeconds: 300, env }).ended;
}

/** Checks of an executable that can be run. */
const runs: readonly Check[] = [
  ["it says its version", async () => {
    const { out } = await run([executable, "--version"], { folder });
    must(/^\d+\.\d+\.\d+\n$/.test(out), `It said: ${out}`);
  }],
  ["it reads a YAML file", async () => {
    const path = await Deno.makeTempFile({ suffix: ".yaml" });
    try {
      await Deno.writeTextFile(path, "providers: { openai.llm.v1: { api_key: k } }\n");
      const { out } = await run([executable, "check", path], { folder });
      must(out.includes("is valid: 1 provider"), `It said: ${out}`);
    } finally {
      await Deno.remove(path);
    }
  }],
  ["its demo serves, fails over, stops on SIGTERM with code 0", () => proveDemo([executable], folder)],
];

/** Checks of the file list. */
function lists(text: string): Check[] {
  return embedded.map(([name, line, isWanted]) => [`embedded: ${name}`, () => {
    must(line.test(text) === isWanted, `The list of embedded files says otherwise:\n${text}`);
  }]);
}

/** Compiles, with the base runtime if possible. */
async function compileAndCheck(): Promise<Check[]> {
  const real = await compile({});
  if (real.code === 0) return [...lists(real.out + real.err), ...runs];
  const isFetching = /\/denort-/.test(real.err); // everything before it has succeeded
  must(isFetching, `deno compile failed:\n${real.out}${real.err}`);
  const listed = await compile({ DENORT_BIN: Deno.execPath() });
  await Deno.remove(executable).catch(() => {}); // absent when this failed too
  must(listed.code === 0, `deno compile failed:\n${listed.out}${listed.err}`);
  console.log(listed.out.match(/^Embedded Files[^]*/m)?.[0] ?? listed.err);
  console.log(
    "NOT RUN: the base runtime of `deno compile` cannot be fetched here. Only what would be embedded was checked",
  );
  return lists(listed.out + listed.err);
}

async function main(): Promise<number> {
  let failed = 0;
  const checks = await compileAndCheck().catch((
    error: Error,
  ): Check[] => [["deno compile", () => Promise.reject(error)]]);
  for (const [name, hold] of checks) {
    try {
      await hold();
      console.log(`ok      ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAILED  ${name}: ${(error as Error).message}`);
    }
  }
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
