/** Code of others in the packages comes with its license. */
import { assertStringIncludes } from "@std/assert";
import { collectNotices } from "../../scripts/npm/bundle.ts";
import { downloaded } from "../../scripts/npm/std.ts";

Deno.test("the packages contain the notices of what the standard library adapts", async () => {
  const paths = ["http/_negotiation/encoding.js", "yaml/_loader_state.js"];
  const notices = await collectNotices(
    await Promise.all(paths.map((path) => downloaded(`npm:deno-std@1.4.0/${path}`))),
  );
  for (const holder of ["the Deno authors", "Federico Romero", "Vitaly Puzrin"]) assertStringIncludes(notices, holder);
});
