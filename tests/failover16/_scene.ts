/**
 * One fault under one configuration: a proxy over two scripted providers, and what caller and providers see.
 * @module
 */
import { type ConfigSource, ModelMesh, type RoutingRecord } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import type { ChatClient, Reading } from "./_clients.ts";
import { SteppedClock } from "./_clock.ts";
import type { Fault } from "./_faults.ts";
import { healthy, Mock, type ReceivedCall } from "./_mock.ts";
import type { Vendor } from "./_vendors.ts";

/** What the caller sees of one response. */
export interface SeenResponse extends Reading {
  readonly status: number;
  /** When it was requested, ms. */
  readonly startedAt: number;
  /** Its duration, ms; infinite if it never ended. */
  readonly ms: number;
  /** Time to its first word, ms. */
  readonly firstMs: number | undefined;
  /** Its cost according to the record, USD. */
  readonly costUsd: number | undefined;
}

/** What is seen of a fault. */
export interface Seen {
  readonly answers: readonly SeenResponse[];
  /** Calls that the first model received. */
  readonly first: readonly ReceivedCall[];
  /** Calls that the other model received. */
  readonly second: readonly ReceivedCall[];
  /** Whether a request after the fault is answered, and nothing is left of the earlier ones. */
  readonly isHealthyAfterwards: boolean;
}

/** A configuration for providers `a` and `b`, by their addresses. */
export type Configuration = (urls: { readonly a: string; readonly b: string }, vendor: Vendor) => object;

/** Who asks whom, and how. */
export interface Setting {
  readonly client: ChatClient;
  readonly vendor: Vendor;
  readonly isStream: boolean;
  readonly configuration: Configuration;
  readonly listener?: "deno" | "node";
}

/** The time until an unanswered request counts as hanging, ms. */
const hangMs = 200_000;

/** Lets a fault happen. */
export async function see(fault: Fault, setting: Setting): Promise<Seen> {
  const { vendor } = setting;
  const clock = new SteppedClock();
  await using first = new Mock("a", { vendor, clock, conduct: fault.first });
  await using second = new Mock("b", { vendor, clock, conduct: fault.second ?? healthy });
  const urls = { a: await first.start(), b: await second.start() };
  await using caller = await Caller.start(setting.configuration(urls, vendor), { clock, ...setting });
  const answers: SeenResponse[] = [];
  for (let count = fault.requests ?? 1; count > 0; count--) {
    const answer = await caller.ask();
    answers.push(answer);
    if (count > 1) await clock.advance(Math.max(0, answer.startedAt + 4_000 - clock.monotonic()));
  }
  const calls = { first: [...first.calls], second: [...second.calls] };
  first.follow(healthy);
  second.follow(healthy);
  const later = await caller.ask();
  return { answers, ...calls, isHealthyAfterwards: later.end === "complete" && caller.isIdle };
}

/** The caller of a proxy. */
class Caller implements AsyncDisposable {
  readonly #url: string;
  readonly #mesh: ModelMesh;
  readonly #clock: SteppedClock;
  readonly #setting: Pick<Setting, "client" | "isStream">;
  readonly #records: RoutingRecord[];
  readonly #stop: () => Promise<void>;

  private constructor(parts: {
    readonly url: string;
    readonly mesh: ModelMesh;
    readonly clock: SteppedClock;
    readonly setting: Pick<Setting, "client" | "isStream">;
    readonly records: RoutingRecord[];
    readonly stop: () => Promise<void>;
  }) {
    this.#url = parts.url;
    this.#mesh = parts.mesh;
    this.#clock = parts.clock;
    this.#setting = parts.setting;
    this.#records = parts.records;
    this.#stop = parts.stop;
  }

  /** Starts a proxy. */
  static async start(
    config: object,
    { clock, listener, ...setting }: Pick<Setting, "client" | "isStream" | "listener"> & {
      readonly clock: SteppedClock;
    },
  ): Promise<Caller> {
    const records: RoutingRecord[] = [];
    const mesh = new ModelMesh({
      clock,
      random: () => 0.5,
      on: (record) => void (record.type === "routing" && records.push(record)),
    });
    await mesh.initialize(config as ConfigSource);
    const server = await listen(createHandler(mesh), { port: 0, ...(listener === undefined ? {} : { listener }) });
    const url = `http://127.0.0.1:${server.port}`;
    return new Caller({ url, mesh, clock, setting, records, stop: async () => await server.stop(0) });
  }

  /** Whether no model has a request in flight. */
  get isIdle(): boolean {
    const { members } = getEngine(this.#mesh).registry.pool("chat")!;
    return members.every(({ state }) => state.inFlight === 0);
  }

  /** Asks the pool. */
  async ask(): Promise<SeenResponse> {
    const { client, isStream } = this.#setting;
    const clock = this.#clock;
    const startedAt = clock.monotonic();
    const controller = new AbortController();
    const before = this.#records.length;
    const { path, body } = client.request(isStream);
    let text = "";
    let status = 0;
    let firstMs: number | undefined;
    const read = async () => {
      const response = await fetch(this.#url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "chat", ...body }),
        signal: controller.signal,
      });
      status = response.status;
      for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
        text += part;
        if (/\b[ab]-0\b/.test(text)) firstMs ??= clock.monotonic() - startedAt;
      }
    };
    const answer = read();
    const hasEnded = await clock.run(answer, hangMs);
    if (!hasEnded) controller.abort();
    await answer.catch(() => {}); // an abort, or a response that breaks off: what came of it is judged
    const ms = hasEnded ? clock.monotonic() - startedAt : Infinity;
    const reading = status === 200 && isStream ? client.readStream(text) : client.readWhole(parse(text));
    const costUsd = this.#records.slice(before).at(-1)?.cost_usd;
    return { ...reading, status, startedAt, ms, firstMs, costUsd };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    await this.#mesh.close();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
