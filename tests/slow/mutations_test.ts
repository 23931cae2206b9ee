/** Thousands of mutated requests, and of mutated replies of providers: none is answered by a 500. */
import { tryMutatedObjectReplies, tryMutatedObjectRequests } from "../support/_mutated_objects.ts";
import { tryMutatedReplies, tryMutatedRequests } from "../support/_mutation_stage.ts";

/** Beyond the seeds of `tests/proxy/mutations_test.ts`. */
const from = 1_000;

Deno.test("1 800 mutated replies of providers are not internal errors", () =>
  tryMutatedReplies({ from, count: 1_800 }));

Deno.test("5 000 mutated requests are not internal errors", () => tryMutatedRequests({ from, count: 5_000 }));

Deno.test("600 mutated replies about files, batches and jobs are not internal errors", () =>
  tryMutatedObjectReplies({ from, count: 600 }));

Deno.test("600 mutated requests for files, batches and jobs are not internal errors", () =>
  tryMutatedObjectRequests({ from, count: 600 }));
