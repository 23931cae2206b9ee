/**
 * Probes a provider with its cheapest call: its list of models.
 * @module
 */
import type { CallOptions, ModelInfo, Provider } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { Connection } from "../pipeline/connection.ts";
import { type Failure, toFailure } from "../pipeline/failure.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import { isOverload } from "../util/resource_lack.ts";
import { checkModelCount } from "./model_count.ts";

/** A call that lists models. */
export type ProbeRequest = (provider: Provider, options: CallOptions) => Promise<readonly ModelInfo[]>;

/** Result of a probe. */
export type ProbeResult = { readonly models: readonly ModelInfo[] } | { readonly failure: Failure };

/**
 * Probes a provider.
 *
 * @param instance The opened provider.
 * @throws {MeshError} `overloaded` if this machine lacks resources, which proves nothing about the provider.
 */
export async function probeProvider(
  instance: ProviderInstance,
  { runtime, redact, timeoutMs, request = (provider, options) => provider.listModels(options) }: {
    readonly runtime: Runtime;
    /** Redacts secrets in a string. */
    readonly redact: (text: string) => string;
    /** Timeout, ms. */
    readonly timeoutMs: number;
    /** The call. @default `listModels` */
    readonly request?: ProbeRequest;
  },
): Promise<ProbeResult> {
  const { entry } = instance;
  const limits = { ...entry, timeoutMs: Math.min(entry.timeoutMs, timeoutMs) };
  const connection = new Connection(runtime, { ...instance, entry: limits }, { delivery: "sync" });
  try {
    return { models: checkModelCount(await connection.untilAborted(request(instance.provider!, connection))) };
  } catch (error) {
    const reason = connection.stop.aborted ? connection.stop.reason : error;
    connection.abort(reason); // releases the socket of an unfinished response
    if (isOverload(reason)) throw reason;
    return { failure: toFailure(reason, instance.provider!, redact) };
  } finally {
    connection.close();
  }
}
