/**
 * A provider that behaves in time: it answers, fails, pauses and breaks off by the clock of the test.
 * @module
 */
import { type Behaviour, type Ending, finish, formatHead, status } from "../support/upstream.ts";
import { type Exchange, type ReceivedRequest, startUpstream, type Upstream } from "../support/upstream.ts";
import type { SteppedClock } from "./_clock.ts";
import type { Vendor, VendorError } from "./_vendors.ts";

/** A request that a provider received. */
export interface ReceivedCall {
  readonly request: ReceivedRequest;
  /** When, ms. */
  readonly at: number;
  /** Whether it was refused because its last turn is the assistant's. */
  readonly isRefused: boolean;
}

/** How a provider answers its calls. */
export type Conduct = (mock: Mock, call: { readonly number: number; readonly at: number }) => Behaviour;

/** How a response is written: text, and pauses in ms. */
type Parts = readonly (string | number)[];

/** A scripted provider. */
export class Mock implements AsyncDisposable {
  readonly vendor: Vendor;
  readonly clock: SteppedClock;
  readonly model: string;
  readonly calls: ReceivedCall[] = [];
  #conduct: Conduct;
  #upstream: Upstream | undefined;

  constructor(model: string, { vendor, clock, conduct }: {
    readonly vendor: Vendor;
    readonly clock: SteppedClock;
    readonly conduct: Conduct;
  }) {
    this.model = model;
    this.vendor = vendor;
    this.clock = clock;
    this.#conduct = conduct;
  }

  /** What it answers with when it is well: sixty words of its own. */
  get words(): string[] {
    return Array.from({ length: 60 }, (_, index) => `${this.model}-${index} `);
  }

  /** Starts to listen. Returns its base URL. */
  async start(): Promise<string> {
    this.#upstream = await startUpstream((request) => {
      const isRefused = this.#conduct === refusePrefill && this.vendor.isPrefilled(request);
      const at = this.clock.monotonic();
      this.calls.push({ request, at, isRefused });
      return this.#conduct(this, { number: this.calls.length, at });
    });
    return this.#upstream.url;
  }

  /** Changes how it answers from the next call on. */
  follow(conduct: Conduct): void {
    this.#conduct = conduct;
  }

  /** Responds as a healthy provider. */
  answer(): Behaviour {
    return this.respond((events) => events, [JSON.stringify(this.vendor.whole(this))], "end");
  }

  /** Responds with an error. */
  fail(error: VendorError, headers: Readonly<Record<string, string>> = {}): Behaviour {
    return status(error.status, { json: this.vendor.error(error), headers });
  }

  /**
   * Responds with a stream or with a complete response, as requested.
   *
   * @param stream The stream, from its events.
   * @param whole The complete response.
   * @param ending How both end.
   */
  respond(stream: (events: readonly string[]) => Parts, whole: Parts, ending: Ending): Behaviour {
    return {
      play: async (exchange) => {
        const isStream = this.vendor.isStream(exchange.request);
        const type = isStream ? "text/event-stream" : "application/json";
        await exchange.write(formatHead(200, { "content-type": type, "transfer-encoding": "chunked" }));
        const parts = isStream ? stream(this.vendor.events(this)) : whole;
        if (await this.#write(parts, exchange)) return;
        if (ending === "end") await exchange.write("0\r\n\r\n");
        finish(exchange, ending);
      },
    };
  }

  /** Breaks off after some words of a stream, or within a complete response; first pauses for a time, ms. */
  breakOff(words: number, { ending, pauseMs = 0 }: { readonly ending: Ending; readonly pauseMs?: number }): Behaviour {
    const whole = JSON.stringify(this.vendor.whole(this));
    const part = whole.slice(0, whole.length / 2);
    const pause = pauseMs === 0 ? [] : [pauseMs];
    return this.respond(
      (events) => [...events.slice(0, this.vendor.lead + words), ...pause],
      [part, ...pause],
      ending,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upstream?.close();
  }

  /** Returns whether the client has left. */
  async #write(parts: Parts, { request, write }: Exchange): Promise<boolean> {
    for (const part of parts) {
      if (typeof part === "number") await Promise.race([this.clock.pause(part), request.closed]);
      else await write(`${new TextEncoder().encode(part).length.toString(16)}\r\n${part}\r\n`);
      if (request.isClosed) return true;
    }
    return false;
  }
}

/** A healthy provider. */
export const healthy: Conduct = (mock) => mock.answer();

/** A healthy provider that refuses requests whose last turn is the assistant's. */
export const refusePrefill: Conduct = (mock) => {
  const message =
    "This model does not support assistant message prefill. The conversation must end with a user message.";
  return mock.calls.at(-1)!.isRefused ? mock.fail({ status: 400, code: "invalid_request", message }) : mock.answer();
};
