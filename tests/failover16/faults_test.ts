/**
 * Sixteen faults of a provider, as a public comparison of gateways has them: a chat client asks a pool of two models, of
 * which the first has the fault. `tests/slow/failover` has the other clients.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { clients } from "./_clients.ts";
import { faults } from "./_faults.ts";
import { defaults, printed, readTable } from "./_page.ts";
import type { Configuration } from "./_scene.ts";
import { expectedVerdict, judgeAll } from "./_verdicts.ts";
import { vendors } from "./_vendors.ts";

const table = readTable();
const chat = { client: clients.chat, vendor: vendors.openai };

describe("Sixteen faults of a provider have the verdicts that docs/failover.md shows", () => {
  it("for each of them", () => {
    assertEquals([...table].map(([number, { title }]) => `${number} ${title}`), faults.map(toLabel));
  });

  for (const isStream of [true, false]) {
    it(isStream ? "streamed" : "not streamed", async () => {
      const judged = faults.filter(({ isOfStreams, requests }) => isStream || !isOfStreams && requests === undefined);
      const judge = (configuration: Configuration) => judgeAll(judged, { ...chat, configuration, isStream });
      const verdicts = await Promise.all([judge(defaults), judge(printed)]);
      for (const [index, name] of (["defaults", "printed"] as const).entries()) {
        assertEquals(
          judged.map((fault, place) => `${toLabel(fault)}: ${verdicts[index]![place]}`),
          judged.map((fault) =>
            `${toLabel(fault)}: ${expectedVerdict(fault, table.get(fault.number)![name], isStream)}`
          ),
          name,
        );
      }
    });
  }

  it("of which at least twelve are passed by default and none is failed, and all are passed with its configuration", () => {
    const rows = [...table.values()];
    assert(rows.filter(({ defaults }) => defaults === "pass").length >= 12);
    assertEquals(rows.filter(({ defaults, printed }) => defaults === "fail" || printed !== "pass"), []);
  });
});

function toLabel({ number, title }: { readonly number: number; readonly title: string }): string {
  return `${number} ${title}`;
}
