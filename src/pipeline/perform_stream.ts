/**
 * Requests for streamed responses.
 * @module
 */
import type { CompletionRequest, OperationRequest, Provider } from "../contracts/provider.ts";
import { requireResult } from "../util/once.ts";
import { CommittedStream } from "./committed_stream.ts";
import type { Connection } from "./connection.ts";
import { ChunkFilter, type OpenStream, openStream } from "./open_stream.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";
import type { Call, Result } from "./result.ts";

/** Requests a stream from one model. */
export function openingStream({ runtime }: RouteDeps): Call<OpenStream> {
  return ({ model }, { completion, clientNames, rotatesFiltered }, connection) => {
    const provider = model.instance.provider!;
    const options = { filter: new ChunkFilter(completion, { runtime, clientNames }), connection, rotatesFiltered };
    if (!completion.stream) return openComplete(provider, { completion, runtime, options });
    const events = requireResult(provider.stream!(completion as CompletionRequest, connection));
    const opening = openStream(events, options);
    const { minRate } = model.instance.entry;
    return minRate === undefined ? opening : measured(opening, { minRate, clock: runtime.clock, connection });
  };
}

async function openComplete(
  provider: Provider,
  { completion, runtime, options }: {
    readonly completion: OperationRequest;
    readonly runtime: RouteDeps["runtime"];
    readonly options: Parameters<typeof openStream>[1] & { readonly connection: Connection };
  },
): Promise<OpenStream> {
  const { streamComplete } = await import("./stream_complete.ts"); // few providers cannot stream
  const { connection } = options;
  return await openStream(streamComplete(provider, { completion, connection, runtime }), options);
}

async function measured(
  opening: Promise<OpenStream>,
  options: Parameters<typeof import("./min_rate.ts").measureRate>[1],
): Promise<OpenStream> {
  const { measureRate } = await import("./min_rate.ts"); // few providers have a minimum
  return measureRate(await opening, options);
}

/** Reads a committed stream. */
export function readEvents(
  result: Pick<Result<OpenStream>, "member" | "received" | "connection" | "settle" | "reportInterrupt">,
  { body: { stream_options } }: Pick<RoutedRequest, "body">,
  { redact, hub, isLogged }: RouteDeps & {
    /** Whether the request log may have its events. */
    readonly isLogged: boolean;
  },
): CommittedStream {
  const wantsUsage = Object(stream_options).include_usage === true;
  const onInterrupt = () => result.reportInterrupt();
  const keptBytes = isLogged ? hub.payloadBytes : 0;
  return new CommittedStream({ result, wantsUsage, onInterrupt, redact, keptBytes });
}
