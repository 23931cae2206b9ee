/** The comparison in README has the figures of the pages that say how they were measured. */
import { assert, assertEquals } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import { isProvider } from "../../src/config/settings/known.ts";

const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));

/** The cells of each row of the tables in a text. */
function listRows(text: string): string[][] {
  return text.split("\n").filter((line) => line.startsWith("|")).map((line) =>
    line.split("|").slice(1, -1).map((cell) => cell.trim())
  );
}

const readme = await read("README.md");
const comparison = listRows(readme.split("## Comparison with alternatives\n")[1]!.split("\n## ")[0]!);

/** The row of the comparison that contains a text. */
function findRow(text: string): string[] {
  const row = comparison.find(([name = ""]) => name.includes(text) && !name.includes("bill"));
  assert(row !== undefined, `the comparison has no row with ${text}`);
  return row;
}

Deno.test("the comparison counts the faults that docs/failover.md says pass", async () => {
  const page = await read("docs/failover.md");
  const faults = listRows(page).filter(([number]) => /^\d+$/.test(number ?? ""));
  const [defaults, configured] = [3, 4].map((column) => faults.filter((row) => row[column] === "pass").length);
  assertEquals(faults.length, 16);
  const [, own = ""] = findRow("faults");
  assertEquals(own.match(/\d+/g)?.map(Number), [defaults, configured]);
});

Deno.test("the ratios of the comparison are those of docs/performance.md", async () => {
  const results = listRows(await read("docs/performance.md"));
  const ratio = (name: string) => {
    const row = results.find(([figure = ""]) => figure.includes(name));
    assert(row !== undefined, `docs/performance.md has no row with ${name}`);
    return row[1]!.split(" · ").map((cell) => cell.split(" ")[0]); // the median, without the spread beside it
  };
  const [, , liteLlm = "", portkey = ""] = findRow("requests per second");
  assertEquals(portkey.match(/[\d.]+/g), ratio("Over Portkey's gateway"));
  assertEquals(liteLlm.match(/[\d.]+/g), ratio("Deno over LiteLLM's proxy"));
});

Deno.test("the comparison counts the vendors of the connectors", () => {
  const vendors = serverConnectors.filter(isProvider).filter(({ id, local }) =>
    !local && id !== "openai.compatible.v1"
  );
  const [, own = ""] = findRow("vendors");
  assertEquals(Number(/^\d+/.exec(own)?.[0]), vendors.length);
});
