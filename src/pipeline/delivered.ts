/**
 * Results of requests in the form in which they are delivered.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { CompletionResponse } from "../contracts/provider.ts";
import type { EventStream } from "./committed_stream.ts";
import type { ByteStream } from "./content_stream.ts";
import type { ResponseUsage } from "./operation.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";
import type { Call, Received, ServedResult } from "./result.ts";

/** The form in which a result is delivered: a complete response, a stream of events, or one of bytes. */
type Form<Response> =
  | {
    readonly kind: "complete";
    readonly response: CompletionResponse<Response>;
    /** Nano-dollars; undefined if the price or the usage is unknown. */
    readonly costNanoUsd: number | undefined;
  }
  | { readonly kind: "stream"; readonly stream: EventStream }
  | { readonly kind: "content"; readonly stream: ByteStream };

/** The result of a request, in its form. */
export type Delivered<Response> = ServedResult & Form<Response>;

/** A complete response. */
export interface Completion<Response> extends Received {
  /** As received from the provider. */
  readonly body: Response;
  readonly usage: ResponseUsage;
  /** As returned to the client. */
  readonly response: CompletionResponse<Response>;
}

/** Requests a complete response from a model, as its operation defines. */
export type Completing = <Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  deps: RouteDeps,
) => Call<Completion<Response>>;
