/** The lint rule for positional parameters. */
import { assertEquals } from "@std/assert";
import plugin from "../scripts/check_parameters.ts";

const root = decodeURIComponent(new URL("../", import.meta.url).pathname);

function lint(file: string, source: string): readonly string[] {
  return Deno.lint.runPlugin(plugin, root + file, source).map(({ message }) => message.split(":")[0]!);
}

const four = `function a(b, c, d, e) {}
  const f = (b, c, d, { e }) => 1;
  class G { constructor(b, c, d, e = 1) {} h(b, c, d, ...e) {} #i(b, c, d, e) {} }
  interface J { k(b: 1, c: 2, d: 3, e: 4): void }`;

Deno.test("a fourth positional parameter is an error: of functions, callbacks, methods, constructors and signatures", () => {
  assertEquals(lint("src/util/a.ts", four), Array(6).fill("4 positional parameters"));
  assertEquals(lint("scripts/a.ts", "function a(b, c, d, e, f) {}"), ["5 positional parameters"]);
});

Deno.test("three are accepted, however much the last one contains, and so are those of another program's signature", () => {
  assertEquals(lint("src/util/a.ts", "function a(b, c, { d, e, f }) {} const g = (h, i = 1, ...j) => 1;"), []);
  assertEquals(lint("ui/a.ts", "plot.hooks = (_plot, _axis, from, until) => until - from;"), []);
});

Deno.test("tests may pass more", () => {
  assertEquals(lint("tests/util/a_test.ts", four), []);
});
