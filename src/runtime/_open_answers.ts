/**
 * The answers a server has not finished yet, so that it can end them when it has to stop.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type { RequestHandler } from "../contracts/shell.ts";
import { MeshError } from "../errors.ts";
import { callAfter } from "./_timers.ts";

/** What an answer that is being ended is still waited for, ms. */
const lastWordMs = 50;

/** Bodies that are handed over in one piece: nothing is left to break off. */
const wholeTypes = /^(application\/json|text\/(?!event-stream))/;

/** Answers requests, and can end every answer that is still open. */
export class OpenAnswers {
  readonly #handler: RequestHandler;
  readonly #open = new Set<OpenAnswer>();

  /** @param handler Answers the requests. */
  constructor(handler: RequestHandler) {
    this.#handler = handler;
  }

  /** How many answers are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Has the handler answer a request. */
  async answer(request: Request): Promise<Response> {
    const open = new OpenAnswer(request);
    this.#open.add(open);
    try {
      const response = await Promise.race([this.#handle(request, open), open.ended]).finally(() => open.settle());
      // a whole one first: asking for its `body` would make a stream of it
      if (open.isEnded || isWhole(response) || response.body === null) {
        this.#open.delete(open);
        return response;
      }
      return new Response(open.follow(response.body, () => this.#open.delete(open)), response);
    } catch (error) {
      this.#open.delete(open);
      throw error;
    }
  }

  /** Ends all: their signals abort, pending answers become a 503, streams break off. */
  endAll(): void {
    for (const open of [...this.#open]) open.end();
  }

  async #handle(request: Request, open: OpenAnswer): Promise<Response> {
    const response = await this.#handler(request);
    if (open.isEnded) await response.body?.cancel(); // too late: nobody reads it any more
    return response;
  }
}

/** One answer that is not finished. */
class OpenAnswer {
  /** Resolves with what to answer when the handler's answer is not waited for any more. */
  readonly ended: Promise<Response>;
  isEnded = false;
  #isStopping = false;
  #answerAtOnce!: (response: Response) => void;
  #controller: AbortController | undefined;
  #breakOff: ((reason: unknown) => void) | undefined;
  #cancelLastWord: Cancel = () => {};

  constructor(request: Request) {
    this.ended = new Promise((resolve) => this.#answerAtOnce = resolve);
    const original = () => Reflect.get(Request.prototype, "signal", request) as AbortSignal;
    // made on first use: most requests are answered before anybody asks
    Object.defineProperty(request, "signal", { configurable: true, get: () => this.#signal(original) });
  }

  #signal(original: () => AbortSignal): AbortSignal {
    if (this.#controller === undefined) {
      const controller = this.#controller = new AbortController();
      const signal = original();
      if (this.#isStopping) controller.abort(stopped());
      else if (signal.aborted) controller.abort(signal.reason);
      else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
    }
    return this.#controller.signal;
  }

  end(): void {
    const reason = stopped();
    this.#isStopping = true;
    this.#controller?.abort(reason);
    if (this.#breakOff !== undefined) return this.#breakOff(reason);
    // the handler's own answer to being stopped is the better one, if it has one soon
    this.#cancelLastWord = callAfter(lastWordMs, () => {
      this.isEnded = true;
      this.#answerAtOnce(new Response(null, { status: 503 }));
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
