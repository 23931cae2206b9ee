/**
 * Tracks open responses of a server, to end them when it stops.
 * @module
 */
import type { Cancel, StopSignal } from "../contracts/runtime.ts";
import type { Peer, PlainRequest, PlainResponse, RequestHandler } from "../contracts/shell.ts";
import { MeshError } from "../errors.ts";
import { type Indexed, IndexedSet } from "../util/bag.ts";
import { isStream } from "../util/bytes.ts";
import { OpenSockets } from "./_sockets.ts";
import { Stop } from "./_stop.ts";
import { callAfter } from "./_timers.ts";

/** Grace period for a response that is being ended, ms. */
const lastWordMs = 50;

/**
 * How long a response is pending before the disconnect of its client is looked for, ms: asking for it costs a third of a
 * request's processor time on Deno.
 */
const delayMs = 1_000;

/** Bodies that are sent in one piece, and cannot be interrupted. */
const nonStreamingTypes = /^(application\/json|text\/(?!event-stream))/;

/** A request for a handler without objects of the Fetch standard. */
export interface PlainCall {
  /** The request. Its signal is `stop`. */
  readonly request: PlainRequest;
  /** Aborts the request; the server does so when the client disconnects. */
  readonly stop: Stop;
  /**
   * Returns a signal that aborts when the client disconnects, where that is expensive to detect. The server cancels the
   * body of a response that is being sent by itself.
   */
  left?(): StopSignal;
  /** The remote address. */
  readonly peer: Peer;
  /** Resolves when the response is sent, or the client has disconnected. */
  untilOver(): Promise<unknown>;
}

/**
 * Sets the signal of a request. As a value, not as a getter: V8 uses one shape of objects for all values, but one for
 * each getter.
 */
function setSignal<S extends StopSignal>(request: Request, signal: S): Request & { readonly signal: S } {
  return Object.defineProperty(request, "signal", { configurable: true, value: signal }) as Request & {
    readonly signal: S;
  };
}

/** The signal provided by the runtime, even if {@linkcode setSignal} has replaced it. */
function clientSignal(request: Request): AbortSignal {
  return Reflect.get(Request.prototype, "signal", request) as AbortSignal;
}

/** Responds to requests, and can end all open responses. */
export class OpenResponses {
  /** Connections that requests have upgraded. */
  readonly sockets: OpenSockets = new OpenSockets();
  readonly #handler: RequestHandler;
  readonly #open = new IndexedSet<OpenResponse>();
  #cancelLook: Cancel | undefined;

  constructor(handler: RequestHandler) {
    this.#handler = handler;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Lets the handler respond to a request, and tracks a streamed response to its end. */
  respond(request: Request): Promise<Response> {
    const open = new OpenResponse(new Stop(), () => clientSignal(request));
    setSignal(request, open.stop.native);
    return this.#run(open, this.#handler(request), {
      last: () => new Response(null, { status: 503 }),
      finish: (response) => {
        // complete bodies first, since access to `body` would create a stream
        if (isNonStreaming(response) || response.body === null) return this.#over(open, response);
        open.followClient();
        return new Response(open.follow(response.body, () => this.#open.delete(open)), response);
      },
      drop({ body }) {
        body?.cancel().catch(() => {});
      },
    });
  }

  /** The same for a handler without `Request` and `Response`, which ends its streams itself when the signal aborts. */
  respondPlain(plain: NonNullable<RequestHandler["plain"]>, call: PlainCall): Promise<PlainResponse> {
    const { stop, peer } = call;
    const open = new OpenResponse(stop, call.left === undefined ? undefined : () => call.left!());
    return this.#run(open, plain(call.request, peer), new PlainKind(this.#open, open, call));
  }

  /** Ends all responses: signals abort, pending responses become a 503, streams are interrupted. */
  endAll(): void {
    for (const open of this.#open.all) open.end();
    this.sockets.endAll();
  }

  /** Reports that the server has stopped. */
  close(): void {
    this.#cancelLook?.();
  }

  #run<A>(open: OpenResponse, work: Promise<A>, kind: ResponseKind<A>): Promise<A> {
    this.#open.add(open);
    if (open.isUnfollowed) this.#cancelLook ??= this.#lookLater();
    return new Promise((resolve, reject) => {
      open.respondAtOnce = () => resolve(kind.last());
      work.then((response) => {
        open.settle();
        if (!open.isEnded) return resolve(kind.finish(response));
        kind.drop(response); // too late: another response was sent
        this.#open.delete(open);
      }, (error) => {
        open.settle();
        this.#open.delete(open);
        reject(error);
      });
    });
  }

  #over<A>(open: OpenResponse, response: A): A {
    this.#open.delete(open);
    return response;
  }

  #lookLater(): Cancel {
    return callAfter(delayMs, () => {
      const latest = performance.now() - delayMs;
      let isNeeded = false;
      for (const open of this.#open.all) {
        if (open.since <= latest) open.followClient();
        else isNeeded ||= open.isUnfollowed;
      }
      this.#cancelLook = isNeeded ? this.#lookLater() : undefined;
    });
  }
}

interface ResponseKind<A> {
  /** Creates the response that replaces the handler's. */
  last(): A;
  /** Receives the handler's response. */
  finish(response: A): A;
  /** Cancels its body. */
  drop(response: A): void;
}

class PlainKind implements ResponseKind<PlainResponse> {
  readonly #all: IndexedSet<OpenResponse>;
  readonly #open: OpenResponse;
  readonly #call: PlainCall;

  constructor(all: IndexedSet<OpenResponse>, open: OpenResponse, call: PlainCall) {
    this.#all = all;
    this.#open = open;
    this.#call = call;
  }

  last(): PlainResponse {
    return { status: 503, headers: {}, body: null };
  }

  finish(response: PlainResponse): PlainResponse {
    const done = () => void this.#all.delete(this.#open);
    if (!isStream(response.body)) {
      done();
      return response;
    }
    this.#open.leaveToServer();
    this.#open.isStreaming = true;
    this.#call.untilOver().then(done, done);
    return response;
  }

  drop({ body }: PlainResponse): void {
    if (isStream(body)) body.cancel();
  }
}

/** An open response. */
class OpenResponse implements Indexed {
  index?: number;
  /** Time at which the request was received, monotonic ms; set if a disconnect is not detected yet. */
  readonly since: number;
  /** Responds in place of the handler. */
  respondAtOnce: () => void = () => {};
  isEnded = false;
  /** Whether its body is being sent. */
  isStreaming = false;
  /** Aborts when the client disconnects, or the server stops. */
  readonly stop: Stop;
  #left: (() => StopSignal) | undefined;
  #isStopping = false;
  #breakOff: ((reason: unknown) => void) | undefined;
  #cancelLastWord: Cancel = () => {};

  /**
   * @param stop Aborts the request.
   * @param left Aborts when the client disconnects, unless `stop` does; access is expensive on Deno.
   */
  constructor(stop: Stop, left?: () => StopSignal) {
    this.stop = stop;
    this.#left = left;
    this.since = left === undefined ? 0 : performance.now();
  }

  /** Whether the client's disconnect is not detected yet. */
  get isUnfollowed(): boolean {
    return this.#left !== undefined;
  }

  /** Detects no disconnect, since the server cancels the body. */
  leaveToServer(): void {
    this.#left = undefined;
  }

  /** Aborts its signal when the client disconnects. */
  followClient(): void {
    const left = this.#left;
    if (left === undefined) return;
    this.#left = undefined;
    const signal = left();
    if (signal.aborted) this.stop.abort(signal.reason);
    else signal.addEventListener("abort", () => this.stop.abort(signal.reason), { once: true });
  }

  end(): void {
    const reason = stopped();
    this.#isStopping = true;
    this.stop.abort(reason);
    if (this.#breakOff !== undefined) return this.#breakOff(reason);
    if (this.isStreaming) return;
    // the handler's own response is preferred, if it arrives in time
    this.#cancelLastWord = callAfter(lastWordMs, () => {
      this.isEnded = true;
      this.respondAtOnce();
    });
  }

  /** Stops waiting, since the handler has responded. */
  settle(): void {
    this.#cancelLastWord();
  }

  /** Passes a body through. `done` is called at its end. */
  follow(body: ReadableStream<Uint8Array>, done: () => void): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream({
      start: (controller) => {
        this.#breakOff = (reason) => {
          done();
          controller.error(reason);
          reader.cancel(reason).catch(() => {}); // it is already being ended
        };
        if (this.#isStopping) this.#breakOff(stopped());
      },
      async pull(controller) {
        try {
          const { done: isOver, value } = await reader.read();
          if (!isOver) return controller.enqueue(value);
          done();
          controller.close();
        } catch (error) {
          done();
          controller.error(error);
        }
      },
      cancel(reason) {
        done();
        return reader.cancel(reason);
      },
    }, { highWaterMark: 0 });
  }
}

function stopped(): MeshError {
  return new MeshError("The proxy is shutting down", { code: "shutting_down" });
}

function isNonStreaming(response: Response): boolean {
  return nonStreamingTypes.test(response.headers.get("content-type") ?? "");
}
