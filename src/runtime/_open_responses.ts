/**
 * The responses that a server has not finished yet, so that it can end them when it has to stop.
 * @module
 */
import type { Cancel, StopSignal } from "../contracts/runtime.ts";
import type { Peer, PlainRequest, PlainResponse, RequestHandler } from "../contracts/shell.ts";
import { MeshError } from "../errors.ts";
import { Bag, type Thing } from "../util/bag.ts";
import { isStream } from "../util/plain_stream.ts";
import { Stop } from "./_stop.ts";
import { callAfter } from "./_timers.ts";

/** How long a response that is being ended is still waited for, ms. */
const lastWordMs = 50;

/** Whether the client has left is asked for responses that take longer than this, ms: asking costs much on Deno. */
const timeoutMs = 20;

/** Bodies that are handed over whole: nothing is left to break off. */
const wholeTypes = /^(application\/json|text\/(?!event-stream))/;

type PlainHandler = NonNullable<RequestHandler["plain"]>;

/** A request for a handler that does without the Fetch standard's objects. */
interface PlainCall {
  /** The request with this signal. */
  readonly requestOf: (signal: StopSignal) => PlainRequest;
  /** What aborts when the client has left. */
  readonly left: () => StopSignal;
  /** The other end of its connection. */
  readonly peer: Peer;
  /** Returns what settles when all of the response is sent, or its client has left. */
  readonly over: () => Promise<unknown>;
}

/**
 * Gives a request a signal of ours. As a value, no getter: V8 keeps one shape of object for all values, but one for each
 * getter.
 */
export function setSignal<S extends StopSignal>(request: Request, signal: S): Request & { readonly signal: S } {
  return Object.defineProperty(request, "signal", { configurable: true, value: signal }) as Request & {
    readonly signal: S;
  };
}

/** The signal that the runtime gave a request, also where {@linkcode setSignal} has put another one. */
export function clientSignal(request: Request): AbortSignal {
  return Reflect.get(Request.prototype, "signal", request) as AbortSignal;
}

/** Responds to requests, and can end every response that is still open. */
export class OpenResponses {
  readonly #handler: RequestHandler;
  readonly #open = new Bag<OpenResponse>();
  #cancelLook: Cancel | undefined;

  constructor(handler: RequestHandler) {
    this.#handler = handler;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Has the handler respond to a request; what it streams is followed to its end. */
  respond(request: Request): Promise<Response> {
    const open = new OpenResponse(() => clientSignal(request));
    setSignal(request, open.stop.native);
    return this.#run(open, this.#handler(request), {
      last: () => new Response(null, { status: 503 }),
      finish: (response) => {
        // a whole one first: asking for its `body` would make a stream of it
        if (isWhole(response) || response.body === null) return this.#over(open, response);
        open.followClient();
        return new Response(open.follow(response.body, () => this.#open.delete(open)), response);
      },
      drop: ({ body }) => void body?.cancel().catch(() => {}),
    });
  }

  /** Has a handler respond that can do without `Request` and `Response`; it ends its streams itself when the signal aborts. */
  respondPlain(plain: PlainHandler, { requestOf, left, peer, over }: PlainCall): Promise<PlainResponse> {
    const open = new OpenResponse(left);
    return this.#run(open, plain(requestOf(open.stop), peer), {
      last: () => ({ status: 503, headers: {}, body: null }),
      finish: (response) => {
        if (!isStream(response.body)) return this.#over(open, response);
        open.followClient();
        open.isStreaming = true;
        const done = () => this.#open.delete(open);
        over().then(done, done);
        return response;
      },
      drop: ({ body }) => isStream(body) && body.cancel(),
    });
  }

  /** Ends all: their signals abort, pending responses become a 503, streams break off. */
  endAll(): void {
    for (const open of this.#open.all) open.end();
  }

  /** The server has stopped: there will be no more. */
  close(): void {
    this.#cancelLook?.();
  }

  #run<A>(open: OpenResponse, work: Promise<A>, { last, finish, drop }: ResponseKind<A>): Promise<A> {
    this.#open.add(open);
    this.#cancelLook ??= this.#lookLater();
    return new Promise((resolve, reject) => {
      open.respondAtOnce = () => resolve(last());
      work.then((response) => {
        open.settle();
        if (!open.isEnded) return resolve(finish(response));
        drop(response); // too late: the client got the last one
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
    return callAfter(timeoutMs, () => {
      const latest = performance.now() - timeoutMs;
      let isNeeded = false;
      for (const open of this.#open.all) {
        if (open.since <= latest) open.followClient();
        else isNeeded = true;
      }
      this.#cancelLook = isNeeded ? this.#lookLater() : undefined;
    });
  }
}

interface ResponseKind<A> {
  /** The response when the handler's is not waited for any more. */
  readonly last: () => A;
  /** Takes the handler's response. */
  readonly finish: (response: A) => A;
  /** Cancels its body. */
  readonly drop: (response: A) => void;
}

/** One response that is not finished. */
class OpenResponse implements Thing {
  index?: number;
  /** When its request came, monotonic ms. */
  readonly since: number = performance.now();
  /** Responds when the handler's response is not waited for any more. */
  respondAtOnce: () => void = () => {};
  isEnded = false;
  /** Its body is on its way. */
  isStreaming = false;
  /** Comes when the client has left, or the server ends. */
  readonly stop = new Stop();
  readonly #left: () => StopSignal;
  #isStopping = false;
  #isFollowed = false;
  #breakOff: ((reason: unknown) => void) | undefined;
  #cancelLastWord: Cancel = () => {};

  /** @param left What aborts when the client has left; asking for it costs much on Deno. */
  constructor(left: () => StopSignal) {
    this.#left = left;
  }

  /** From now on its signal aborts when the client leaves, or has left. */
  followClient(): void {
    if (this.#isFollowed) return;
    this.#isFollowed = true;
    const signal = this.#left();
    if (signal.aborted) this.stop.abort(signal.reason);
    else signal.addEventListener("abort", () => this.stop.abort(signal.reason), { once: true });
  }

  end(): void {
    const reason = stopped();
    this.#isStopping = true;
    this.stop.abort(reason);
    if (this.#breakOff !== undefined) return this.#breakOff(reason);
    if (this.isStreaming) return;
    // the handler's own response to being stopped is the better one, if it comes soon
    this.#cancelLastWord = callAfter(lastWordMs, () => {
      this.isEnded = true;
      this.respondAtOnce();
    });
  }

  /** The handler has responded: there is nothing to wait for. */
  settle(): void {
    this.#cancelLastWord();
  }

  /** Hands a body on; `done` is called when it is over, one way or the other. */
  follow(body: ReadableStream<Uint8Array>, done: () => void): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream({
      start: (controller) => {
        this.#breakOff = (reason) => {
          done();
          controller.error(reason);
          reader.cancel(reason).catch(() => {}); // it is being ended already
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

function isWhole(response: Response): boolean {
  return wholeTypes.test(response.headers.get("content-type") ?? "");
}
