/**
 * Tells the statistics of a mesh what happens in it: states by its events, requests as they begin and end.
 * @module
 */
import type { MeshEvent, RoutingRecord } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { StandbyReason } from "../contracts/rotation.ts";
import type { Clock } from "../contracts/runtime.ts";
import { routingOf } from "../observe/routing_of.ts";
import { type RequestResult, Statistics } from "../observe/statistics.ts";
import type { Routed, RoutedRequest } from "../pipeline/request.ts";
import type { Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { BreakerOwner } from "../state/rest.ts";
import type { MeshParts } from "./mesh_parts.ts";

type FeedParts = Required<Pick<MeshParts, "metering" | "watch" | "count">>;

/** What there is in a mesh. */
interface Contents {
  readonly registry: Registry;
  readonly state: MeshState;
}

/** Feeds the statistics of one mesh: a sink of its hub, and some of its parts. */
export class StatisticsFeed implements Observability {
  /** What is fed. */
  readonly statistics: Statistics;
  readonly #clock: Clock;
  #contents: Contents | undefined;
  /** The routing decision told last. */
  #latest: RoutingRecord | undefined;

  /** @param clock Of the mesh. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.statistics = new Statistics(clock);
  }

  /**
   * The parts of a mesh that also tell the statistics.
   *
   * @param parts Those that do the work.
   */
  over({ metering, watch }: Pick<FeedParts, "metering" | "watch">): FeedParts {
    return {
      metering: (settings, clock) => {
        const make = metering(settings, clock);
        return (facts, request) => {
          const { pool, name: model, provider } = request;
          this.statistics.addMember({ pool, model, provider: provider.id });
          return make(facts, request);
        };
      },
      watch: (parts) => {
        this.#contents = parts;
        this.look();
        return watch(parts);
      },
      count: (ask, request) => this.#count(ask, request),
    };
  }

  /** Sees anew what there is and what rests: after a start, and when states were changed without an event. */
  look(): void {
    if (this.#contents === undefined) return;
    const { registry, state } = this.#contents;
    this.statistics.setMembers(
      registry.allPools.flatMap(({ name: pool, members }) =>
        members.map(({ model }) => ({ pool, model: model.name, provider: model.instance.entry.id }))
      ),
      state.breakers.filter(({ standby }) => standby !== undefined).map(({ owner }) => owner),
    );
  }

  /** Takes in what happened. */
  emit(record: MeshEvent | RoutingRecord): void {
    if (record.type === "routing") {
      this.#latest = record;
      return;
    }
    const { event, pool, model, provider } = record;
    const reason = record.reason as StandbyReason;
    const owner = { pool, model, provider };
    if (event === "deactivation") this.statistics.addTransition({ owner, to: "standby", reason });
    // one of its rests is over, another one may go on
    if (event === "recovery" && !this.#rests(owner)) this.statistics.addTransition({ owner, to: "active", reason });
  }

  /** Notes change no numbers. */
  trace(): void {}

  /** There is nothing to write. */
  flush(): Promise<void> {
    return Promise.resolve();
  }

  #rests({ pool, model, provider }: BreakerOwner): boolean {
    return this.#contents?.state.breakers.some(({ owner, standby }) =>
      standby !== undefined && owner.pool === pool && owner.model === model && owner.provider === provider
    ) ?? false;
  }

  async #count<T>(ask: () => Promise<Routed<T>>, request: RoutedRequest): Promise<Routed<T>> {
    const from = this.#clock.monotonic();
    let routed: Routed<T>;
    try {
      routed = await ask();
    } catch (error) {
      this.#over(this.#recordOf(error, request), { outcome: request.signal?.aborted ? "none" : "failure" });
      throw error;
    }
    const latencyMs = this.#clock.monotonic() - from;
    let isOpen = true;
    const { answer, pool, member, routing, dropped, connection } = routed;
    const settle: typeof routed.settle = (vote, usage) => {
      const used = routed.settle(vote, usage);
      const { input: tokensIn, output: tokensOut, costNano } = used;
      if (isOpen) this.#over(routing, { outcome: vote, latencyMs, tokensIn, tokensOut, costNanoUsd: costNano });
      isOpen = false;
      return used;
    };
    return { answer, pool, member, routing, dropped, connection, settle }; // a spread takes several times as long
  }

  /** The decision that led to an error; a client may abort with a reason that nothing can be remembered of. */
  #recordOf(error: unknown, { id }: RoutedRequest): RoutingRecord | undefined {
    if (typeof error === "object" && error !== null) return routingOf(error);
    return this.#latest?.request_id === id ? this.#latest : undefined;
  }

  #over(routing: RoutingRecord | undefined, result: RequestResult): void {
    if (routing === undefined) return;
    for (const left of routing.fallback_chain.slice(0, -1)) this.statistics.addRotation(routing.pool, left);
    this.statistics.addRequest(routing, result);
  }
}
