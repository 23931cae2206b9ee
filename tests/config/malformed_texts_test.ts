import { assertEquals } from "@std/assert";
import { acme, allowed, describeFile, type MalformedFile } from "./_malformed.ts";

function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function bomb(): string {
  const levels = [..."abcdefgh"].map((name, place, names) => {
    return `${name}: &${name} [${(place === 0 ? "x, " : `*${names[place - 1]}, `).repeat(10)}]`;
  });
  return levels.join("\n");
}

/** Files that are not documents, or none that all parsers read alike. */
const malformed: readonly MalformedFile[] = [
  [
    "keys that reach into prototypes",
    `${acme}__proto__: { polluted: yes }
pools: { constructor: {}, chat-completion: { prototype: 1, retry.__proto__: {} } }
`,
    "__proto__: a key of this name is not allowed",
    "pools.constructor: a key of this name is not allowed",
    "pools.chat-completion.prototype: a key of this name is not allowed",
    "pools.chat-completion.retry.__proto__: a key of this name is not allowed",
  ],
  [
    "keys that reach into prototypes, as JSON",
    '{"pools": {"__proto__": {"strategy": "x"}}, "constructor": {"prototype": {}}}',
    "pools.__proto__: a key of this name is not allowed",
    "constructor: a key of this name is not allowed",
    "constructor.prototype: a key of this name is not allowed",
  ],
  [
    "a key given twice",
    `${acme}pools: {}
proxy: {}
pools: {}
`,
    'line 5: duplicate key "pools"',
  ],
  [
    "a key given twice, as JSON",
    `{
  "proxy": {"port": 1,
    "port": 2},
  "proxy": {}
}`,
    "proxy.port: line 3: duplicate key",
    "proxy: line 4: duplicate key",
  ],
  [
    "an alias that contains itself",
    `pools: &pools
  a: { models: [x] }
  b: *pools
`,
    "pools.b: contains itself",
  ],
  [
    "an alias that nobody defined",
    `pools: *nobody
`,
    "line 1 is not valid YAML: Cannot read alias: unidentified alias …",
  ],
  ["an alias bomb", bomb(), "has more than 100000 values, counting aliases at each occurrence"],
  [
    "an alias that is merged",
    `pools:
  base: &base { strategy: round-robin }
  chat-completion:
    <<: *base
providers:
  acme.llm.v1: { api_key: k }
`,
    'pools.base: needs "capability" or "models": "base" is not a capability',
  ],
  [
    "a tag",
    `pools: !!js/function 'x'
`,
    "line 1 is not valid YAML: Cannot resolve unknown tag !…",
  ],
  [
    "tabs",
    `pools:
\tchat-completion: {}
`,
    "line 2 is indented with a tab: use spaces",
  ],
  [
    "a tab after spaces",
    `${acme}pools:
  chat-completion:
  \tstrategy: x
`,
    "line 5 is indented with a tab: use spaces",
  ],
  [
    "wrong indentation",
    `pools:
   a: {}
  b: {}
`,
    "line 3 is not valid YAML: Cannot read block: bad indentation of a mapping entry",
  ],
  [
    "a bracket that stays open",
    `${acme}pools: { chat-completion: { models: [acme.small }
`,
    "line 3 is not valid YAML: Cannot read flow collection: missing comma between flow collection entries",
  ],
  [
    "a quote that stays open",
    `${acme}pools: { "chat-completion: {} }
`,
    "line 4 is not valid YAML: Unexpected end of the stream within a double quoted scalar",
  ],
  [
    "two documents",
    `${acme}---
providers:
  acme.llm.v1: { api_key: k }
`,
    "line 3: a second document starts, but the file may contain only one",
  ],
  [
    "numbers that readers disagree on",
    `${acme}proxy: { port: 0x1F90, max_concurrent: 1_000 }
pools: { chat-completion: { rate_limit: { threshold: .8 } } }
`,
    'proxy.port: is a number spelled in a way that YAML readers disagree on (such as "017", "1_000", "0x1F" or ".5"): write it as a plain decimal, or put it in quotes if it is a string',
    'proxy.max_concurrent: is a number spelled in a way that YAML readers disagree on (such as "017", "1_000", "0x1F" or ".5"): write it as a plain decimal, or put it in quotes if it is a string',
    'pools.chat-completion.rate_limit.threshold: is a number spelled in a way that YAML readers disagree on (such as "017", "1_000", "0x1F" or ".5"): write it as a plain decimal, or put it in quotes if it is a string',
  ],
  [
    "names that are numbers or nothing",
    `providers:
  1: {}
  ~: {}
  true: {}
`,
    "providers.~: is a key that YAML readers do not read as a string: put it in quotes",
  ],
  [
    "a key that is a list",
    `? [a, b]
: c
`,
    `a,b: unknown key; ${allowed("", "a,b")}`,
  ],
  ["2 MiB", `${acme}# ${"x".repeat(2 * 1024 * 1024)}\n`, "the file is larger than 1 MiB"],
  ["nothing", "", "the file is empty"],
  ["a byte order mark alone", "\ufeff", "the file is empty"],
  [
    "comments alone",
    `# nothing

# yet
`,
    "the file is empty",
  ],
  [
    "an explicit nothing",
    `---
null
`,
    "the file is empty",
  ],
  ["a program", bytes("\x7fELF\x02\x01\x01\0\0"), "the file is not UTF-8 text"],
  ["an archive", bytes("PK\x03\x04\x14\0\xff\xfe\x80"), "the file is not UTF-8 text"],
  ["UTF-16", bytes("\xff\xfep\0o\0o\0l\0"), "the file is not UTF-8 text"],
  ["Latin-1", bytes("aliases: { gr\xfcn: x }"), "the file is not UTF-8 text"],
  [
    "a list",
    `- providers
- pools
`,
    "expected an object, found a list",
  ],
  [
    "a text",
    `providers
`,
    "expected an object, found a string",
  ],
  [
    "JSON in which something is missing",
    `{"providers": {"acme.llm.v1": {}},
 "pools": {"chat-completion": {"strategy": }}}`,
    "line 2: expected a value: an object, a list, a string in double quotes, a number, true, false or null",
  ],
  [
    "JSON with comments and a trailing comma",
    `{
  "pools": {}, // none
}`,
    "line 2: JSON has no comments: remove this one, or write the configuration as YAML",
  ],
  ["JSON that was cut off", '{"providers": {"acme.llm.v1": {"api_key": "k"', 'line 1: expected "," or "}"'],
  [
    "nested without end",
    `${acme}secrets: ${"{a: ".repeat(80)}1${"}".repeat(80)}\n`,
    "is nested more than 64 levels deep",
  ],
  [
    "a tag of another program",
    `${acme}pools: !include pools.yaml
`,
    "line 3 is not valid YAML: Cannot resolve unknown tag !…",
  ],
  [
    "a directive of the future",
    `%YAML 3.0
---
pools: {}
`,
    "line 2 is not valid YAML: Cannot handle YAML directive: unacceptable YAML version",
  ],
  [
    "JSON with a wrong escape",
    '{"providers": {"acme.llm.v1": {"api_key": "\\x41"}}}',
    "line 1: a string is not closed, or contains a line break or an invalid escape",
  ],
  [
    "JSON with a bare word",
    '{"proxy": {"port": eighty}}',
    "line 1: expected a value: an object, a list, a string in double quotes, a number, true, false or null",
  ],
  [
    "JSON of two documents",
    `{"pools": {}}
{"pools": {}}`,
    "line 2: expected nothing after the document",
  ],
];

Deno.test("a file that is not a document is refused with the place of the mistake", async () => {
  for (const [what, content, ...problems] of malformed) assertEquals(await describeFile(content), problems, what);
});
