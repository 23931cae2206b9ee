/**
 * A scripted provider on loopback, in OpenAI's dialect by default. It behaves as badly as a test wants,
 * records what it was asked, and never waits for time to pass: a slow answer waits at a {@linkcode Gate}.
 * @module
 */
import type { Behaviour } from "./_behaviours.ts";
import { type RawServer, type ReceivedRequest, startRawServer } from "./_raw_http.ts";

export * from "./_behaviours.ts";
export * from "./_openai_answers.ts";
export type { Exchange, ReceivedRequest } from "./_raw_http.ts";

/** A behaviour for all requests, one after the other for each (the last one stays), or chosen by request. */
export type Script = Behaviour | readonly Behaviour[] | ((request: ReceivedRequest) => Behaviour);

/** A provider that runs. */
export interface Upstream {
  /** Its base URL, such as `http://127.0.0.1:40000/v1`. */
  readonly url: string;
  /** Its port. */
  readonly port: number;
  /** How many requests it got. */
  readonly calls: number;
  /** How many connections it accepted. */
  readonly connections: number;
  /** How many connections are open. */
  readonly open: number;
  /** Every request, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** The n-th request (from 1), once it has arrived. */
  received(number: number): Promise<ReceivedRequest>;
  /** Behaves differently from the next request on. */
  follow(script: Script): void;
  /** Closes it and every connection. */
  close(): Promise<void>;
  /** Closes it. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a provider.
 *
 * @param script How it answers.
 */
export async function startUpstream(script: Script): Promise<Upstream> {
  const requests: ReceivedRequest[] = [];
  const waiting: { number: number; resolve: (request: ReceivedRequest) => void }[] = [];
  let choose = chooser(script);
  const server: RawServer = await startRawServer(async (exchange) => {
    const { request } = exchange;
    requests.push(request);
    for (const { number, resolve } of waiting) if (number === request.number) resolve(request);
    await choose(request).play(exchange);
  });
  const close = () => server.close();
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    port: server.port,
    requests,
    get calls() {
      return requests.length;
    },
    get connections() {
      return server.connections;
    },
    get open() {
      return server.open;
    },
    received: (number) =>
      new Promise((resolve) => {
        const request = requests[number - 1];
        if (request === undefined) waiting.push({ number, resolve });
        else resolve(request);
      }),
    follow: (next) => choose = chooser(next),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function chooser(script: Script): (request: ReceivedRequest) => Behaviour {
  if (typeof script === "function") return script;
  if (!Array.isArray(script)) return () => script as Behaviour;
  let turn = 0;
  return () => script[Math.min(turn++, script.length - 1)];
}

/** A URL that nothing listens on: an address of this machine that no server of the tests binds. */
export function refusingUrl(): Promise<string> {
  return Promise.resolve("http://127.77.0.1:8081/v1");
}
