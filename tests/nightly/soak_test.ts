/** A minute of what `deno task soak` does in ten: hundreds of streams at once, with providers and clients that fail. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { makeFolder } from "../support/_library.ts";
import { findProblems, soak } from "../support/_soak.ts";

describe("A proxy under 500 streams at once for a minute", () => {
  it("leaks no memory, timer or listener, lets no rejection go unhandled, and counts every request", async () => {
    await using folder = await makeFolder();
    const result = await soak({ seconds: 60, streams: 500, folder: folder.path });
    assertEquals(findProblems(result), [], JSON.stringify(result));
  });
});
