/**
 * The vendors of a simulated world, as providers that a configuration names and as the network they are reached by.
 * @module
 */
import {
  type CallOptions,
  type ChatCompletion,
  type CompletionChunk,
  type CompletionRequest,
  type FailureKind,
  type ModelInfo,
  NetworkError,
  type Provider,
  UpstreamError,
  type UsageReport,
} from "../../mod.ts";
import { type FakeClock, settle } from "../../src/runtime/test.ts";
import { customProvider } from "../support/_custom_provider.ts";
import { Chance } from "./chance.ts";
import { chunkFor, respondTo, usageFor } from "./_answers.ts";
import { second } from "./_times.ts";
import type { Arrival } from "./_traffic.ts";
import type { ModelPlan, Scenario } from "./scenario.ts";
import { type Trouble, troubleAt } from "./_troubles.ts";
import { type Overrun, VendorCounts } from "./_vendor_counts.ts";

/** One call of a model, free repeats of one that never left included. */
export interface VendorCall {
  readonly key: string;
  readonly isStream: boolean;
  readonly arrival: Arrival;
  readonly model: ModelPlan;
  /** What it ran into. */
  trouble?: Trouble;
  /** Aborted when its connection ends, by the mesh or by itself. */
  readonly wire: AbortController;
}

/** How a call ended: with a response, a failure, or because the mesh wanted no more of it. */
export type CallEnd = "served" | "failed" | "left";

/** Watches what a mesh does to its vendors. */
export interface VendorWatch {
  /** A model is called. */
  called(call: VendorCall): void;
  /** Something goes over the network. */
  sent(call: VendorCall): void;
  /** The vendor sees more than it allows. */
  overrun(call: VendorCall, overrun: Overrun): void;
  /** A call is over. */
  ended(call: VendorCall, end: CallEnd): void;
  /** A provider gets what was used. */
  used(provider: string, usage: UsageReport): void;
}

interface VendorParts {
  readonly scenario: Scenario;
  readonly clock: FakeClock;
  readonly watch: VendorWatch;
  /** The request of a number. */
  readonly arrivalOf: (id: number) => Arrival;
}

const refusal = "client error (Connect): tcp connect error: Connection refused";

const kindsByStatus: Readonly<Record<number, FailureKind>> = {
  400: "request",
  401: "auth",
  402: "quota_exhausted",
  404: "model_not_found",
  429: "rate_limited",
};

/** All vendors of a world. */
export class Vendors {
  /** By model's name. */
  readonly counts: ReadonlyMap<string, VendorCounts>;
  /** Nothing goes wrong any more. */
  isHealed = false;
  readonly #parts: VendorParts;
  readonly #chance: Chance;
  readonly #models: ReadonlyMap<string, ModelPlan>;
  readonly #calls = new Map<string, VendorCall>();
  #number = 0;

  /** @param parts The world. */
  constructor(parts: VendorParts) {
    const { models, seed } = parts.scenario;
    this.#parts = parts;
    this.#chance = new Chance(seed, "vendors");
    this.#models = new Map(models.map((model) => [model.name, model]));
    this.counts = new Map(models.map(({ name, limits }) => [name, new VendorCounts(limits)]));
  }

  /** Breaks the connections of all calls, one after the other. */
  async breakConnections(): Promise<void> {
    const trouble: Trouble = { kind: "broken", from: 0, to: 0, share: 1, status: 0 };
    for (const call of [...this.#calls.values()]) {
      call.trouble = trouble;
      call.wire.abort(new TypeError("connection reset"));
      await settle();
    }
  }

  /** Calls under way. */
  get underWay(): number {
    return this.#calls.size;
  }

  /** A provider of the world, to be configured as an instance. */
  provider(id: string): Provider {
    const isRetryable = (kind: FailureKind) => ["network", "server", "rate_limited", "invalid_response"].includes(kind);
    return customProvider({
      id,
      complete: async (request, options) => ({ body: await this.#complete(this.#begin(id, request), options) }),
      stream: (request, options) => this.#stream(() => this.#begin(id, request), options),
      listModels: () => Promise.resolve(this.#list(id)),
      reportUsage: (usage) => this.#parts.watch.used(id, usage),
      classifyError: getKind,
      isRetryable: (error) => isRetryable(getKind(error)),
    });
  }

  /** The network: what a vendor does with a call. */
  readonly fetch = async (_url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const call = this.#calls.get((init!.headers as Record<string, string>)["x-call"]!)!;
    const { clock, scenario, watch } = this.#parts;
    const { model, arrival, isStream } = call;
    const signal = followWire(call, init!.signal!);
    watch.sent(call);
    const now = clock.monotonic();
    const trouble = this.isHealed ? undefined : troubleAt(scenario.troubles, { model, now, chance: this.#chance });
    delete call.trouble;
    if (trouble !== undefined) call.trouble = trouble;
    if (trouble?.kind === "refused") {
      await clock.sleep(this.#chance.whole(1, 5), signal);
      throw new TypeError(refusal);
    }
    const overrun = this.counts.get(model.name)!.arrive({ now, wall: clock.now() }, boundedTokens(arrival));
    if (overrun !== undefined) watch.overrun(call, overrun);
    const usual = this.isHealed ? 1 : Math.ceil(this.#chance.skewed(model.latencyMs, 0.5));
    if (trouble?.kind === "hangs") await new Promise((_, reject) => whenAborted(signal, reject));
    const status = overrun === undefined ? statusFor(arrival, trouble) : 429;
    const waitMs = status !== 200 || isStream ? usual / 4 : trouble?.kind === "slow" ? 20 * usual : usual;
    await clock.sleep(Math.ceil(waitMs), signal);
    if (trouble?.kind === "broken") throw new TypeError("connection reset");
    return new Response(null, { status, headers: this.#headers(model, trouble, status) });
  };

  #headers({ name, limits, reportsLimits }: ModelPlan, trouble: Trouble | undefined, status: number): HeadersInit {
    const headers: Record<string, string> = {};
    if (trouble?.hintMs !== undefined && status !== 200) headers["retry-after-ms"] = String(trouble.hintMs);
    if (!reportsLimits || limits.rpm === undefined) return headers;
    const { left, resetMs } = this.counts.get(name)!.reported(this.#parts.clock.monotonic());
    headers["x-ratelimit-limit-requests"] = String(limits.rpm);
    headers["x-ratelimit-remaining-requests"] = String(left);
    headers["x-ratelimit-reset-requests"] = `${resetMs}ms`;
    return headers;
  }

  /** The models that a provider lists at present. */
  #list(provider: string): ModelInfo[] {
    const now = this.#parts.clock.monotonic();
    const models = [...this.#models.values()].filter((model) => model.provider === provider);
    return models.flatMap(({ name, price, absences = [] }) => {
      const isAbsent = !this.isHealed && absences.some(({ from, to }) => from <= now && now < to);
      return isAbsent ? [] : { id: idIn(name), capabilities: ["chat-completion"], pricing: [price] };
    });
  }

  async #complete(call: VendorCall, options: CallOptions): Promise<ChatCompletion> {
    followWire(call, options.signal);
    let end: CallEnd = "left";
    try {
      await this.#send(call, options);
      if (call.trouble?.kind === "cut") throw failure("The answer is unreadable", "invalid_response");
      end = "served";
      return respondTo(call.arrival, call.trouble?.kind === "empty");
    } catch (error) {
      if (!options.signal.aborted) end = "failed";
      throw error;
    } finally {
      this.#end(call, end);
    }
  }

  async *#stream(begin: () => VendorCall, options: CallOptions): AsyncGenerator<CompletionChunk> {
    const call = begin();
    const { clock } = this.#parts;
    const signal = followWire(call, options.signal);
    const stepMs = Math.ceil(call.model.latencyMs / 3);
    const pauseMs = Math.min(this.#chance.pick([1, 1, 30]) * stepMs, 4 * second); // shorter than any limit of silence
    let end: CallEnd = "left";
    try {
      await this.#send(call, options);
      const kind = call.trouble?.kind;
      const breaksAt = this.#chance.whole(0, 2);
      for (const place of [0, 1, 2]) {
        await clock.sleep(place > 0 ? pauseMs : kind === "slow" ? 20 * stepMs : stepMs, signal);
        if (kind === "silent" && place === breaksAt) {
          await new Promise((_, reject) => whenAborted(signal, reject));
        }
        if (kind === "cut" && place === breaksAt) throw failure("The stream broke off", "invalid_response");
        if (place === 2) end = "served"; // a client with the last event needs no more
        yield chunkFor(call.arrival, place, kind === "empty");
      }
    } catch (error) {
      if (!options.signal.aborted) end = "failed";
      throw error;
    } finally {
      this.#end(call, end);
    }
  }

  /** Asks over the mesh's own client, so that it sees heads and headers. */
  async #send(call: VendorCall, { send }: CallOptions): Promise<void> {
    const headers = { "x-call": call.key };
    const { status, headers: answered } = await send({ url: `https://${call.model.name}.test/`, headers });
    if (status === 200) return;
    const hint = answered.get("retry-after-ms");
    const isQuota = call.trouble?.kind === "quota";
    throw failure(`The vendor answered ${status}`, isQuota ? "quota_exhausted" : kindsByStatus[status] ?? "server", {
      status,
      ...(hint === null ? {} : { retryAfterMs: Number(hint) }),
    });
  }

  #begin(provider: string, { model, body, stream }: CompletionRequest): VendorCall {
    const { watch, arrivalOf } = this.#parts;
    const call: VendorCall = {
      key: String(++this.#number),
      isStream: stream,
      arrival: arrivalOf(body.seed as number),
      model: this.#models.get(`${provider}.${idIn(model.id)}`)!,
      wire: new AbortController(),
    };
    this.#calls.set(call.key, call);
    const counts = this.counts.get(call.model.name)!;
    counts.underWay++;
    // a vendor sees at once that a connection ends
    whenAborted(call.wire.signal, () => this.#calls.has(call.key) && counts.underWay--);
    watch.called(call);
    return call;
  }

  #end(call: VendorCall, end: CallEnd): void {
    this.#calls.delete(call.key);
    if (!call.wire.signal.aborted) this.counts.get(call.model.name)!.underWay--;
    this.#parts.watch.ended(call, end);
  }
}

/** Tokens that a mesh can know of beforehand: none where the request sets no limit. */
function boundedTokens(arrival: Arrival): number {
  return arrival.maxTokens === undefined ? 0 : usageFor(arrival).total_tokens;
}

/** Faults of the request itself are found by vendors that are up. */
function statusFor({ isFaulty }: Arrival, trouble: Trouble | undefined): number {
  const isUp = trouble === undefined || ["slow", "empty", "cut", "silent", "broken"].includes(trouble.kind);
  return isUp ? isFaulty ? 400 : 200 : trouble.status;
}

function failure(message: string, kind: FailureKind, facts?: { status: number; retryAfterMs?: number }): UpstreamError {
  if (facts === undefined) return new UpstreamError(message, { kind });
  return new UpstreamError(message, {
    kind,
    fault: { ...facts, error: { message, type: "", param: null, code: null } },
  });
}

function getKind(error: unknown): FailureKind {
  if (UpstreamError.isInstance(error)) return error.kind;
  return NetworkError.isInstance(error) ? "network" : "server";
}

/** The vendor's id of a model. */
function idIn(name: string): string {
  return name.slice(name.indexOf(".") + 1);
}

/** The signal of a call's connection, which ends with the call. */
function followWire({ wire }: VendorCall, signal: AbortSignal): AbortSignal {
  whenAborted(signal, (reason) => wire.abort(reason));
  return wire.signal;
}

function whenAborted(signal: AbortSignal, reject: (reason: unknown) => void): void {
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
}
