/**
 * Worlds of one pool with a queue under more requests than its models take: what waits is served as soon as possible, in
 * order, within its bounds, and nothing is left of it.
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { MeshError, ModelMesh, type RoutingRecord, UpstreamError } from "../../mod.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { chat } from "../../src/pipeline/operations/chat.ts";
import { FakeClock, settle } from "../../src/runtime/test.ts";
import { createResponse, customProvider } from "../support/_custom_provider.ts";
import { Chance } from "./chance.ts";
import { loadModules } from "./_load_modules.ts";
import { minute, second } from "./_times.ts";

/** A model: how many calls it takes at once, and how many a minute. */
interface BusyModel {
  readonly name: string;
  readonly concurrent: number;
  readonly rpm: number | undefined;
  /** Calls in progress. */
  inProgress: number;
  /** Times of its calls, monotonic ms. */
  readonly calls: number[];
}

/** One request; times in ms. */
interface BusyRequest {
  readonly id: number;
  readonly at: number;
  readonly client: string;
  readonly priority: number;
  readonly leavesAfterMs: number;
  readonly timeoutMs: number;
}

class QueueWorld {
  readonly #chance: Chance;
  readonly #clock = new FakeClock();
  readonly #models: readonly BusyModel[];
  readonly #maxLength: number;
  readonly #maxWaitMs: number;
  readonly #failing: number;
  readonly #records: RoutingRecord[] = [];
  #engine!: Engine;
  #over = 0;
  /** The first limit that was exceeded. */
  #overrun: string | undefined;

  constructor(seed: number) {
    const chance = this.#chance = new Chance(seed, "queue world");
    this.#models = Array.from({ length: chance.whole(1, 3) }, (_, index) => ({
      name: `m${index}`,
      concurrent: chance.whole(1, 4),
      rpm: chance.happens(0.3) ? chance.whole(3, 20) : undefined,
      inProgress: 0,
      calls: [],
    }));
    this.#maxLength = chance.pick([1, 5, 20, 100]);
    this.#maxWaitMs = chance.pick([second, 5 * second, minute]);
    this.#failing = chance.pick([0, 0, 0.1]);
  }

  async live(): Promise<void> {
    await this.#start();
    const requests = this.#createRequests();
    for (const request of requests) {
      await this.#until(request.at);
      this.#send(request).catch(() => this.#over = NaN);
    }
    while (this.#over < requests.length) await this.#until(this.#clock.monotonic() + second);
    assertEquals(this.#over, requests.length, "every request is over");
    assertEquals(this.#records.length, requests.length, "every request has its record");
    assertEquals(this.#pool.queue?.length ?? 0, 0, "none waits");
    for (const { state } of this.#pool.members) {
      assertEquals([state.inFlight, state.tracker.shared.rate.inFlight], [0, 0], "all slots are free");
      assertEquals(state.tracker.shared.rate.onFreed, undefined, "no listener is left");
    }
    await this.#engine.close();
    assertEquals(this.#clock.pending, 0, "no timer is left");
  }

  get #pool() {
    return this.#engine.registry.pool("chat")!;
  }

  async #start(): Promise<void> {
    const names = this.#models.map(({ name }) => name);
    const provider = (model: BusyModel) => ({
      instance: customProvider({
        async complete(_request, { send }) {
          const { status } = await send({ url: `https://${model.name}.test/`, headers: {} });
          if (status !== 200) throw new UpstreamError("failed", { kind: "server" });
          return { body: createResponse("served") };
        },
        classifyError: (error) => (error as UpstreamError).kind,
        isRetryable: () => true,
      }),
    });
    const limits = ({ concurrent, rpm }: BusyModel) => ({ concurrent, ...(rpm !== undefined && { rpm }) });
    const mesh = new ModelMesh({
      clock: this.#clock,
      fetch: this.#fetch,
      random: this.#chance.next,
      env: {},
      on: (record) => {
        if (record.type === "routing") this.#records.push(record);
      },
    });
    const config: Record<string, unknown> = {
      providers: Object.fromEntries(this.#models.map((model) => [model.name, provider(model)])),
      models: Object.fromEntries(this.#models.map((model) => [
        model.name,
        { provider: model.name, capabilities: ["chat-completion"], limits: limits(model) },
      ])),
      pools: {
        chat: {
          models: names,
          strategy: this.#chance.pick(["round-robin", "priority", "load-balanced"]),
          queue: { max_wait: `${this.#maxWaitMs}ms`, max_length: this.#maxLength },
          deactivation: { retry_limit: 1_000 },
          retry: { max_attempts: this.#chance.whole(0, 2), initial_delay: "100ms" },
        },
      },
    };
    await mesh.initialize(config);
    this.#engine = getEngine(mesh);
  }

  #createRequests(): BusyRequest[] {
    const chance = this.#chance;
    let at = 0;
    return Array.from({ length: chance.whole(20, 120) }, (_, id) => {
      at += chance.happens(0.6) ? 0 : chance.whole(1, 1_000);
      return {
        id,
        at,
        client: chance.pick(["many", "many", "many", "few", "one"]),
        priority: chance.happens(0.2) ? chance.whole(1, 3) : 0,
        leavesAfterMs: chance.happens(0.1) ? chance.whole(0, 5_000) : Infinity,
        timeoutMs: chance.pick([2 * second, minute, 10 * minute]),
      };
    });
  }

  /** The network. A call is within the limits of its model, or the rules are broken. */
  readonly #fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const model = this.#models.find(({ name }) => String(url).includes(`${name}.`))!;
    const signal = init!.signal!;
    const now = this.#clock.monotonic();
    model.calls.push(now);
    const lately = model.calls.filter((at) => at > now - minute).length;
    if (++model.inProgress > model.concurrent) this.#overrun ??= `${model.name} has ${model.inProgress} calls at once`;
    if (lately > (model.rpm ?? Infinity)) this.#overrun ??= `${model.name} has ${lately} calls in a minute`;
    const status = this.#chance.happens(this.#failing) ? 500 : 200;
    let isOver = false;
    const end = () => {
      if (!isOver) model.inProgress--;
      isOver = true;
    };
    signal.addEventListener("abort", end, { once: true });
    await this.#clock.sleep(this.#chance.whole(1, 2_000), signal).finally(end);
    return new Response(null, { status });
  };

  async #send({ id, client: name, priority, leavesAfterMs, timeoutMs }: BusyRequest): Promise<void> {
    const client = new AbortController();
    const leave = () => client.abort(new DOMException("left", "AbortError"));
    const cancel = leavesAfterMs === Infinity ? () => {} : this.#clock.after(leavesAfterMs, leave);
    try {
      await this.#engine.perform({
        id: `${id}`,
        operation: chat,
        delivery: "sync",
        model: "chat",
        body: { model: "chat", messages: [{ role: "user", content: `${id}` }] },
        signal: client.signal,
        timeoutMs,
        client: { id: name, name },
        routingConstraints: { priority },
      });
    } catch (error) {
      if (error !== client.signal.reason && !MeshError.isInstance(error)) throw error;
    } finally {
      cancel();
    }
    this.#over++;
  }

  /** Time passes; whenever all is settled, the rules hold. */
  async #until(at: number): Promise<void> {
    while (this.#clock.monotonic() < at) {
      await this.#clock.advance(Math.min(at - this.#clock.monotonic(), this.#chance.whole(1, 500)));
      await settle();
      this.#check();
    }
  }

  #check(): void {
    assertEquals(this.#overrun, undefined);
    const waiting = this.#pool.queue?.length ?? 0;
    assert(waiting <= this.#maxLength, `${waiting} requests wait, at most ${this.#maxLength} may`);
    for (const { queued_ms = 0, request_id: id } of this.#records) {
      assert(queued_ms <= this.#maxWaitMs, `request ${id} waited for ${queued_ms} ms, at most ${this.#maxWaitMs} ms`);
    }
    if (waiting === 0 || this.#failing > 0) return; // a request that failed waits for the other models only
    for (const { name, inProgress, concurrent, rpm, calls } of this.#models) {
      const lately = calls.filter((at) => at > this.#clock.monotonic() - minute - second).length;
      const isFull = inProgress === concurrent || lately >= (rpm ?? Infinity);
      assert(isFull, `${waiting} requests wait although ${name} has ${inProgress} of ${concurrent} calls`);
    }
  }
}

/**
 * Fails unless the rules hold in the worlds of these seeds.
 *
 * @param first The first seed.
 * @param last The last one.
 */
export async function assertQueuesKeepRules(first: number, last: number): Promise<void> {
  await loadModules();
  for (let seed = first; seed <= last; seed++) {
    try {
      await new QueueWorld(seed).live();
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
}
