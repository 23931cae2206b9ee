/**
 * One call to a provider: what it is made with, and content that comes of it.
 * @module
 */
import type { UpstreamRequest, UpstreamResponse } from "./runtime.ts";

/** A response that is no JSON. */
export interface ResponseContent {
  /** Media type, such as `audio/mpeg` or `text/vtt`. */
  readonly type: string;
  /** All of it, or as it arrives. Leaving the loop early ends the call. */
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>;
}

/** The model that served a request behind a ModelMesh proxy, by that proxy's names. */
export interface ServedBy {
  /** The model's name. */
  readonly model: string;
  /** Its provider's entry id, where the proxy reports it. */
  readonly provider?: string;
}

/** What a provider needs for one call. */
export interface CallOptions {
  /** Aborts the call. */
  readonly signal: AbortSignal;
  /** The API key or token of this call, undefined where none is configured. */
  readonly credential?: string | undefined;
  /**
   * The HTTP client of this call. It enforces time and idle limits, and records what was sent and received.
   * Throws a `NetworkError` or the signal's reason.
   */
  send(request: UpstreamRequest): Promise<UpstreamResponse>;
  /**
   * Names parameters that the provider leaves out of what it sends, for `x-mesh-dropped-params`. To be called before
   * {@linkcode CallOptions.send}; the last call counts.
   */
  reportDropped?(parameters: readonly string[]): void;
  /** Reports the model that served the request behind a provider that is a ModelMesh proxy; the last call counts. */
  reportServedBy?(served: ServedBy): void;
}
