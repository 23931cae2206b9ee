import { assertEquals } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import { readAttributes } from "../../src/config/check/connectors.ts";
import { Report } from "../../src/config/schema/report.ts";
import { formatDuration } from "../../src/config/schema/units.ts";

/** What a connector declares, code left out. */
function declared(connector: object): object {
  return Object.fromEntries(Object.entries(connector).filter(([, value]) => typeof value !== "function"));
}

Deno.test("a connector that is imported when it is named is the one that was declared", async () => {
  for (const connector of serverConnectors) {
    if ("load" in connector) assertEquals(declared(await connector.load()), declared(connector), connector.id);
  }
});

Deno.test("the default of an attribute is what its own way of writing it is read as", () => {
  let count = 0;
  for (const { id, attributes = {} } of serverConnectors) {
    for (const [name, { type, default: standard }] of Object.entries(attributes)) {
      if (standard === undefined) continue;
      const written = type === "duration"
        ? formatDuration(Number(standard))
        : type === "size"
        ? `${standard}B`
        : standard;
      const report = new Report();
      const read = readAttributes({ [name]: written }, { declared: attributes, connector: id, report, path: "" });
      assertEquals([read, report.problems], [{ [name]: standard }, []], `${id} ${name}`);
      count++;
    }
  }
  assertEquals(count >= 18, true, `${count} defaults`);
});
