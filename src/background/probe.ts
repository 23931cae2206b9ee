/**
 * Asking a provider whether it is there, by the cheapest call it has: its list of models.
 * @module
 */
import type { ModelInfo } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { Connection } from "../pipeline/connection.ts";
import { type Failure, failureOf } from "../pipeline/failure.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import { untilAborted } from "../util/until_aborted.ts";

/** What asking needs. */
interface ProbeParts {
  readonly runtime: Runtime;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  /** Longest wait, ms. */
  readonly timeoutMs: number;
}

/** What came of it. */
export type ProbeResult = { readonly models: readonly ModelInfo[] } | { readonly failure: Failure };

/**
 * Asks one provider. Never throws.
 *
 * @param instance The provider, opened.
 * @param parts What asking needs.
 */
export async function probe(
  instance: ProviderInstance,
  { runtime, redact, timeoutMs }: ProbeParts,
): Promise<ProbeResult> {
  const { entry } = instance;
  const limits = { ...entry, timeoutMs: Math.min(entry.timeoutMs, timeoutMs) };
  const connection = new Connection(runtime, { ...instance, entry: limits }, "sync");
  try {
    return { models: await untilAborted(instance.provider!.listModels(connection), connection.stop) };
  } catch (error) {
    const reason = connection.stop.aborted ? connection.stop.reason : error;
    connection.abort(reason); // a response that is not read to its end holds no socket
    return { failure: failureOf(reason, instance.provider!, redact) };
  } finally {
    connection.close();
  }
}
