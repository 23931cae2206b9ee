/** The check that no promise floats, on a small program. */
import { assertEquals } from "@std/assert";
import { checkPromises } from "../../scripts/check_promises.ts";
import { createProgram } from "../../scripts/promises/program.ts";

/** Each function, and whether a promise floats in it. */
const functions: readonly (readonly [text: string, floats: boolean])[] = [
  ["async function awaits() { await work(); }", false],
  ["function returns() { return work(); }", false],
  ["function handles() { work().catch(() => {}); }", false],
  ["function handlesBoth() { work().then(() => {}, () => {}); }", false],
  ["function forgets() { work(); }", true],
  ["function forgetsVoid() { void work(); }", true],
  ["function forgetsRejection() { work().then(() => {}); }", true],
  ["function forgetsUnion(begin: () => Promise<void> | undefined) { begin(); }", true],
  ["function forgetsThenable(begin: () => PromiseLike<void>) { begin(); }", true],
  ["function forgetsOptional(parts?: { begin(): Promise<void> }) { parts?.begin(); }", true],
  ["function forgetsAnswer() { [1].forEach(async () => { await work(); }); }", true],
  ["function forgetsMember(): { run: () => void } { return { run: () => work() }; }", true],
  ["function forgetsCondition() { if (work()) return; }", true],
  ['function forgetsNode() { mkdir("x"); }', true],
  ['function forgetsDeno() { Deno.remove("x"); }', true],
  ["function forgetsPackage(client: OpenAI) { client.models.list(); }", true],
];

Deno.test("checkPromises() reports each promise that nothing handles, of our own code, the runtimes and packages", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/sample.ts`;
  const head = [
    'import { mkdir } from "node:fs/promises";',
    'import type OpenAI from "openai";',
    "declare function work(): Promise<void>;",
  ];
  try {
    await Deno.writeTextFile(path, [...head, ...functions.map(([text]) => `export ${text}`)].join("\n"));
    const found = checkPromises(await createProgram([path]), [path]);
    const lines = found.map((line) => Number(line.split(":")[1]) - head.length - 1);
    assertEquals(
      [...new Set(lines)].map((line) => functions[line]![0]),
      functions.filter(([, floats]) => floats).map(([text]) => text),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
