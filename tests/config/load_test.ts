import { assert, assertEquals, assertRejects } from "@std/assert";
import { loadDocument } from "../../src/config/load/load.ts";
import { ConfigError } from "../../src/errors.ts";
import { catchRejections, createFiles } from "./_known.ts";

function load(name: string, text: string): Promise<unknown> {
  return loadDocument(name, createFiles({ [name]: text }));
}

Deno.test("loadDocument() reads by extension", async () => {
  const document = { pools: { "chat-completion": { retry: { max_attempts: 2 } } } };
  assertEquals(await load("a.json", JSON.stringify(document)), document);
  assertEquals(await load("a.YAML", "pools:\n  chat-completion:\n    retry: {max_attempts: 2}\n"), document);
  assertEquals(await load("a.yml", JSON.stringify(document)), document);
  assertEquals(await load("a.yaml", "\ufeffa: 1\r\nb: no\r\n"), { a: 1, b: "no" });
  assertEquals(await load("a.json", "\ufeff{}"), {});
});

Deno.test("a merge key of YAML stands for the members of the objects that it names", async () => {
  const text = `
base: &base { a: 1, b: { c: 2 } }
more: &more
  <<: *base
  a: 3
  d: 4
one: { <<: *base, b: 5 }
two:
  e: 6
  <<: [*base, *more]
list: [{ <<: *more }]
none: { <<: [] }
`;
  const base = { a: 1, b: { c: 2 } };
  const more = { a: 3, b: { c: 2 }, d: 4 };
  assertEquals(await load("a.yaml", text), {
    base,
    more,
    one: { a: 1, b: 5 },
    two: { e: 6, ...more, ...base },
    list: [more],
    none: {},
  });
  assertEquals(await load("a.json", '{"a": {"<<": {"b": 1}}}'), { a: { "<<": { b: 1 } } });
});

const disagree =
  'is a number spelled in a way that YAML readers disagree on (such as "017", "1_000", "0x1F" or ".5"): write it as ' +
  "a plain decimal, or put it in quotes if it is a string";
const otherKey = "is a key that YAML readers do not read as a string: put it in quotes";

const refused: readonly (readonly [name: string, text: string, ...problems: string[]])[] = [
  ["mesh.toml", "", 'the file name must end in ".yaml", ".yml" or ".json"'],
  ["mesh", "", 'the file name must end in ".yaml", ".yml" or ".json"'],
  ["a.yaml", "", "the file is empty"],
  ["a.yaml", "\ufeff \n\n", "the file is empty"],
  ["a.yaml", "# only words\n", "the file is empty"],
  ["a.json", " ", "the file is empty"],
  ["a.yaml", "PK\u0003\u0004\u0000", "the file is not UTF-8 text"],
  ["a.yaml", "a: \ufffd", "the file is not UTF-8 text"],
  ["a.yaml", `a: ${"x".repeat(1_048_576)}`, "the file is larger than 1 MiB"],
  ["a.json", `"${"é".repeat(600_000)}"`, "the file is larger than 1 MiB"],
  ["a.yaml", "a: 1\nb:\n\tc: 1\n", "line 3 is indented with a tab: use spaces"],
  ["a.yaml", "a:\n  \tb: 1\n", "line 2 is indented with a tab: use spaces"],
  ["a.yaml", "a: 1\nb: 2\na: 3\n", 'line 3: duplicate key "a"'],
  ["a.yaml", "x:\n  my key: sk-1\n  b: 1\n  my key: 2\nz: 1\n", 'line 4: duplicate key "my key"'],
  ["a.yaml", "x: {a: 1, b.c: 'd: e', b.c: 2}\n", 'line 1: duplicate key "b.c"'],
  ["a.yaml", "x:\n  a:\n    - 1\n    - 2\n  a:\n    b: 1\n", 'line 5: duplicate key "a"'],
  ["a.yaml", "l:\n  - k: 1\n    k: 2\n", 'line 3: duplicate key "k"'],
  ["a.yaml", `"a b": 1\n'a b': 2\n`, 'line 2: duplicate key "a b"'],
  ["a.yaml", "? a\n: 1\n? a\n: 2\n", "line 4: duplicate key"],
  ["a.yaml", "a: &a {c: 1}\nd:\n  <<: *a\n  <<: *a\n", 'line 4: duplicate key "<<"'],
  ["a.yaml", `k${"x".repeat(40)}: 1\nk${"x".repeat(40)}: 2\n`, "line 2: duplicate key a string"],
  ["a.yaml", "a: { <<: 5 }\n", "a.<<: expected an object to merge, or a list of objects, found a number"],
  [
    "a.yaml",
    "a: &a [1]\nb: { <<: [{ c: 1 }, *a] }\n",
    "b.<<: expected an object to merge, or a list of objects, found a list",
  ],
  ["a.yaml", "a: 1\n---\nb: 1\n", "line 2: a second document starts, but the file may contain only one"],
  ["a.yaml", "- a\n", "expected an object, found a list"],
  ["a.yaml", "hello\n", "expected an object, found a string"],
  ["a.json", "[]", "expected an object, found a list"],
  ["a.json", "null", "expected an object, found nothing"],
  ["a.yaml", "a: &a {b: *a}\n", "a.b: contains itself"],
  ["a.yaml", bomb(), "has more than 100000 values, counting aliases at each occurrence"],
  ["a.yaml", "[".repeat(20_000), "the file is nested too deeply"],
  ["a.yaml", `a: ${"{a: ".repeat(70)}1${"}".repeat(70)}`, "is nested more than 64 levels deep"],
  ["a.json", "[".repeat(20_000), "line 1: is nested more than 64 levels deep"],
  [
    "a.yaml",
    "a: 1_000\nb: 017\nc: [0x1F, .5]\nd: 5\n",
    `a: ${disagree}`,
    `b: ${disagree}`,
    `c[0]: ${disagree}`,
    `c[1]: ${disagree}`,
  ],
  ["a.yaml", "a: .nan\nb: -.inf\n", `a: ${disagree}`, `b: ${disagree}`],
  ["a.yaml", "models:\n  4.10: {}\n  ~: {}\n", `models.4.10: ${otherKey}`, `models.~: ${otherKey}`],
  ["a.yaml", "? {a: 1}\n: b\n", `"[object Object]": ${otherKey}`],
  ["a.yaml", "__proto__: {x: 1}\n", "__proto__: a key of this name is not allowed"],
  ["a.json", '{"__proto__": {"x": 1}}', "__proto__: a key of this name is not allowed"],
  [
    "a.json",
    '{\n"a": 1,\n"b": {"c": 1,\n"c": 2, "\\u0063": 3}, "a": 2}',
    "b.c: line 4: duplicate key",
    "b.c: line 4: duplicate key",
    "a: line 4: duplicate key",
  ],
  ...[
    '// c\n{"a": 1}',
    '/* c */ {"a": 1}',
    '{ # c\n"a": 1}',
    '{"a": 1, // c\n"b": 2}',
    '{"a": [1 /* c */]}',
    '{"a": 1} // c',
  ]
    .map((text) =>
      ["a.json", text, "line 1: JSON has no comments: remove this one, or write the configuration as YAML"] as const
    ),
  ["a.json", "{'a': 1}", "line 1: JSON has no strings in single quotes: use double quotes"],
  ["a.json", "{\"a\": 'b'}", "line 1: JSON has no strings in single quotes: use double quotes"],
  ["a.json", "\nproviders:\n  a: {}\n", 'line 2: this is YAML: let the name of the file end in ".yaml"'],
  ["a.json", "---\na: 1\n", 'line 1: this is YAML: let the name of the file end in ".yaml"'],
  ...["{ api_key: ${secrets:K} }", "[${secrets:K}]", "{ a: 1, b: Bearer ${secrets:K} }"].map((value) =>
    [
      "a.yaml",
      `a:\n  b: ${value}\n`,
      'line 2 is not valid YAML: put "${secrets:NAME}" in quotes between braces or brackets',
    ] as const
  ),
  ["a.json", '{"a": 1,}', 'line 1: expected another member after ",", found "}"'],
  ["a.json", '{"a": [1,]}', 'line 1: expected another member after ",", found "]"'],
  ["a.json", '{\n"a" 1}', 'line 2: expected ":" after a key'],
  ["a.json", "{a: 1}", 'line 1: expected a key in double quotes or "}"'],
  ["a.json", '{"a": 1 "b": 2}', 'line 1: expected "," or "}"'],
  ["a.json", '{"a": 1}\n{}', "line 2: expected nothing after the document"],
  ["a.json", '{"a": "b\n"}', "line 1: a string is not closed, or contains a line break or an invalid escape"],
  ["a.json", '{"a": "\\x"}', "line 1: a string is not closed, or contains a line break or an invalid escape"],
  [
    "a.json",
    '{"a": NaN}',
    "line 1: expected a value: an object, a list, a string in double quotes, a number, true, false or null",
  ],
  ["a.json", '{"a": 01}', 'line 1: expected "," or "}"'],
];

function bomb(): string {
  let text = `a0: &a0 [${"x, ".repeat(9)}]\n`;
  for (let level = 1; level < 9; level++) text += `a${level}: &a${level} [${`*a${level - 1}, `.repeat(9)}]\n`;
  return text;
}

Deno.test("loadDocument() says what is wrong with a file, and where", async () => {
  for (const [name, text, ...problems] of refused) {
    assertEquals(await catchRejections(load(name, text)), problems, text.slice(0, 80));
  }
});

Deno.test("loadDocument() refuses YAML that is malformed or has tags, with the line and no excerpt", async () => {
  const canary = "canary5ecret";
  for (
    const text of [
      `a: 1\nb: 'x ${canary}`,
      `a: 1\nb: [${canary}`,
      `a: 1\nb: !!js/${canary} x`,
      `a: 1\nb: *${canary}`,
      `a: 1\nb: !${canary} x`,
    ]
  ) {
    const [line = "", ...others] = await catchRejections(load("a.yaml", text));
    assert(/^line \d+ is not valid YAML: /.test(line), line);
    assert(!line.includes(canary), line);
    assertEquals(others, []);
  }
  const [line = ""] = await catchRejections(load("a.json", `{"a": ${canary}}`));
  assert(!line.includes(canary), line);
});

Deno.test("loadDocument() says why a file cannot be read", async () => {
  assertEquals(await catchRejections(loadDocument("gone.yaml", createFiles({}))), [
    "the file cannot be read: it does not exist",
  ]);
  for (
    const [code, reason] of [["EISDIR", "it is a folder"], ["EACCES", "reading it is not permitted"], [
      "EIO",
      "reading failed",
    ]]
  ) {
    const files = {
      ...createFiles({}),
      readText: () => Promise.reject(Object.assign(new Error("/secret/path"), { code })),
    };
    assertEquals(await catchRejections(loadDocument("a.yaml", files)), [`the file cannot be read: ${reason}`]);
  }
});

Deno.test("loadDocument() names the YAML module when it is missing, and does not need it for JSON", async () => {
  const files = createFiles({ "mesh.yaml": "a: 1", "mesh.json": "{}" });
  const missing = () => Promise.reject(new TypeError("no such module"));
  const error = await assertRejects(() => loadDocument("mesh.yaml", files, missing), ConfigError);
  const start = 'Cannot load configuration "mesh.yaml": the YAML module "@std/yaml" is not installed: ';
  assert(error.message.startsWith(start) && error.message.includes("deno add jsr:@std/yaml"), error.message);
  assertEquals(await loadDocument("mesh.json", files, missing), {});
});
