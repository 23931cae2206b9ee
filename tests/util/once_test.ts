import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { once, onceResolved } from "../../src/util/once.ts";

Deno.test("once() makes a value with the first call and returns the same from then on, also undefined", () => {
  let calls = 0;
  const list = once(() => [++calls]);
  assertEquals(calls, 0);
  assertStrictEquals(list(), list());
  const nothing = once(() => void calls++);
  assertEquals([nothing(), nothing(), calls], [undefined, undefined, 2]);
});

Deno.test("once() tries again after a failure", () => {
  let calls = 0;
  const flaky = once(() => {
    if (++calls === 1) throw new Error("not yet");
    return calls;
  });
  assertThrows(() => flaky(), Error, "not yet");
  assertEquals([flaky(), flaky()], [2, 2]);
});

Deno.test("onceResolved() makes a value for all who ask at once, and makes it anew after a failure", async () => {
  let calls = 0;
  const made = onceResolved(() => ++calls === 1 ? Promise.reject(new Error("away")) : Promise.resolve(calls));
  const first = await Promise.allSettled([made(), made()]);
  assertEquals(first.map(({ status }) => status), ["rejected", "rejected"]);
  assertEquals(calls, 1);
  assertEquals(await Promise.all([made(), made(), made()]), [2, 2, 2]);
});
