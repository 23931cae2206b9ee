import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { UnsupportedRequestError } from "../../src/errors.ts";
import { checkShape } from "../../src/pipeline/check_shape.ts";

const messages = [{ role: "user", content: "Hi" }];

Deno.test("checkShape() returns what can be routed as it is, whatever else its provider may find", () => {
  for (const body of [{ messages }, { model: "chat", messages, temperature: "hot", tools: 7 }]) {
    assertStrictEquals<unknown>(checkShape(body), body);
  }
});

Deno.test("checkShape() refuses what cannot be routed, and names the field", () => {
  const cases: readonly (readonly [body: unknown, param: string | null])[] = [
    [undefined, null],
    [null, null],
    ["Hi", null],
    [messages, null],
    [{ model: 7, messages }, "model"],
    [{ model: null, messages }, "model"],
    [{}, "messages"],
    [{ messages: "Hi" }, "messages"],
    [{ messages: [] }, "messages"],
    [{ messages: [...messages, null] }, "messages"],
    [{ messages: [{ content: "Hi" }] }, "messages"],
  ];
  for (const [body, param] of cases) {
    const error = assertThrows(() => checkShape(body), UnsupportedRequestError);
    assertEquals([error.code, error.param], ["invalid_value", param]);
  }
});
