/** The lint rule for regular expressions. */
import { assert, assertEquals } from "@std/assert";
import plugin, { patternProblem } from "../scripts/check_patterns.ts";

/** Expressions that take quadratic time for some texts. */
const superlinear = [
  /\/+$/,
  /^[ \t]+|[ \t]+$/g,
  /^data:([^;,]*)[^,]*;base64,(.*)$/is,
  /^(\S+) ([^\s:]+)(.*)$/,
  /[;,\s].*$/,
  /["'<].*["'>]$/s,
  /\s*[\r\n]+\s*x/,
  /(\.\d*?)0+ /,
  /^(a|b)*a*$/,
];

const linear = [
  /^[a-z0-9_-]+$/i,
  /^\d{4}-\d{2}-\d{2}$/,
  /[^A-Za-z0-9]+/g,
  /^.*\//,
  /:.*$/s,
  /<Key>([^<]*)<\/Key>/g,
  /\b(?:sk|pk)[-_]?[A-Za-z0-9_-]{16,}|\bBearer\s{1,64}[^\s"',;]+/g,
  /"choices"\s*:\s*\[\s*\]/,
  /token count .{0,40}exceeds the maximum/i,
  /[.!?…。！？]["'”’)\]]*$/,
];

Deno.test("expressions that take quadratic time are found", () => {
  const missed = superlinear.filter(({ source, flags }) => patternProblem(source, flags) === undefined);
  assertEquals(missed, []);
});

Deno.test("expressions that take linear time are accepted", () => {
  const problems = linear.flatMap(({ source, flags }) => patternProblem(source, flags) ?? []);
  assertEquals(problems, []);
});

Deno.test("unbounded repetitions are not neighbors, even if they match different characters", () => {
  for (const { source, flags } of [/^\s*\d+$/, /^a+(b+)?c$/, /^(?:x*y*)z$/, /^(a+)+$/]) {
    assert(patternProblem(source, flags) !== undefined, source);
  }
});

Deno.test("the rule reads literals of published code, and requires that there are only literals", () => {
  const lint = (file: string, source: string) =>
    Deno.lint.runPlugin(plugin, new URL(`../${file}`, import.meta.url).pathname, source).map(({ message }) => message);
  assertEquals(lint("src/x.ts", String.raw`"a".replace(/\/+$/, "");`).length, 1);
  assertEquals(lint("connectors/x.ts", 'new RegExp(name); RegExp("a");').length, 2);
  assertEquals(lint("tests/x.ts", String.raw`"a".replace(/\/+$/, "");`), []);
  assertEquals(lint("ui/x.ts", 'text.replace(/^a+$/, "b");'), []);
});
