import { assertEquals, assertThrows } from "@std/assert";
import { fromBase64, toBase64 } from "../../src/util/base64.ts";

Deno.test("toBase64() and fromBase64() agree, also on more bytes than fit into one call", () => {
  for (const length of [0, 1, 2, 3, 0x8000, 0x8001, 200_000]) {
    const bytes = Uint8Array.from({ length }, (_, index) => index * 7 % 256);
    assertEquals(fromBase64(toBase64(bytes)), bytes);
  }
  assertEquals(toBase64(Uint8Array.of(255, 0, 1)), "/wAB");
});

Deno.test("fromBase64() ignores white space, and throws for anything else", () => {
  assertEquals(fromBase64(" /w\nAB "), Uint8Array.of(255, 0, 1));
  assertThrows(() => fromBase64("A!A"), DOMException);
});
