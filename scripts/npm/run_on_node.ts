/**
 * Runs tests on Node in place of `Deno.test`, one after the other, once the module that defines them is loaded.
 * `node:test` follows every asynchronous operation by hooks, which costs a third of the time of a suite.
 *
 * Prints the failures, and the results as a last line: `12 passed, 0 failed`. The process then ends by itself unless a
 * test leaves something behind.
 * @module
 */

/** A test or a step, as `Deno.test` takes them. */
interface Definition {
  readonly name: string;
  readonly fn: (context: Context) => void | Promise<void>;
  readonly ignore?: boolean;
}

/** Passed to a test to define its steps. */
interface Context {
  step(step: Definition): Promise<boolean>;
}

const tests: Definition[] = [];
const result = { passed: 0, failed: 0 };

/** Milliseconds after which a process that does not end by itself is a failure. */
const lingerMs = 20_000;

/** Rejects the test that runs: an error that is not caught belongs to this test. */
let fail: (error: unknown) => void = () => {};

/** Defines a test. Stands in for `Deno.test`. */
export function addNodeTest(...[first, fn]: [Definition] | [string, Definition["fn"]]): void {
  if (tests.length === 0) setTimeout(start);
  tests.push(typeof first === "string" ? { name: first, fn: fn! } : first);
}

function start(): void {
  runAll().catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

async function runAll(): Promise<void> {
  process.on("uncaughtException", (error) => fail(error));
  process.on("unhandledRejection", (error) => fail(error));
  for (const test of tests) await run(test, []);
  console.log(`${result.passed} passed, ${result.failed} failed`);
  process.exitCode = result.failed === 0 ? 0 : 1;
  setTimeout(() => {
    console.log(`still busy with ${process.getActiveResourcesInfo().join(", ")}\n${result.passed} passed, 1 failed`);
    process.exit(1);
  }, lingerMs).unref();
}

/** Runs a test with its steps. A test with steps is a container, and counts only if it fails by itself. */
async function run({ name, fn, ignore = false }: Definition, outer: readonly string[]): Promise<boolean> {
  if (ignore) return true;
  const names = [...outer, name];
  let steps = 0;
  let isGood = true;
  const step = async (inner: Definition): Promise<boolean> => {
    steps += 1;
    const stepIsGood = await run(inner, names);
    isGood &&= stepIsGood;
    return stepIsGood;
  };
  try {
    await Promise.race([fn({ step }), new Promise<never>((_, reject) => (fail = reject))]);
    if (steps === 0) result.passed += 1;
  } catch (error) {
    isGood = false;
    result.failed += 1;
    console.log(`FAILED ${names.join(" > ")}\n${error instanceof Error ? error.stack : String(error)}\n`);
  }
  return isGood;
}
