/**
 * A scripted provider that answers web pages: it lets any origin in by CORS, preflights included.
 * @module
 */
import {
  type Behaviour,
  completeResponse,
  type ReceivedRequest,
  type Script,
  startUpstream,
  type Upstream,
} from "../support/upstream.ts";

/** A provider that runs. */
export interface PageProvider extends AsyncDisposable {
  /** Its base URL, such as `http://127.0.0.1:40000/v1`. */
  readonly url: string;
  /** Every request but preflights, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** The n-th of them (from 1), once it has arrived. */
  received(number: number): Promise<ReceivedRequest>;
}

const anyOrigin = "access-control-allow-origin: *\r\naccess-control-expose-headers: *\r\n";
const preflight = completeResponse(204, "", undefined, {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "*",
  "access-control-allow-headers": "authorization, *",
  "access-control-max-age": "600",
});

/**
 * Starts a provider.
 *
 * @param script How it answers all but preflights.
 */
export async function startProvider(script: Script): Promise<PageProvider> {
  const arrivals = new Arrivals();
  const choose = chooser(script);
  const upstream: Upstream = await startUpstream((request) => {
    if (request.method === "OPTIONS") return preflight;
    arrivals.add(request);
    return withCors(choose(request));
  });
  return {
    url: upstream.url,
    requests: arrivals.requests,
    received: (number) => arrivals.at(number),
    [Symbol.asyncDispose]: () => upstream.close(),
  };
}

/** The same response with CORS headers: they go in after the first line. */
export function withCors(behaviour: Behaviour): Behaviour {
  return {
    async play(exchange) {
      let isHead = true;
      const write = async (data: string | Uint8Array) => {
        const text = typeof data === "string" ? data : new TextDecoder("latin1").decode(data);
        const end = text.indexOf("\r\n") + 2;
        if (!isHead || end === 1) return await exchange.write(data);
        isHead = false;
        await exchange.write(text.slice(0, end) + anyOrigin);
        await exchange.write(data.slice(end));
      };
      await behaviour.play({ ...exchange, write });
    },
  };
}

function chooser(script: Script): (request: ReceivedRequest) => Behaviour {
  if (typeof script === "function") return script;
  const turns: readonly Behaviour[] = [script].flat();
  let turn = 0;
  return () => turns[Math.min(turn++, turns.length - 1)]!;
}

class Arrivals {
  readonly requests: ReceivedRequest[] = [];
  readonly #waiting: { number: number; resolve: (request: ReceivedRequest) => void }[] = [];

  add(request: ReceivedRequest): void {
    this.requests.push(request);
    for (const { number, resolve } of this.#waiting) if (number === this.requests.length) resolve(request);
  }

  at(number: number): Promise<ReceivedRequest> {
    return new Promise((resolve) => {
      const request = this.requests[number - 1];
      if (request === undefined) this.#waiting.push({ number, resolve });
      else resolve(request);
    });
  }
}
