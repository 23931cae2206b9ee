/**
 * One try of one model: signal, time limits, and HTTP client.
 * @module
 */
import type { CallOptions, Delivery, ServedBy } from "../contracts/provider.ts";
import type { Cancel, Runtime, Stopper, StopSignal, UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import { NetworkError } from "../errors.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import type { AdmittedCall } from "../state/model/admitted_call.ts";
import type { AdmissionDenial } from "../state/counters/admission_denial.ts";
import { AttemptTimeout } from "./failure.ts";
import { type FirstContentLimit, IdleTimer, limitExceeded } from "./time_limits.ts";
import type { TraceContext } from "../contracts/observability.ts";

/** A stream that has not been read for this long is cancelled, ms, since a disconnected client may go unnoticed. */
const unreadMs = 10 * 60 * 1000;

/** Maximum silence of a provider whose response lacks nothing but its end, ms. */
const endMs = 2_000;

const none: readonly string[] = [];

const noHeaders = { get: () => null };

/**
 * The part of a call's reservation that a connection requires: the API key, the receiver of limits in headers, and the
 * check before the call is sent.
 */
type CallShare = Pick<AdmittedCall, "apiKey" | "observe"> & Partial<Pick<AdmittedCall, "hold">>;

/** A connection to a provider, from the first byte sent to the last byte received. */
export class Connection implements CallOptions {
  /** Aborts with the connection. */
  readonly stop: StopSignal;
  /** The provider's API key. */
  readonly credential: string | undefined;
  /** The caller's key, if that is it. */
  readonly callerKey: string | undefined;
  /** Upstream calls sent. */
  calls = 0;
  /** URL of the latest call. */
  url: string | undefined;
  /** Whether the head of a response was received. */
  hasResponse = false;
  /** Whether a complete response was ended, since its provider did not end it. */
  isEnded = false;
  /** Called if the connection is aborted after that: the reader of what was received leaves. */
  onLeave: ((reason: unknown) => void) | undefined;
  /** Whether content of a stream was received. */
  hasContent = false;
  /** Why the call was not sent: other processes have taken what it had reserved. */
  denial: AdmissionDenial | undefined;
  #isSent = false;
  /** Parameters that the provider has dropped. */
  dropped: readonly string[] = none;
  /** The actual provider, if the provider is itself a proxy. */
  declare servedBy?: ServedBy;
  /** `User-Agent` of the caller, which the provider receives if its settings say so. */
  declare userAgent?: string | undefined;
  /** The trace context that the provider receives. */
  declare trace?: TraceContext | undefined;
  readonly #runtime: Runtime;
  readonly #instance: ProviderInstance;
  readonly #spending: CallShare | undefined;
  readonly #firstContent: FirstContentLimit | undefined;
  #idle: IdleTimer | undefined;
  readonly #stopper: Stopper;
  /** Rejects what waits for the call. */
  #leave: ((reason: unknown) => void) | undefined;
  #cancelTimeout: Cancel | undefined;

  /**
   * @param runtime Clock and network.
   * @param instance The provider, with its timeouts.
   */
  constructor(runtime: Runtime, instance: ProviderInstance, { delivery, spending, firstContent, callerKey }: {
    /** For a complete response the total time is limited, for a stream the time without data. */
    readonly delivery: Delivery;
    /** Receives the limits in response headers. */
    readonly spending?: CallShare;
    /** Limits the time to the first content of a stream, and of a response that is passed on as it arrives. */
    readonly firstContent?: FirstContentLimit | undefined;
    /** The caller's key, in place of the provider's. Limits in response headers are then the caller's own. */
    readonly callerKey?: string | undefined;
  }) {
    this.callerKey = callerKey;
    this.#spending = spending;
    this.#firstContent = firstContent;
    this.#runtime = runtime;
    this.#stopper = runtime.stopper?.() ?? new AbortController();
    this.stop = this.#stopper.signal;
    this.#instance = instance;
    this.credential = callerKey ?? spending?.apiKey ?? instance.credential;
    const { timeoutMs, silenceMs } = instance.entry;
    if (delivery === "stream") {
      this.#idle = this.#startTimer(silenceMs, false);
    } else {
      this.#cancelTimeout = runtime.clock.after(
        timeoutMs,
        () => this.#timeOut(`did not respond within ${timeoutMs} ms`),
      );
    }
  }

  /** Applies the total time of a complete response, which is passed on as it arrives, only while its reader waits. */
  passOn(): void {
    if (this.#idle !== undefined) return;
    this.#cancelTimeout?.();
    this.#idle = this.#startTimer(this.#instance.entry.timeoutMs, true);
  }

  #startTimer(limitMs: number, isTotal: boolean): IdleTimer {
    return new IdleTimer(this.#runtime.clock, {
      limitMs,
      isTotal,
      first: this.#firstContent,
      onLimit: () => this.#timeOut(isTotal ? `did not respond within ${limitMs} ms` : `was silent for ${limitMs} ms`),
      onFirstLimit: (limit) => this.#stop(limitExceeded(limit)),
      unreadMs,
      onUnread: () => this.abort(new DOMException(`The stream was not read for ${unreadMs} ms`, "AbortError")),
    });
  }

  /** The host of the last call; undefined before it. */
  get host(): string | undefined {
    return this.url !== undefined && URL.canParse(this.url) ? new URL(this.url).host : undefined;
  }

  /** The same signal, for connectors. */
  get signal(): AbortSignal {
    return this.stop.native ?? this.stop as AbortSignal;
  }

  /** Aborts the connection and its upstream call. */
  abort(reason: unknown): void {
    this.close();
    if (this.isEnded) this.onLeave?.(reason);
    this.#stop(reason);
  }

  /** Ends the time limits, since the response is complete. */
  close(): void {
    this.#idle?.stop();
    this.#cancelTimeout?.();
  }

  /** Returns what redacts secrets in a string, with the caller's key among them. */
  toRedaction(redact: (text: string) => string): (text: string) => string {
    const { callerKey } = this;
    return callerKey === undefined ? redact : (text) => redact(text.replaceAll(callerKey, "[redacted]"));
  }

  /** Restarts the idle timeout. */
  touch(): void {
    this.#idle?.touch();
  }

  /** Ends the limit of the first content, since it has arrived. */
  begin(): void {
    this.hasContent = true;
    this.#idle?.begin();
  }

  /** Starts the idle timeout. */
  listen(): void {
    this.#idle?.listen();
  }

  /** Pauses the idle timeout while the reader is busy. */
  pause(): void {
    this.#idle?.pause();
  }

  /** Records parameters that the provider has dropped. Like `send`, connectors may call it without the connection. */
  readonly reportDropped = (parameters: readonly string[]): void => {
    this.dropped = parameters;
  };

  /** Records the actual provider. */
  readonly reportServedBy = (served: ServedBy): void => {
    this.servedBy = served;
  };

  /** Waits for the end of a complete response for a short time only. */
  readonly reportComplete = (): void => this.#idle?.shorten(endMs, () => this.#endResponse());

  /** Sends a request. One that was never sent is resent once, unless the connection has timed out. */
  readonly send = (request: UpstreamRequest): Promise<UpstreamResponse> => {
    const held = this.#hold();
    return held === undefined ? this.#send(request) : held.then(() => this.#send(request));
  };

  /**
   * Settles as the call does, or rejects with the reason of an abort, since a connector may ignore the signal. A later outcome
   * of the call is ignored. Waits for one call at a time.
   */
  untilAborted<T>(call: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#leave = reject;
      if (this.stop.aborted) reject(this.stop.reason);
      call.then(resolve, reject);
    });
  }

  #send(request: UpstreamRequest): Promise<UpstreamResponse> {
    const { entry, headers: more } = this.#instance;
    const { url, method, body, connectTimeoutMs = entry.connectTimeoutMs } = request;
    const agent = entry.forwardsUserAgent ? this.userAgent : undefined;
    const own = agent === undefined ? request.headers : { ...request.headers, "user-agent": agent };
    const plain: UpstreamRequest = {
      url,
      method,
      headers: more === undefined ? own : mergeHeaders(own, more),
      body,
      connectTimeoutMs,
      signal: this.stop,
      onBytes: () => this.#idle?.touch(),
      isNonStreaming: !this.#idle,
      authorities: entry.authorities,
    };
    const upstream = this.trace === undefined ? plain : withTrace(plain, this.trace);
    this.calls++;
    this.url = url;
    const from = this.#runtime.clock.monotonic();
    return this.#runtime.send(upstream).then(this.#receive, (error) => this.#resend(upstream, error, from));
  }

  readonly #receive = (response: UpstreamResponse): UpstreamResponse | Promise<UpstreamResponse> => {
    this.hasResponse = true;
    const reading = this.#spending?.observe(this.callerKey === undefined ? response.headers : noHeaders);
    this.#idle?.touch();
    return reading === undefined ? response : reading.then(() => response);
  };

  async #resend(upstream: UpstreamRequest, error: unknown, from: number): Promise<UpstreamResponse> {
    const isUnsent = NetworkError.isInstance(error) && error.neverSent;
    if (isUnsent && this.calls === 1) this.#isSent = false;
    const isLate = this.#runtime.clock.monotonic() - from >= upstream.connectTimeoutMs!;
    if (!isUnsent || isLate || this.stop.aborted || isBegun(upstream)) throw error;
    await this.#hold();
    return await this.#receive(await this.#runtime.send(upstream));
  }

  /** Checks the reservation, unless a request of this call was sent already. */
  #hold(): Promise<void> | undefined {
    const held = this.#isSent ? undefined : this.#spending?.hold?.();
    this.#isSent = true;
    return held?.then((denial) => {
      this.denial = denial;
      if (denial === undefined) return;
      this.#isSent = false;
      throw new NetworkError("Other processes have taken what the call had reserved", { neverSent: true });
    });
  }

  #endResponse(): void {
    this.isEnded = true;
    this.#stop(new NetworkError("The provider did not end its response", { neverSent: false }));
  }

  #timeOut(phase: string): void {
    this.#stop(new AttemptTimeout(`The provider ${phase}`));
  }

  #stop(reason: unknown): void {
    this.#leave?.(reason);
    this.#stopper.abort(reason);
  }
}

/** Whether a streamed body was read in part, and therefore cannot be resent. */
function isBegun({ body }: UpstreamRequest): boolean {
  return Object(body).isBegun === true;
}

type Headers = UpstreamRequest["headers"];

/**
 * Adds configured headers, which replace those of the connector. Headers that end in `-beta` are lists: the features that
 * a caller asks for are kept.
 *
 * @param more Names in lower case.
 */
function mergeHeaders(own: Headers, more: Headers): Headers {
  const merged: Record<string, string> = { ...more };
  for (const [name, value] of Object.entries(own)) {
    const lower = name.toLowerCase();
    if (!Object.hasOwn(more, lower)) merged[name] = value;
    else if (lower.endsWith("-beta")) merged[lower] = `${value},${more[lower]}`;
  }
  return merged;
}

function withTrace(request: UpstreamRequest, { traceparent, tracestate }: TraceContext): UpstreamRequest {
  const headers = { ...request.headers, traceparent };
  return { ...request, headers: tracestate === undefined ? headers : { ...headers, tracestate } };
}
