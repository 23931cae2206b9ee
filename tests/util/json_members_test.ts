import { assertEquals } from "@std/assert";
import { editMembers, hasRepeatedMember } from "../../src/util/json_members.ts";

Deno.test("editMembers changes what it is given and leaves every other byte alone", () => {
  const cases: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ['{"model":"chat"}', { model: "gpt" }, '{"model":"gpt"}'],
    ['{ "a" : 1 , "model" : "chat" }', { model: "gpt" }, '{"a" : 1,"model" : "gpt"}'],
    ['{"seed":12345678901234567890,"model":"x"}', { model: "y" }, '{"seed":12345678901234567890,"model":"y"}'],
    ['{"a":[1,{"model":"deep"}],"model":"x"}', { model: "y" }, '{"a":[1,{"model":"deep"}],"model":"y"}'],
    ['{"a":"\\"model\\":}{","model":"x"}', { model: "y" }, '{"a":"\\"model\\":}{","model":"y"}'],
    ['{"a":"\\\\","model":"x"}', { model: "y" }, '{"a":"\\\\","model":"y"}'],
    ['{"mo\\u0064el":"x"}', { model: "y" }, '{"mo\\u0064el":"y"}'],
    ['{"model":"x","a":1,"model":"z"}', { model: "y" }, '{"model":"y","a":1}'],
    ['{"mesh":{"only":["a"]},"b":true}', { mesh: undefined }, '{"b":true}'],
    ["{}", { model: "y" }, '{"model":"y"}'],
    ['{"a":null}', {}, '{"a":null}'],
  ];
  for (const [text, edits, expected] of cases) assertEquals(editMembers(text, edits), expected);
});

Deno.test("hasRepeatedMember() finds two members of one name in any object, however the name is written", () => {
  const cases: [text: string, isRepeated: boolean][] = [
    ["{}", false],
    ['{"a":{"b":[{"c":1},{"c":"x:y","d":"\\":\\\\"}]},"b":null}', false],
    ['{"a":1,"a":1}', true],
    ['{"a":[[{"b":1},{"b":1,"c":{"b":2,"b":3}}]]}', true],
    ['[{"ab":1,"a\\u0062":2}]', true],
    ['{"__proto__":1,"__proto__":2}', true],
    ['{"__proto__":{"a":1}}', false],
  ];
  for (const [text, isRepeated] of cases) assertEquals(hasRepeatedMember(text), isRepeated, text);
});

Deno.test("editMembers agrees with parsing and writing for any object", () => {
  const values = [0, -1.5e10, "", 'q"\\', "a\nb", true, null, [], {}, [[{ a: "]" }], "}"], { x: { y: ["{", 1] } }];
  for (const [place, first] of values.entries()) {
    for (const second of values) {
      const object = { first, model: "m", second, ["k" + place]: second };
      for (const indent of [0, 2]) {
        const text = JSON.stringify(object, null, indent);
        assertEquals(JSON.parse(editMembers(text, { model: first, added: second, second: undefined })), {
          first,
          model: first,
          ["k" + place]: second,
          added: second,
        });
      }
    }
  }
});
