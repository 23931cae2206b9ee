/**
 * One try of one model: signal, time limits, and HTTP client.
 * @module
 */
import type { CallOptions, Delivery, ServedBy } from "../contracts/provider.ts";
import type {
  Cancel,
  Clock,
  Runtime,
  Stopper,
  StopSignal,
  UpstreamRequest,
  UpstreamResponse,
} from "../contracts/runtime.ts";
import { NetworkError } from "../errors.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import type { AdmittedCall } from "../state/model/admitted_call.ts";
import type { AdmissionDenial } from "../state/counters/admission_denial.ts";
import { AttemptTimeout } from "./failure.ts";
import type { TraceContext } from "../contracts/observability.ts";

/** A stream that has not been read for this long is cancelled, ms, since a disconnected client may go unnoticed. */
const unreadMs = 10 * 60 * 1000;

/** A check that is later than this, ms, means that the process was stopped, as with its virtual machine. */
const stoppedMs = 1_000;

/** Maximum silence of a provider whose response lacks nothing but its end, ms. */
const endMs = 2_000;

const none: readonly string[] = [];

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
  /** Upstream calls sent. */
  calls = 0;
  /** URL of the latest call. */
  url: string | undefined;
  /** Whether the head of a response was received. */
  hasResponse = false;
  /** Whether a complete response was ended, since its provider did not end it. */
  isEnded = false;
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
  #idle: IdleTimer | undefined;
  readonly #stopper: Stopper;
  #cancelTimeout: Cancel | undefined;
  #url: string | undefined;

  /**
   * @param runtime Clock and network.
   * @param instance The provider, with its timeouts.
   */
  constructor(runtime: Runtime, instance: ProviderInstance, { delivery, spending }: {
    /** For a complete response the total time is limited, for a stream the time without data. */
    readonly delivery: Delivery;
    /** Receives the limits in response headers. */
    readonly spending?: CallShare;
  }) {
    this.#spending = spending;
    this.#runtime = runtime;
    this.#stopper = runtime.stopper?.() ?? new AbortController();
    this.stop = this.#stopper.signal;
    this.#instance = instance;
    this.credential = spending?.apiKey ?? instance.credential;
    const { timeoutMs, silenceMs } = instance.entry;
    const { clock } = runtime;
    if (delivery === "stream") {
      const onLimit = () => this.#timeOut(`was silent for ${silenceMs} ms`);
      this.#idle = new IdleTimer(clock, {
        limitMs: silenceMs,
        isTotal: false,
        onLimit,
        onUnread: () => this.#leaveUnread(),
      });
    } else {
      this.#cancelTimeout = clock.after(timeoutMs, () => this.#timeOut(`did not respond within ${timeoutMs} ms`));
    }
  }

  /** Applies the total time of a complete response, which is passed on as it arrives, only while its reader waits. */
  passOn(): void {
    if (this.#idle !== undefined) return;
    this.#cancelTimeout?.();
    const { timeoutMs: limitMs } = this.#instance.entry;
    const onLimit = () => this.#timeOut(`did not respond within ${limitMs} ms`);
    this.#idle = new IdleTimer(this.#runtime.clock, {
      limitMs,
      isTotal: true,
      onLimit,
      onUnread: () => this.#leaveUnread(),
    });
  }

  /** The host of the last call; undefined before it. */
  get host(): string | undefined {
    return this.#url !== undefined && URL.canParse(this.#url) ? new URL(this.#url).host : undefined;
  }

  /** The same signal, for connectors. */
  get signal(): AbortSignal {
    return this.stop.native ?? this.stop as AbortSignal;
  }

  /** Aborts the connection and its upstream call. */
  abort(reason: unknown): void {
    this.close();
    this.#stopper.abort(reason);
  }

  /** Ends the time limits, since the response is complete. */
  close(): void {
    this.#idle?.stop();
    this.#cancelTimeout?.();
  }

  /** Restarts the idle timeout. */
  touch(): void {
    this.#idle?.touch();
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
  readonly reportComplete = (): void => this.#idle?.shorten(endMs, this.#endResponse);

  /** Sends a request. One that was never sent is resent once, unless the connection has timed out. */
  readonly send = async (request: UpstreamRequest): Promise<UpstreamResponse> => {
    const held = this.#hold();
    if (held !== undefined) await held;
    this.calls++;
    const { entry } = this.#instance;
    this.url = request.url;
    const { url, method, body, connectTimeoutMs = entry.connectTimeoutMs } = request;
    this.#url = url;
    const agent = entry.forwardsUserAgent ? this.userAgent : undefined;
    const headers = agent === undefined ? request.headers : { ...request.headers, "user-agent": agent };
    const plain: UpstreamRequest = {
      url,
      method,
      headers,
      body,
      connectTimeoutMs,
      signal: this.stop,
      onBytes: () => this.#idle?.touch(),
      isNonStreaming: !this.#idle,
      authorities: entry.authorities,
    };
    const upstream = this.trace === undefined ? plain : withTrace(plain, this.trace);
    let response: UpstreamResponse;
    const from = this.#runtime.clock.monotonic();
    try {
      response = await this.#runtime.send(upstream);
    } catch (error) {
      const isUnsent = NetworkError.isInstance(error) && error.neverSent;
      if (isUnsent && this.calls === 1) this.#isSent = false;
      const isLate = this.#runtime.clock.monotonic() - from >= connectTimeoutMs;
      if (!isUnsent || isLate || this.stop.aborted || isBegun(request)) throw error;
      await this.#hold();
      response = await this.#runtime.send(upstream);
    }
    this.hasResponse = true;
    const reading = this.#spending?.observe(response.headers);
    if (reading !== undefined) await reading;
    this.#idle?.touch();
    return response;
  };

  readonly #leaveUnread = () =>
    this.abort(new DOMException(`The stream was not read for ${unreadMs} ms`, "AbortError"));

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

  readonly #endResponse = (): void => {
    this.isEnded = true;
    this.abort(new NetworkError("The provider did not end its response", { neverSent: false }));
  };

  #timeOut(phase: string): void {
    this.#stopper.abort(new AttemptTimeout(`The provider ${phase}`));
  }
}

/** Whether a streamed body was read in part, and therefore cannot be resent. */
function isBegun({ body }: UpstreamRequest): boolean {
  return Object(body).isBegun === true;
}

function withTrace(request: UpstreamRequest, { traceparent, tracestate }: TraceContext): UpstreamRequest {
  const headers = { ...request.headers, traceparent };
  return { ...request, headers: tracestate === undefined ? headers : { ...headers, tracestate } };
}

/**
 * Detects that a provider takes too long while the reader waits, or that the reader stops. One timer, re-armed only
 * when it fires.
 */
class IdleTimer {
  readonly #clock: Clock;
  #limits: IdleLimits;
  #isShortened = false;
  /** Time waited before `#since`, ms. */
  #waitedMs = 0;
  #since: number;
  #isListening = true;
  /** When the next check is due, monotonic ms. */
  #dueAt: number;
  #cancel: Cancel;

  constructor(clock: Clock, limits: IdleLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#since = clock.monotonic();
    this.#dueAt = this.#since + limits.limitMs;
    this.#cancel = clock.after(limits.limitMs, () => this.#check());
  }

  touch(): void {
    if (!this.#limits.isTotal) this.#since = this.#clock.monotonic();
  }

  listen(): void {
    this.#since = this.#clock.monotonic();
    this.#isListening = true;
  }

  /** Without a total, its time runs from the last data: the reader has just received them. */
  pause(): void {
    if (this.#limits.isTotal && this.#isListening) {
      const now = this.#clock.monotonic();
      this.#waitedMs += now - this.#since;
      this.#since = now;
    }
    this.#isListening = false;
  }

  stop(): void {
    this.#cancel();
  }

  /** Applies a shorter limit from now on. */
  shorten(limitMs: number, onLimit: () => void): void {
    if (this.#isShortened) return;
    this.#isShortened = true;
    this.#limits = { ...this.#limits, limitMs: Math.min(limitMs, this.#limits.limitMs), onLimit };
    this.#cancel();
    this.#check();
  }

  #check(): void {
    const { limitMs, onLimit, onUnread } = this.#limits;
    const now = this.#clock.monotonic();
    // the process was stopped: data may have arrived meanwhile
    if (now - this.#dueAt > stoppedMs && !this.#limits.isTotal) this.#since = now;
    const elapsedMs = now - this.#since;
    const leftMs = limitMs - this.#waitedMs - elapsedMs;
    if (this.#isListening && leftMs <= 0) return onLimit();
    if (!this.#isListening && elapsedMs >= unreadMs) return onUnread();
    // without a listener it checks periodically, since a listener may be added at any time
    const nextMs = this.#isListening ? leftMs : Math.min(limitMs - this.#waitedMs, unreadMs - elapsedMs);
    const waitMs = Math.max(1, nextMs);
    this.#dueAt = now + waitMs;
    this.#cancel = this.#clock.after(waitMs, () => this.#check());
  }
}

interface IdleLimits {
  /** The limit of the provider, ms. */
  readonly limitMs: number;
  /** Whether the limit applies to all waiting together; else to the time without data. */
  readonly isTotal: boolean;
  readonly onLimit: () => void;
  readonly onUnread: () => void;
}
