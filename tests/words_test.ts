import { assertEquals, assertMatch } from "@std/assert";
import plugin, { isChecked, namedByResult, retiredName, retiredWord } from "../scripts/check_words.ts";

const retired = [
  ["Rest", "restMs", "rest_ms", "resting", "ModelRest", "sharedRests"],
  ["Hold", "Holds", "HoldCause", "MoneyHold", "purse", "Purse", "purseOf"],
  ["Trip", "TripOptions", "Landing", "landingOf", "relapses", "lastRelapse"],
  ["StandbyOrder", "ProviderHome", "Vote", "vote", "ticket", "nextTicket", "obey", "heed", "heedsRetryAfter"],
  ["Obstacle", "foremost", "lessonOf", "Door", "doors", "stateKeeper", "twinOf", "surroundings"],
  ["mostBytes", "longestName", "leastTokens", "told", "mostTold", "_told", "whoever", "tellNobody"],
].flat();

const fine = [
  ["rest", "restore", "restart", "interest", "Restore"],
  ["threshold", "Holder", "withhold", "holds", "trip", "consecutiveTrips", "roundTrip", "RoundTrip"],
  ["most", "almost", "mostly", "longest", "least", "atLeast", "stroll", "toldest", "tell"],
].flat();

Deno.test("retiredName() finds retired words inside identifiers, and says what to use", () => {
  for (const name of retired) assertMatch(retiredName(name) ?? "nothing", /^`\w+` has a retired word: use \w/, name);
});

Deno.test("retiredName() leaves ordinary names alone", () => {
  assertEquals(fine.filter((name) => retiredName(name) !== undefined), []);
});

Deno.test("retiredName() finds further words in published code, and leaves them to tests", () => {
  const names = [
    "place",
    "itsPlace",
    "pieces",
    "said",
    "unsaid",
    "wall",
    "costNano",
    "isAway",
    "asked",
    "why",
    "giveBack",
  ];
  assertEquals(names.filter((name) => retiredName(name, true) === undefined), []);
  assertEquals(names.filter((name) => retiredName(name) !== undefined), []);
  const ordinary = ["placeholder", "replace", "costNanoUsd", "wallTimeMs", "timeUnixNano", "task", "basket"];
  assertEquals(ordinary.filter((name) => retiredName(name, true) !== undefined), []);
});

Deno.test("retiredWord() finds private idioms, and leaves ordinary English alone", () => {
  const retired = [
    "No model has no words for it",
    "An error in its own words",
    "expected a whole number",
    "Served whole or streamed",
    "a whole response",
    "It connects the rooms",
    "The body is no form",
    "the provider's answer",
  ];
  assertEquals(retired.filter((prose) => retiredWord(prose) === undefined), []);
  const ordinary = [
    "There is no body",
    "It is no longer kept",
    "Words of a sentence",
    "the whole document",
    "headroom",
    "a model that answers",
    "the answer to the question",
  ];
  assertEquals(ordinary.filter((prose) => retiredWord(prose) !== undefined), []);
});

Deno.test("isChecked() exempts rooms and what is in them, and no namesakes", () => {
  const root = decodeURIComponent(new URL("../", import.meta.url).pathname);
  const check = (file: string) => isChecked(file, ["src/util", "src/engine/engine.ts"]);
  assertEquals(["src/util/a.ts", `${root}src/util/a.ts`, "src/engine/engine.ts"].map(check), [false, false, false]);
  assertEquals(["src/utility/a.ts", "tests/util/a_test.ts", `${root}a.ts`].map(check), [true, true, true]);
});

Deno.test("namedByResult() finds functions that are named by what they return", () => {
  assertEquals(
    ["textOf", "priceOf", "routingOf", "indexOf", "toText", "proof"].map((name) => namedByResult(name) !== undefined),
    [
      true,
      true,
      false,
      false,
      false,
      false,
    ],
  );
});

const lint = (file: string, source: string) =>
  Deno.lint.runPlugin(plugin, file, source).map(({ message }) => message.split(" has ")[0]);

Deno.test("the rule reports declarations, members and uses, and no strings", () => {
  const source = 'class Hold { #purse = { restMs: 1 }; }\n// Trip\nexport const text = "heed"; f(mostOf);';
  assertEquals(
    lint("src/util/a.ts", source),
    ["`Hold`", "`purse`", "`restMs`", "`mostOf`"],
  );
});

Deno.test("the rule reports comments and titles of tests", () => {
  const source = [
    "/** Nobody is asked. */",
    'it("rests for a minute", () => {}); Deno.test(`is told of ${a}`, () => {}); say("the model rests");',
    "const a = 1; // the rest of it holds",
  ].join("\n");
  const found = Deno.lint.runPlugin(plugin, "tests/a_test.ts", source).map(({ message }) => message.split(" is ")[0]);
  assertEquals(found.sort(), ['"Nobody"', '"rests"', '"told"']);
});

Deno.test("the rule reports messages of the product, and no strings of tests", () => {
  const source = 'warn("The key rests for 5 s"); warn(`${a} is told`); const key = "told"; import("./told.ts");';
  const found = (file: string) =>
    Deno.lint.runPlugin(plugin, file, source).map(({ message }) => message.split(" is ")[0]);
  assertEquals([found("src/a.ts"), found("tests/a_test.ts")], [['"rests"', '"told"'], []]);
});

Deno.test("the rule reports a file's name", () => {
  assertEquals(lint("src/util/told.ts", "export {};"), ["The file's name `told`"]);
});

Deno.test("the rule finds them in published code: functions, methods, callbacks and signatures", () => {
  const source = `function aOf() {}
    const bOf = () => 1, eOf = 2;
    class A { cOf() {} #dOf() {} }
    interface B { fOf(): void }`;
  const found = (file: string) =>
    Deno.lint.runPlugin(plugin, file, source).map(({ message }) => message.split(" is ")[0]);
  assertEquals(found("src/util/a.ts"), ["aOf", "bOf", "cOf", "dOf", "fOf"].map((name) => `\`${name}\``));
  assertEquals(found("tests/util/a_test.ts"), []);
});

Deno.test("the rule reports variables and parameters that say nothing about their values, in published code", () => {
  const source = `const known = 1; let { a: made, given } = b;
    function c(one, [given], ...known) { for (const one of d) e.known = { one: 1 }; }
    const f = (one = 1) => b.given;`;
  const found = (file: string) =>
    Deno.lint.runPlugin(plugin, file, source).map(({ message }) => message.split(" says ")[0]);
  const names = ["known", "made", "given", "one", "given", "known", "one", "one"].map((name) => `\`${name}\``);
  assertEquals(found("src/util/a.ts").sort(), names.sort());
  assertEquals(found("tests/util/a_test.ts"), []);
});

Deno.test("the rule reports names for the responses of providers, and for three meanings of whole", () => {
  const source =
    "class AnswerStream { #isAnswered = isWhole(answer) && wholeTypes; } type A = DialectWords; f(answering);";
  assertEquals(lint("src/util/a.ts", source), [
    "`AnswerStream`",
    "`isAnswered`",
    "`isWhole`",
    "`answer`",
    "`wholeTypes`",
    "`DialectWords`",
  ]);
});
