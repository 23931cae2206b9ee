/**
 * The answers a server has not finished yet, so that it can end them when it has to stop.
 * @module
 */
import type { Cancel, StopSignal } from "../contracts/runtime.ts";
import type { Peer, PlainRequest, PlainResponse, RequestHandler } from "../contracts/shell.ts";
import { MeshError } from "../errors.ts";
import { Bag, type Thing } from "../util/bag.ts";
import { isStream } from "../util/plain_stream.ts";
import { Stop } from "./_stop.ts";
import { callAfter } from "./_timers.ts";

/** What an answer that is being ended is still waited for, ms. */
const lastWordMs = 50;

/** Whether the client has left is asked for answers that take longer than this, ms: asking is dear on Deno. */
const patienceMs = 20;

/** Bodies that are handed over in one piece: nothing is left to break off. */
const wholeTypes = /^(application\/json|text\/(?!event-stream))/;

type PlainHandler = NonNullable<RequestHandler["plain"]>;

/** A request for a handler that does without the Fetch standard's objects. */
export interface PlainCall {
  /** The request with this signal. */
  readonly requestOf: (signal: StopSignal) => PlainRequest;
  /** What aborts when the client has left. */
  readonly left: () => StopSignal;
  /** The other end of its connection. */
  readonly peer: Peer;
  /** Tells what settles when all of the answer is sent, or nobody is left to send it to. */
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

/** Answers requests, and can end every answer that is still open. */
export class OpenAnswers {
  readonly #handler: RequestHandler;
  readonly #open = new Bag<OpenAnswer>();
  #cancelLook: Cancel | undefined;

  /** @param handler Answers the requests. */
  constructor(handler: RequestHandler) {
    this.#handler = handler;
  }

  /** How many answers are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Has the handler answer a request; what it streams is followed to its end. */
  answer(request: Request): Promise<Response> {
    const open = new OpenAnswer(() => clientSignal(request));
    setSignal(request, open.stop.native);
    return this.#run(open, this.#handler(request), {
      last: () => new Response(null, { status: 503 }),
      finish: (response) => {
        // a whole one first: asking for its `body` would make a stream of it
        if (isWhole(response) || response.body === null) return this.#over(open, response);
        open.watch();
        return new Response(open.follow(response.body, () => this.#open.delete(open)), response);
      },
      drop: ({ body }) => void body?.cancel().catch(() => {}),
    });
  }

  /**
   * Has a handler answer that can do without `Request` and `Response`; it ends its streams itself when the signal aborts.
   *
   * @param plain The handler's own way.
   * @param call The request.
   */
  answerPlain(plain: PlainHandler, { requestOf, left, peer, over }: PlainCall): Promise<PlainResponse> {
    const open = new OpenAnswer(left);
    return this.#run(open, plain(requestOf(open.stop), peer), {
      last: () => ({ status: 503, headers: {}, body: null }),
      finish: (response) => {
        if (!isStream(response.body)) return this.#over(open, response);
        open.watch();
        open.isStreaming = true;
        const done = () => this.#open.delete(open);
        over().then(done, done);
        return response;
      },
      drop: ({ body }) => isStream(body) && body.cancel(),
    });
  }

  /** Ends all: their signals abort, pending answers become a 503, streams break off. */
  endAll(): void {
    for (const open of this.#open.all) open.end();
  }

  /** The server has stopped: there will be no more. */
  close(): void {
    this.#cancelLook?.();
  }

  #run<A>(open: OpenAnswer, work: Promise<A>, { last, finish, drop }: AnswerKind<A>): Promise<A> {
    this.#open.add(open);
    this.#cancelLook ??= this.#lookLater();
    return new Promise((resolve, reject) => {
      open.answerAtOnce = () => resolve(last());
      work.then((answer) => {
        open.settle();
        if (!open.isEnded) return resolve(finish(answer));
        drop(answer); // too late: nobody reads it any more
        this.#open.delete(open);
      }, (error) => {
        open.settle();
        this.#open.delete(open);
        reject(error);
      });
    });
  }

  #over<A>(open: OpenAnswer, answer: A): A {
    this.#open.delete(open);
    return answer;
  }

  #lookLater(): Cancel {
    return callAfter(patienceMs, () => {
      const latest = performance.now() - patienceMs;
      let isNeeded = false;
      for (const open of this.#open.all) {
        if (open.since <= latest) open.watch();
        else isNeeded = true;
      }
      this.#cancelLook = isNeeded ? this.#lookLater() : undefined;
    });
  }
}

/** What there is to know of a kind of answers. */
interface AnswerKind<A> {
  /** The answer when the handler's is not waited for any more. */
  readonly last: () => A;
  /** Takes the handler's answer. */
  readonly finish: (answer: A) => A;
  /** Cancels its body. */
  readonly drop: (answer: A) => void;
}

/** One answer that is not finished. */
class OpenAnswer implements Thing {
  place?: number;
  /** When its request came, monotonic ms. */
  readonly since: number = performance.now();
  /** Answers when the handler's answer is not waited for any more. */
  answerAtOnce: () => void = () => {};
  isEnded = false;
  /** Its body is on its way. */
  isStreaming = false;
  /** Comes when the client has left, or the server ends. */
  readonly stop = new Stop();
  readonly #left: () => StopSignal;
  #isStopping = false;
  #isWatched = false;
  #breakOff: ((reason: unknown) => void) | undefined;
  #cancelLastWord: Cancel = () => {};

  /** @param left What aborts when the client has left; asking for it is dear on Deno. */
  constructor(left: () => StopSignal) {
    this.#left = left;
  }

  /** From now on its signal aborts when the client leaves, or has left. */
  watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
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
    // the handler's own answer to being stopped is the better one, if it has one soon
    this.#cancelLastWord = callAfter(lastWordMs, () => {
      this.isEnded = true;
      this.answerAtOnce();
    });
  }

  /** The handler has answered: there is nothing to wait for. */
  settle(): void {
    this.#cancelLastWord();
  }

  /** Hands a body on; `done` is told when it is over, one way or the other. */
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
