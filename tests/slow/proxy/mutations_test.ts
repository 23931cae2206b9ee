/**
 * Mutated requests, and mutated replies of providers, in every dialect, non-streaming and streaming: none is answered by a 500.
 * `tests/nightly/mutations_test.ts` tries more.
 */
import { assertEquals } from "@std/assert";
import { tryMutatedObjectReplies, tryMutatedObjectRequests } from "../../support/_mutated_objects.ts";
import { refusedCases, tryMutatedReplies, tryMutatedRequests } from "../../support/_mutation_stage.ts";

Deno.test("requests of every endpoint to providers of every dialect are answered while nothing is mutated", async () => {
  assertEquals(await refusedCases(), []);
});

Deno.test("a mutated reply of a provider is not an internal error", () => tryMutatedReplies({ count: 300 }));

Deno.test("a mutated request is not an internal error", () => tryMutatedRequests({ count: 600 }));

Deno.test("mutated replies and requests about files, batches and jobs are not internal errors", async () => {
  await tryMutatedObjectReplies({ count: 60 });
  await tryMutatedObjectRequests({ count: 60 });
});
