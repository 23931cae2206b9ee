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

/** The client of a request. The server cancels the body of a response that is being sent by itself. */
interface LeavingClient {
  /** Returns a signal that aborts when it disconnects, unless that of the request does: it is expensive on Deno. */
  left?(): StopSignal;
}

/** A request for a handler without objects of the Fetch standard. */
export interface PlainCall<Sent> extends PlainRequest, LeavingClient {
  /** Aborts the request; the server does so when the client disconnects. */
  readonly signal: Stop;
  /** The remote address. */
  readonly peer: Peer;
  /** Resolves when the response is sent, or the client has disconnected. */
  untilOver(): Promise<unknown>;
  /** Converts the response to what the server sends. */
  toSent(response: PlainResponse): Sent;
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
    const open = new OpenResponse(new Stop(), { left: () => clientSignal(request) });
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
  respondPlain<Sent>(plain: NonNullable<RequestHandler["plain"]>, call: PlainCall<Sent>): Promise<Sent> {
    const open = new OpenPlainResponse(this.#open, call);
    return this.#run(open, plain(call, call.peer), open);
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

  #run<Own, Sent>(open: OpenResponse, work: Promise<Own>, kind: ResponseKind<Own, Sent>): Promise<Sent> {
    this.#open.add(open);
    if (open.isUnfollowed) this.#cancelLook ??= this.#lookLater();
    return new Promise((resolve, reject) => {
      open.respondAtOnce = () => resolve(kind.last());
      const fail = (error: unknown) => {
        open.cancelLastWord?.();
        this.#open.delete(open);
        reject(error);
      };
      work.then((response) => {
        try {
          open.cancelLastWord?.();
          if (!open.isEnded) return resolve(kind.finish(response));
          kind.drop(response); // too late: another response was sent
          this.#open.delete(open);
        } catch (error) {
          fail(error);
        }
      }, fail);
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

interface ResponseKind<Own, Sent> {
  /** Creates the response that replaces the handler's. */
  last(): Sent;
  /** Receives the handler's response. */
  finish(response: Own): Sent;
  /** Cancels its body. */
  drop(response: Own): void;
}

/** An open response. */
class OpenResponse implements Indexed {
  index?: number;
  /** Time at which the request was received, monotonic ms; set if a disconnect is not detected yet. */
  readonly since: number;
  /** Responds in place of the handler. */
  respondAtOnce: () => void = () => {};
  isEnded = false;
  /** Stops waiting, since the handler has responded. */
  cancelLastWord: Cancel | undefined;
  /** Whether its body is being sent. */
  isStreaming = false;
  /** Aborts when the client disconnects, or the server stops. */
  readonly stop: Stop;
  #client: LeavingClient | undefined;
  #isStopping = false;
  #breakOff: ((reason: unknown) => void) | undefined;

  /** @param stop Aborts the request. */
  constructor(stop: Stop, client: LeavingClient) {
    this.stop = stop;
    this.#client = client.left === undefined ? undefined : client;
    this.since = client.left === undefined ? 0 : performance.now();
  }

  /** Whether the client's disconnect is not detected yet. */
  get isUnfollowed(): boolean {
    return this.#client !== undefined;
  }

  /** Detects no disconnect, since the server cancels the body. */
  leaveToServer(): void {
    this.#client = undefined;
  }

  /** Aborts its signal when the client disconnects. */
  followClient(): void {
    const signal = this.#client?.left?.();
    if (signal === undefined) return;
    this.#client = undefined;
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
    this.cancelLastWord = callAfter(lastWordMs, () => {
      this.isEnded = true;
      this.respondAtOnce();
    });
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

/** An open response of a handler without objects of the Fetch standard. */
class OpenPlainResponse<Sent> extends OpenResponse implements ResponseKind<PlainResponse, Sent> {
  readonly #all: IndexedSet<OpenResponse>;
  readonly #call: PlainCall<Sent>;

  constructor(all: IndexedSet<OpenResponse>, call: PlainCall<Sent>) {
    super(call.signal, call);
    this.#all = all;
    this.#call = call;
  }

  last(): Sent {
    return this.#call.toSent({ status: 503, headers: {}, body: null });
  }

  finish(response: PlainResponse): Sent {
    if (isStream(response.body)) {
      this.leaveToServer();
      this.isStreaming = true;
      const done = () => void this.#all.delete(this);
      this.#call.untilOver().then(done, done);
    } else this.#all.delete(this);
    return this.#call.toSent(response);
  }

  drop({ body }: PlainResponse): void {
    if (isStream(body)) body.cancel();
  }
}

function stopped(): MeshError {
  return new MeshError("The proxy is shutting down", { code: "shutting_down" });
}

function isNonStreaming(response: Response): boolean {
  return nonStreamingTypes.test(response.headers.get("content-type") ?? "");
}
