/** The check that no promise floats, on a small program. */
import { assertEquals } from "@std/assert";

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

Deno.test("the check reports each promise that nothing handles, of our own code, the runtimes and packages", async () => {
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  const head = [
    'import { mkdir } from "node:fs/promises";',
    'import type OpenAI from "openai";',
    "declare function work(): Promise<void>;",
  ];
  await Deno.writeTextFile(path, [...head, ...functions.map(([text]) => `export ${text}`)].join("\n"));
  const args = ["run", "-A", "--no-lock", "scripts/check_promises.ts", path];
  const command = new Deno.Command(Deno.execPath(), { args, cwd: new URL("../../", import.meta.url) });
  const { code, stdout, stderr } = await command.output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  await Deno.remove(path);
  assertEquals(code, 1, `${out}${err}`);
  const found = [...err!.matchAll(/\.ts:(\d+):\d+ (?:Promise|Expected)/g)].map(([, line]) =>
    Number(line) - head.length - 1
  );
  assertEquals(
    [...new Set(found)].map((line) => functions[line]![0]),
    functions.filter(([, floats]) => floats).map(([text]) => text),
  );
});
