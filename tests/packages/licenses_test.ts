/** Code of others in the packages comes with its license. */
import { assertStringIncludes } from "@std/assert";
import { collectNotices } from "../../scripts/npm/bundle.ts";
import { thirdPartyLicenses } from "../../scripts/npm/package.ts";
import { downloaded } from "../../scripts/npm/std.ts";
import { packedPage } from "../../src/proxy/_ui_page.ts";

Deno.test("the packages contain the license of the dashboard's charts, as the page itself does", async () => {
  const { text } = await thirdPartyLicenses("Copyright of the standard library");
  const bytes = Uint8Array.from(atob(packedPage), (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  for (const part of [text, await new Response(unpacked).text()]) {
    assertStringIncludes(part, "uPlot");
    assertStringIncludes(part, "Leon Sorokin");
    assertStringIncludes(part, "The above copyright notice and this permission notice shall be included in");
  }
  assertStringIncludes(text, "Copyright of the standard library");
});

Deno.test("the packages contain the notices of what the standard library adapts", async () => {
  const paths = ["http/_negotiation/encoding.js", "yaml/_loader_state.js"];
  const notices = await collectNotices(
    await Promise.all(paths.map((path) => downloaded(`npm:deno-std@1.4.0/${path}`))),
  );
  for (const holder of ["the Deno authors", "Federico Romero", "Vitaly Puzrin"]) assertStringIncludes(notices, holder);
});
