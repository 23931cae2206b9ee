/**
 * One call to a provider: its options, and response content other than JSON.
 * @module
 */
import type { UpstreamRequest, UpstreamResponse } from "./runtime.ts";

/** A response body that is not JSON. */
export interface ResponseContent {
  /** Media type, such as `audio/mpeg` or `text/vtt`. */
  readonly type: string;
  /** The response body: complete, or a stream of chunks. Ending the iteration early aborts the call. */
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>;
}

/** The model that served a request behind a ModelMesh proxy, by that proxy's names. */
export interface ServedBy {
  /** The model's name. */
  readonly model: string;
  /** The entry id of its provider, if the proxy reports it. */
  readonly provider?: string;
}

/** Options of one call to a provider. */
export interface CallOptions {
  /** Aborts the call. */
  readonly signal: AbortSignal;
  /** The API key or token for this call; undefined if none is configured. */
  readonly credential?: string | undefined;
  /**
   * Sends an HTTP request. Enforces the timeouts, and records request and response.
   *
   * @throws A `NetworkError`, or the signal's reason.
   */
  send(request: UpstreamRequest): Promise<UpstreamResponse>;
  /**
   * Reports parameters that the provider omits from the upstream request; they appear in `x-mesh-dropped-params`. Call
   * it
   * before {@linkcode CallOptions.send}; the last call takes effect.
   */
  reportDropped?(parameters: readonly string[]): void;
  /** Reports the model that served the request, if the provider is a ModelMesh proxy. The last call takes effect. */
  reportServedBy?(served: ServedBy): void;
  /**
   * Reports that a streamed response lacks nothing but its end, such as `[DONE]`. If the provider is silent after that,
   * reading the response fails with a `NetworkError` within seconds, as if the provider had cut the connection.
   */
  reportComplete?(): void;
}
