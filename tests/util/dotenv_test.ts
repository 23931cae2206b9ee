import { assert, assertEquals } from "@std/assert";
import { stringify } from "@std/dotenv/stringify";
import { seededRandom } from "../../src/runtime/test.ts";
import { parseDotenv } from "../../src/util/dotenv.ts";
import { assertLinear } from "../support/effort.ts";

function read(text: string): Record<string, string> {
  const { entries, problems } = parseDotenv(text);
  assertEquals(problems, [], text);
  return Object.fromEntries(entries.map(({ name, value }) => [name, value]));
}

const good: Readonly<Record<string, [text: string, values: Record<string, string>]>> = {
  "nothing": ["", {}],
  "comments and blank lines": ["# A=b\n\n   \t\n  # c\n", {}],
  "plain values": ["A=b\nB = c d \nC=", { A: "b", B: "c d", C: "" }],
  "no line end at the end": ["A=b", { A: "b" }],
  "export": ["export A=b\n  export\tB=c\nexport=d", { A: "b", B: "c", export: "d" }],
  "a byte order mark and Windows line ends": ["\uFEFFA=b\r\nB='c'\r\n", { A: "b", B: "c" }],
  "comments behind values": ["A=b # c\nB=b#c\nC='d' # e\nD=\"f\"# g\nE=# h", {
    A: "b",
    B: "b#c",
    C: "d",
    D: "f",
    E: "",
  }],
  "quotes": ["A='a b'\nB=\"a b\"\nC=`a 'b'`\nD=it's", { A: "a b", B: "a b", C: "a 'b'", D: "it's" }],
  "escapes in double quotes only": [`A="a\\nb\\"\\\\\\$\\x"\nB='a\\nb'\nC=a\\nb`, {
    A: 'a\nb"\\$\\x',
    B: "a\\nb",
    C: "a\\nb",
  }],
  "several lines": ["A='-----BEGIN\n# no comment\nEND'\nB=c", { A: "-----BEGIN\n# no comment\nEND", B: "c" }],
  "no expansion": ['A=$HOME\nB="${HOME}"\nC=$$x', { A: "$HOME", B: "${HOME}", C: "$$x" }],
  "an equals sign in a value": ["A=b=c==", { A: "b=c==" }],
  "the last of two": ["A=b\nA=c", { A: "c" }],
  "names that objects have": ["__proto__=a\nconstructor=b", JSON.parse('{"__proto__":"a","constructor":"b"}')],
};

for (const [what, [text, values]] of Object.entries(good)) {
  Deno.test(`a dotenv file: ${what}`, () => assertEquals(read(text), values));
}

const bad: Readonly<Record<string, [text: string, lines: number[]]>> = {
  "a name alone": ["A=b\nTOKEN\nC=d", [2]],
  "a blank in a name": ["A B=secret", [1]],
  "a digit at first": ["\n\n1A=secret", [3]],
  "no name": ["=secret\n: secret\n", [1, 2]],
  "an open quote": ["A='secret\nB=c\n", [1]],
  "something behind a quote": ["A='secret'secret\nB=\"c\" d", [1, 2]],
  "a NUL": ["A=se\0cret\nB=c", [1]],
  "not UTF-8": [new TextDecoder().decode(new Uint8Array([65, 61, 115, 0xe9])), [1]],
};

for (const [what, [text, lines]] of Object.entries(bad)) {
  Deno.test(`a dotenv file is refused, by line and without its text: ${what}`, () => {
    const { problems } = parseDotenv(text);
    assertEquals(problems.map(({ line }) => line), lines);
    assert(problems.every(({ message }) => !message.includes("secret")), JSON.stringify(problems));
  });
}

Deno.test("parseDotenv() returns where an entry stands", () => {
  const { text, entries } = parseDotenv("# a\r\nA='b\r\nc'\r\nB=d");
  assertEquals(entries.map(({ span: [from, to], line }) => [text.slice(from, to), line]), [["A='b\nc'\n", 2], [
    "B=d",
    4,
  ]]);
});

Deno.test("what stringify() writes is read back whole, whatever the value", () => {
  const pieces = ["a", " ", "'", '"', "`", "\\", "\n", "\r", "\t", "#", "$", "=", "é", "\\n", "\u2028", "${A}", "🗝"];
  const random = seededRandom(19);
  const any = () => random() < 0.7 ? pieces[Math.floor(random() * pieces.length)]! : anyCharacter(random);
  const pairs = pieces.flatMap((one) => pieces.flatMap((two) => [one + two, `x${one}${two}x`, two + one + two]));
  const longer = Array.from({ length: 5_000 }, () => Array.from({ length: 1 + random() * 12 }, any).join(""));
  for (const value of ["", ...pairs, ...longer]) {
    assertEquals(read(`A=1\n${stringify({ B: value })}\nC=2\n`), { A: "1", B: value, C: "2" });
  }
});

/** Any of Unicode's but what no dotenv file holds: NUL, halves of pairs, and U+FFFD. */
function anyCharacter(random: () => number): string {
  const code = 1 + Math.floor(random() ** 3 * 0x10fffe);
  return code >= 0xd800 && code < 0xe000 || code === 0xfffd ? "x" : String.fromCodePoint(code);
}

Deno.test("parseDotenv() takes a time in proportion to the file, also for one that is made to take long", async () => {
  for (const piece of ["A='\n", 'A="\\"\n', "A", "A=b #", "\r\n", "export ", "`", "A=`\n'\n", " "]) {
    await assertLinear(JSON.stringify(piece), 25_000, (size) => parseDotenv(piece.repeat(size / piece.length)));
  }
});
