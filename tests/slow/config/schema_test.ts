import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { listFields, writtenDefault } from "../../../scripts/schema/keys.ts";
import type { Field } from "../../../src/config/schema/field.ts";
import { parse } from "../../../src/config/schema/parse.ts";
import { Report } from "../../../src/config/schema/report.ts";
import { schema } from "../../../src/config/schema/schema.ts";
import { formatDuration, parseDuration, parseSize } from "../../../src/config/schema/units.ts";
import { specifiedDefaults, specifiedKeys } from "../../config/_spec_keys.ts";

Deno.test("the defaults of the schema fit their own fields", () => {
  for (const [path, field] of listFields(schema)) {
    const { type, default: standard } = field;
    if (standard === undefined) continue;
    const written = type === "duration"
      ? formatDuration(Number(standard))
      : type === "size"
      ? `${standard}B`
      : standard;
    const report = new Report();
    assertEquals(parse(field, written, { path, report }), standard, path);
    assertEquals(report.problems, [], path);
  }
});

Deno.test("the schema has every attribute of the specification", () => {
  const paths = new Set([...listFields(schema)].map(([path]) => path));
  for (const path of [...specifiedKeys, "providers.*.instance"]) assert(paths.has(path), path);
});

function* objectsIn(field: Field): Generator<Field> {
  const { fields, item, options = [] } = field;
  if (fields !== undefined) yield field;
  for (const inner of [...Object.values(fields ?? {}), ...options, ...(item === undefined ? [] : [item])]) {
    yield* objectsIn(inner);
  }
}

Deno.test("every key written in camelCase is answered with its own name", () => {
  for (const field of objectsIn(schema)) {
    const { fields = {}, isOpen } = field;
    for (const key of isOpen ? [] : Object.keys(fields)) {
      const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      if (camel === key) continue;
      const report = new Report();
      parse(field, { [camel]: null }, { path: "", report });
      const messages = report.problems.map(({ message }) => message).join();
      assertStringIncludes(messages, `did you mean "${key}"?`, camel);
    }
  }
});

Deno.test("the defaults are those of the specification", () => {
  const fields = new Map(listFields(schema));
  for (const [path, standard] of Object.entries(specifiedDefaults)) {
    const field = fields.get(path)!;
    const isDuration = typeof standard === "string" && field.type === "duration";
    assertEquals(writtenDefault(field), isDuration ? formatDuration(parseDuration(standard)!) : standard, path);
  }
});

Deno.test("parseDuration() reads integers with units, the largest first", () => {
  const readable: readonly (readonly [text: string, ms: number])[] = [
    ["500ms", 500],
    ["60s", 60_000],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["24h", 86_400_000],
    ["7d", 604_800_000],
    ["2w", 1_209_600_000],
    ["1h30m", 5_400_000],
    ["1m5ms", 60_005],
    ["0s", 0],
  ];
  for (const [text, ms] of readable) assertEquals(parseDuration(text), ms, text);
  for (
    const text of ["", "10", "s", "-1s", "1.5h", "5 s", "1e3s", "30m1h", "1s1s", "999999d", "1S", "٣s", "9".repeat(39)]
  ) {
    assertEquals(parseDuration(text), undefined, text);
  }
  assertEquals([0, 500, 5_400_000, 90_061_001].map(formatDuration), ["0s", "500ms", "1h30m", "1d1h1m1s1ms"]);
});

Deno.test("parseSize() reads integers with decimal and binary units", () => {
  const readable: readonly (readonly [text: string, bytes: number])[] = [
    ["512MB", 512_000_000],
    ["64KiB", 65_536],
    ["1GB", 1_000_000_000],
    ["1TiB", 1_099_511_627_776],
    ["7B", 7],
  ];
  for (const [text, bytes] of readable) assertEquals(parseSize(text), bytes, text);
  for (const text of ["", "10", "1.5MB", "1 MB", "-1MB", "1mb", "MB", "9999999TB"]) {
    assertEquals(parseSize(text), undefined, text);
  }
});
