import { assertEquals } from "@std/assert";
import { editJsonAt } from "../../src/util/json_paths.ts";

Deno.test("editJsonAt() replaces an inner value, and keeps every other byte", () => {
  const text = '{ "a" : [ 1.0, {"b\\n": "x,]}", "c": [] } , "y" ],"a2":{"a":null}, "n": 12345678901234567890 }';
  const edit = (path: (string | number)[], value = "0") => editJsonAt(text, path, () => value);
  assertEquals(edit(["a", 0]), text.replace("1.0", "0"));
  assertEquals(edit(["a", 1, "b\n"]), text.replace('"x,]}"', "0"));
  assertEquals(edit(["a", 1, "c"]), text.replace("[]", "0"));
  assertEquals(edit(["a", 2], '"z"'), text.replace('"y"', '"z"'));
  assertEquals(edit(["a2", "a"]), text.replace("null", "0"));
  assertEquals(editJsonAt(text, ["n"], (value) => `[${value}]`), text.replace(/(\d{20})/, "[$1]"));
});

Deno.test("editJsonAt() changes nothing without such a value, and the last one of a repeated key", () => {
  const text = '{"a":[],"b":[1],"b":[2]}';
  assertEquals(editJsonAt(text, ["a", 0], () => "0"), text);
  assertEquals(editJsonAt(text, ["c"], () => "0"), text);
  assertEquals(editJsonAt(text, ["b", 0], () => "0"), '{"a":[],"b":[1],"b":[0]}');
});
