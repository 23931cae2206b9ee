import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { newId, requestIdFrom } from "../../src/util/request_id.ts";

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

Deno.test("requestIdFrom() keeps what a caller gave, when it is short and visible", () => {
  assertEquals(requestIdFrom("a-1"), "a-1");
  for (const given of [null, undefined, "", "a b", "é", "a".repeat(129)]) assertMatch(requestIdFrom(given), uuid);
});

Deno.test("newId() makes a new UUID, also where the page was not served securely", () => {
  assertMatch(newId(), uuid);
  const descriptor = Object.getOwnPropertyDescriptor(Crypto.prototype, "randomUUID")!;
  delete (Crypto.prototype as { randomUUID?: unknown }).randomUUID;
  try {
    for (let turn = 0; turn < 100; turn++) assertMatch(newId(), uuid);
    assertNotEquals(newId(), newId());
  } finally {
    Object.defineProperty(Crypto.prototype, "randomUUID", descriptor);
  }
});
