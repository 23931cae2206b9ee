/** The memory of streams that commit when they are complete, over all requests of a process. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { stage } from "../../support/_failover.ts";
import { happens, until } from "../../support/patience.ts";
import { Gate, stream } from "../../support/upstream.ts";

const piece = "x".repeat(1_000_000);

/** Pieces of each stream: just below what one stream may hold. */
const pieces = [piece, piece, piece, piece];

/** Streams that fit into 64 MiB. */
const fitting = 16;

describe("Streams that commit when they are complete", () => {
  it("hold at most 64 MiB together: another one commits at once, and memory comes back with the end of each", async () => {
    const gates: Gate[] = [];
    const held = () => {
      const gate = new Gate();
      gates.push(gate);
      gate.open(1 + pieces.length);
      return stream({ pieces, gate });
    };
    await using scene = await stage({ a: held }, { pool: { commit: "complete" } });
    const controller = new AbortController();
    const responses: Promise<Response>[] = [];
    const settled = new Set<number>();
    const ask = async () => {
      const place = responses.length;
      const response = scene.proxy.chat({ stream: true }, { signal: controller.signal });
      responses.push(response);
      const settle = () => void settled.add(place);
      response.then(settle, settle);
      await scene.received("a", place + 1);
      await happens("all pieces are sent", gates[place]!.reached(2 + pieces.length));
    };
    while (responses.length < fitting + 4) await ask();
    await until(() => settled.size > 0, "a stream commits");
    assertEquals([...settled].filter((place) => place < fitting - 1), []);
    for (const gate of gates) gate.openAll();
    const texts = await Promise.all(responses.map(async (response) => (await response).text()));
    assertEquals(texts.map((text) => text.endsWith("data: [DONE]\n\n")), responses.map(() => true));
    settled.clear();
    const after = responses.length;
    while (responses.length < after + fitting - 1) await ask();
    assertEquals(settled.size, 0);
    controller.abort();
    await Promise.allSettled(responses.slice(after));
  });
});
