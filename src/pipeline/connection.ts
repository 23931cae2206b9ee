/**
 * One try of one model: its signal, its time limits, its HTTP client.
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
import type { CallReservation } from "../state/call_reservation.ts";
import { AttemptTimeout } from "./failure.ts";

/** A stream that is not read for so long is given up, ms: a client may be gone without notice. */
const unreadMs = 10 * 60 * 1000;

const none: readonly string[] = [];

/** What a connection needs of a call's share in the limits: its key, and what takes limits in headers. */
type CallShare = Pick<CallReservation, "apiKey" | "observe">;

/** From the first byte sent to the last one received. */
export class Connection implements CallOptions {
  /** Upstream calls sent. */
  calls = 0;
  /** The head of a response has arrived. */
  answered = false;
  /** Parameters that the provider left out. */
  dropped: readonly string[] = none;
  /** The provider behind it, where it is a proxy. */
  declare servedBy?: ServedBy;
  /** The trace that the request belongs to, handed on as it came. */
  declare traceparent?: string | undefined;
  readonly #runtime: Runtime;
  readonly #instance: ProviderInstance;
  readonly #spending: CallShare | undefined;
  readonly #silence: IdleTimer | undefined;
  readonly #stopper: Stopper;
  #cancelTimeout: Cancel | undefined;

  /**
   * @param runtime For the clock and the network.
   * @param instance Whose limits hold.
   * @param delivery A whole answer is limited as a whole, a stream by its silence.
   * @param spending Takes the limits in the headers of a response.
   */
  constructor(runtime: Runtime, instance: ProviderInstance, delivery: Delivery, spending?: CallShare) {
    this.#spending = spending;
    this.#runtime = runtime;
    this.#stopper = runtime.stopper?.() ?? new AbortController();
    this.#instance = instance;
    const { timeoutMs, silenceMs } = instance.entry;
    const { clock } = runtime;
    if (delivery === "stream") {
      this.#silence = new IdleTimer(clock, {
        silenceMs,
        onSilence: () => this.#timeOut(`was silent for ${silenceMs} ms`),
        onUnread: () => this.abort(new DOMException(`The stream was not read for ${unreadMs} ms`, "AbortError")),
      });
    } else {
      this.#cancelTimeout = clock.after(timeoutMs, () => this.#timeOut(`did not answer within ${timeoutMs} ms`));
    }
  }

  /** Stops with the connection. */
  get stop(): StopSignal {
    return this.#stopper.signal;
  }

  /** The same, for connectors. */
  get signal(): AbortSignal {
    return this.stop.native ?? this.stop as AbortSignal;
  }

  /** The provider's key. */
  get credential(): string | undefined {
    return this.#spending?.apiKey ?? this.#instance.credential;
  }

  /** Ends it, and the upstream call with it. */
  abort(reason: unknown): void {
    this.close();
    this.#stopper.abort(reason);
  }

  /** Stops the limits: the answer is complete. */
  close(): void {
    this.#silence?.stop();
    this.#cancelTimeout?.();
  }

  /** Something has moved. */
  touch(): void {
    this.#silence?.touch();
  }

  /** Time counts as silence from here on. */
  listen(): void {
    this.#silence?.listen();
  }

  /** The reader is busy with something else: no silence of the provider. */
  pause(): void {
    this.#silence?.pause();
  }

  /** Notes what the provider left out. */
  reportDropped(parameters: readonly string[]): void {
    this.dropped = parameters;
  }

  /** Notes the provider behind the provider. */
  reportServedBy(served: ServedBy): void {
    this.servedBy = served;
  }

  /** Sends a request; one that never left is sent once more, for free. */
  readonly send = async (request: UpstreamRequest): Promise<UpstreamResponse> => {
    this.calls++;
    const plain: UpstreamRequest = {
      connectTimeoutMs: this.#instance.entry.connectTimeoutMs,
      ...request,
      signal: this.stop,
      onBytes: () => this.#silence?.touch(),
      isWhole: !this.#silence,
      authorities: this.#instance.entry.authorities,
    };
    const upstream = this.traceparent === undefined ? plain : withTrace(plain, this.traceparent);
    let response: UpstreamResponse;
    try {
      response = await this.#runtime.send(upstream);
    } catch (error) {
      if (!NetworkError.isInstance(error) || !error.neverSent || this.stop.aborted || isBegun(request)) throw error;
      response = await this.#runtime.send(upstream);
    }
    this.answered = true;
    const reading = this.#spending?.observe(response.headers);
    if (reading !== undefined) await reading;
    this.#silence?.touch();
    return response;
  };

  #timeOut(phase: string): void {
    this.#stopper.abort(new AttemptTimeout(`The provider ${phase}`));
  }
}

/** Some of a body that comes bit by bit was read: it cannot be sent again. */
function isBegun({ body }: UpstreamRequest): boolean {
  return Object(body).isBegun === true;
}

function withTrace(request: UpstreamRequest, traceparent: string): UpstreamRequest {
  return { ...request, headers: { ...request.headers, traceparent } };
}

/** Notices when nothing arrives while the reader waits, or the reader stops. One timer, re-armed only when it fires. */
class IdleTimer {
  readonly #clock: Clock;
  readonly #limits: SilenceLimits;
  #since: number;
  #isListening = true;
  #cancel: Cancel;

  constructor(clock: Clock, limits: SilenceLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#since = clock.monotonic();
    this.#cancel = clock.after(limits.silenceMs, () => this.#check());
  }

  touch(): void {
    this.#since = this.#clock.monotonic();
  }

  listen(): void {
    this.touch();
    this.#isListening = true;
  }

  pause(): void {
    this.touch();
    this.#isListening = false;
  }

  stop(): void {
    this.#cancel();
  }

  #check(): void {
    const { silenceMs, onSilence, onUnread } = this.#limits;
    const quietMs = this.#clock.monotonic() - this.#since;
    if (this.#isListening && quietMs >= silenceMs) return onSilence();
    if (!this.#isListening && quietMs >= unreadMs) return onUnread();
    // without a reader it looks every now and then, since listening may begin at any time
    const left = this.#isListening ? silenceMs - quietMs : Math.min(silenceMs, unreadMs - quietMs);
    this.#cancel = this.#clock.after(left, () => this.#check());
  }
}

interface SilenceLimits {
  /** Longest silence of the provider, ms. */
  readonly silenceMs: number;
  readonly onSilence: () => void;
  readonly onUnread: () => void;
}
