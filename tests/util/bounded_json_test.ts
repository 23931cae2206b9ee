/** The depth of JSON: what is counted, and what is not. */
import { assertEquals } from "@std/assert";
import { findJsonExcess, responseBounds } from "../../src/util/bounded_json.ts";

Deno.test("the depth of JSON counts open brackets, without those in strings", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const long = `"${"x".repeat(600)}"`;
  assertEquals(findJsonExcess(`[${long},${nested(255)}]`, responseBounds), undefined);
  assertEquals(findJsonExcess(`[${long},${nested(256)}]`, responseBounds), "over 256 levels of objects and arrays");
  assertEquals(findJsonExcess(`[${long},"${"[{".repeat(400)}"]`, responseBounds), undefined);
  assertEquals(findJsonExcess(`[${long}${",{}".repeat(400)}]`, responseBounds), undefined);
});
