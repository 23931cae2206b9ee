import { assertEquals } from "@std/assert";
import { checkExports } from "../scripts/check_exports.ts";

const own =
  "export interface Facts {}\n/** See idle(). */\nexport const used = 1;\nexport function idle(_: Facts) {}\n";

const check = (...others: readonly [path: string, text: string][]) =>
  checkExports([{ path: "src/util/a.ts", text: own }, ...others.map(([path, text]) => ({ path, text }))]);

Deno.test("checkExports() finds what no file imports", () => {
  assertEquals(check(["src/util/b.ts", 'import { idle, used } from "./a.ts";\n']), [
    "src/util/a.ts exports Facts: no file imports it; leave out `export`, or remove it",
  ]);
});

Deno.test("checkExports() finds what only tests use, unless its own file uses it too", () => {
  const shell = ["mod.ts", 'export { used } from "./src/util/a.ts";\n'] as const;
  const test = ["tests/a_test.ts", 'import { type Facts, idle as other } from "../src/util/a.ts";\n'] as const;
  assertEquals(check([...shell], [...test]), ["src/util/a.ts exports idle: only tests use it; remove it"]);
});

Deno.test("checkExports() knows imports over several lines, of types, of whole modules and at run time", () => {
  const users = [
    'import type {\n  Facts,\n  idle,\n  used,\n} from "../util/a.ts";\n',
    'export type * from "../util/a.ts";\n',
    'import * as all from "../util/a.ts";\n',
    'const { idle } = await import("../util/a.ts");\n',
    'type A = import("../util/a.ts").Facts | import("../util/a.ts").used | import("../util/a.ts").idle;\n',
  ];
  for (const user of users) assertEquals(check(["src/state/b.ts", user]), [], user);
});
