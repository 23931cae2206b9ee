/** Thousands of mutated requests, and of mutated replies of providers: none is answered by a 500. */
import { tryMutatedObjectReplies, tryMutatedObjectRequests } from "../support/_mutated_objects.ts";
import { tryMutatedReplies, tryMutatedRequests } from "../support/_mutation_stage.ts";

/** Beyond the seeds of `tests/slow/proxy/mutations_test.ts`. */
const from = 2_000;

Deno.test("10 000 mutated replies of providers are not internal errors", () =>
  tryMutatedReplies({ from, count: 10_000 }));

Deno.test("20 000 mutated requests are not internal errors", () => tryMutatedRequests({ from, count: 20_000 }));

Deno.test("2 000 mutated replies about files, batches and jobs are not internal errors", () =>
  tryMutatedObjectReplies({ from, count: 2_000 }));

Deno.test("2 000 mutated requests for files, batches and jobs are not internal errors", () =>
  tryMutatedObjectRequests({ from, count: 2_000 }));
