import { assertEquals } from "@std/assert";
import * as yaml from "@std/yaml";
import { Report } from "../../src/config/schema/report.ts";
import { readYaml } from "../../src/config/load/_yaml_read.ts";
import { writeYaml } from "../../src/config/load/mesh_config.ts";
import { Chance } from "../simulation/chance.ts";

/** What YAML, or a reader of it, may take for something else. */
const pieces: readonly string[] = [
  ...[
    "a",
    " ",
    ":",
    "#",
    "-",
    "?",
    "&",
    "*",
    "!",
    "|",
    ">",
    "'",
    '"',
    "%",
    "@",
    "`",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\\",
    "=",
  ],
  ...["~", "null", "true", "no", "1", "017", "0x1", "1e3", "1_0", ".", "+1", "1:30", "2020-01-01", "<<", "---", "..."],
  ...["\n", "\t", "\u0000", "\u007f", "\u0085", "\u2028", "\ufeff", "é", "😀", "${secrets:A}"],
];

function createText(chance: Chance): string {
  return Array.from({ length: chance.whole(0, 4) }, () => chance.pick(pieces)).join("");
}

function createValue(chance: Chance, depth: number): unknown {
  const size = depth === 0 ? 0 : chance.whole(0, 3);
  const makers: readonly (() => unknown)[] = [
    () => createText(chance),
    () => createText(chance),
    () => chance.pick([true, false, null, 0, -1, 1.5, 1e21, 1e-7, 123_456_789]),
    () => Array.from({ length: size }, () => createValue(chance, depth - 1)),
    () => Object.fromEntries(Array.from({ length: size }, () => [createText(chance), createValue(chance, depth - 1)])),
  ];
  return chance.pick(makers)();
}

Deno.test("whatever a document says, its YAML reads as the same", () => {
  const chance = new Chance(1, "yaml");
  for (let round = 0; round < 500; round++) {
    const document = { first: createValue(chance, 3), [`${createText(chance)} `]: createValue(chance, 3) };
    const report = new Report();
    const read = readYaml(writeYaml(document), yaml, report);
    assertEquals([read, report.problems], [document, []], writeYaml(document));
  }
});
