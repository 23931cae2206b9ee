import { assertEquals } from "@std/assert";
import { rerank } from "../../src/pipeline/operations/rerank.ts";
import { assertLinear } from "../support/effort.ts";

const loadOf = (query: string, documents: string[]) => rerank.measureNeeds({ query, documents }, []).load;

Deno.test("a rerank is estimated to read its query with every document", () => {
  // of three Latin characters at least one token
  assertEquals(loadOf("red", ["roses", "", "violets"]).input, 3 + 4);
});

Deno.test("a long query with many documents is measured once", async () => {
  await assertLinear("a rerank", 4_000, (size) => loadOf("語".repeat(size), new Array(size / 10).fill("")));
});
