/**
 * The sixteen faults of `tests/failover16`, for clients of all dialects: in front of providers of OpenAI's dialect, and
 * of their own, whose bytes are forwarded.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { clients } from "../failover16/_clients.ts";
import { faults } from "../failover16/_faults.ts";
import { defaults, printed, readTable } from "../failover16/_page.ts";
import { expectedVerdict, judgeAll } from "../failover16/_verdicts.ts";
import { vendors } from "../failover16/_vendors.ts";

const table = readTable();

const pairs: readonly (readonly [client: keyof typeof clients, vendor: keyof typeof vendors])[] = [
  ["messages", "openai"],
  ["responses", "openai"],
  ["gemini", "openai"],
  ["messages", "anthropic"],
  ["responses", "responses"],
  ["gemini", "gemini"],
];

/** Faults with many requests are the same for all clients. */
const single = faults.filter(({ requests }) => requests === undefined);

describe("Sixteen faults of a provider have the same verdicts for all clients", () => {
  for (const [name, configuration] of Object.entries({ defaults, printed })) {
    for (const [index, [client, vendor]] of pairs.entries()) {
      for (const isStream of configuration === printed ? [true, false] : [true]) {
        it(`${client} in front of ${vendor}, ${name}, ${isStream ? "streamed" : "whole"}`, async () => {
          const judged = single.filter(({ isOfStreams }) => isStream || !isOfStreams);
          const expected = judged.map((fault) => {
            const verdict = table.get(fault.number)![name as "defaults" | "printed"];
            return `${fault.number}: ${expectedVerdict(fault, verdict, isStream)}`;
          });
          const listener = index % 2 === 0 ? "node" as const : undefined;
          const setting = { client: clients[client], vendor: vendors[vendor], configuration, isStream };
          const verdicts = await judgeAll(judged, { ...setting, ...(listener === undefined ? {} : { listener }) });
          assertEquals(verdicts.map((verdict, place) => `${judged[place]!.number}: ${verdict}`), expected);
        });
      }
    }
  }
});
