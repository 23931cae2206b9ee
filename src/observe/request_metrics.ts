/**
 * Labelled metrics of requests. `Statistics` feeds them once an exporter is configured.
 * @module
 */
import type { Labels, MetricFamily, Sample } from "../contracts/metrics.ts";
import { getOrCreate } from "../util/once.ts";
import { nanoPerUsd } from "../util/pricing.ts";
import { countOrZero } from "./_stats_counters.ts";
import { Histogram } from "./_histograms.ts";
import type { RoutingRecord } from "../contracts/events.ts";
import type { CacheLookup, FinishedRequest, RefusedRequest } from "./hub_events.ts";

/** Histogram bounds of durations, seconds. */
const durationBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
const firstTokenBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];
const tokenBounds = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304];
const queueBounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];
const overheadBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1];

/** Totals of a client. */
export interface ClientTotals {
  readonly name: string;
  /** Present unless it is the name. */
  readonly id?: string;
  readonly requests: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_usd: number;
}

/** Members of a routing record that are used here. */
export const countedMembers = [
  "pool",
  "model",
  "provider",
  "operation",
  "cached",
  "client",
  "client_id",
  "team",
  "status",
  "duration_ms",
  "ttft_ms",
  "routing_latency_ms",
  "hedged",
  "hedge_won",
  "queued_ms",
] as const;

/** Members of a finished request that are used here. */
export interface CountedRequest
  extends
    Pick<FinishedRequest, "tries" | "tokensIn" | "tokensOut" | "tokensCached" | "costNanoUsd" | "callerCostNanoUsd"> {
  readonly record: Pick<RoutingRecord, typeof countedMembers[number]>;
}

/** What the cache has served and saved. */
export interface CacheTotals {
  readonly hits: number;
  readonly misses: number;
  readonly saved_usd: number;
}

/** What a guard has done, as metrics count it. */
export interface GuardAction {
  readonly guard: string;
  readonly stage: string;
  readonly action: string;
}

/** A sum of requests with the same labels. */
interface Sum {
  readonly labels: Labels;
  value: number;
}

/** Usage of one client at one model. */
interface Consumption {
  readonly labels: Labels;
  /** Identity of the client, which a name may not be. */
  readonly owner: string;
  readonly byStatus: Map<number, Sum>;
  tokensIn: number;
  /** Of the input, the tokens that were read from a prompt cache. */
  tokensCached: number;
  tokensOut: number;
  costNanoUsd: number;
  callerCostNanoUsd: number;
}

/** Durations and token counts of requests to one model. */
interface Durations {
  readonly labels: Labels;
  readonly nonStreaming: Histogram;
  readonly firstToken: Histogram;
  readonly tokensIn: Histogram;
  readonly tokensOut: Histogram;
}

/**
 * Counts requests by label. Label values are names from the configuration or a provider's list of models, HTTP statuses
 * and outcomes, never request content, so memory is bounded.
 */
export class RequestMetrics {
  readonly #consumption = new Map<string, Consumption>();
  readonly #durations = new Map<string, Durations>();
  readonly #overhead = new Map<string, Histogram>();
  /** Waits in queues, by pool. */
  readonly #waits = new Map<string, Histogram>();
  readonly #attempts = new Map<string, Sum>();
  readonly #rotations = new Map<string, Sum>();
  readonly #guards = new Map<string, Sum>();
  readonly #lookups = new Map<string, Sum>();
  /** What repeated responses have saved, nano-dollars. */
  readonly #saved = new Map<string, Sum>();
  readonly #hedged = new Map<string, Sum>();
  readonly #hedgesWon = new Map<string, Sum>();

  /** Counts a request that has ended. */
  addRequest(
    { record, tries, tokensIn, tokensOut, tokensCached, costNanoUsd, callerCostNanoUsd }: CountedRequest,
  ): void {
    const { pool, operation = "chat", client = "", team, status = 0, duration_ms, ttft_ms, routing_latency_ms } =
      record;
    const [model, provider] = [record.model ?? "", record.provider ?? ""];
    const consumption = this.#getConsumption({ pool, model, provider, client, team }, record.client_id ?? client);
    countRequest(consumption.byStatus, status, toStatusLabels);
    consumption.tokensIn += countOrZero(tokensIn);
    consumption.tokensCached += countOrZero(tokensCached);
    consumption.tokensOut += countOrZero(tokensOut);
    consumption.costNanoUsd += countOrZero(costNanoUsd);
    consumption.callerCostNanoUsd += countOrZero(callerCostNanoUsd);
    if (record.cached) return; // the durations are those of models
    const durations = this.#getDurations({ pool, model, provider, operation });
    if (duration_ms !== undefined) durations.nonStreaming.observe(duration_ms / 1000);
    if (ttft_ms !== undefined) durations.firstToken.observe(ttft_ms / 1000);
    if (tokensIn !== undefined) durations.tokensIn.observe(tokensIn);
    if (tokensOut !== undefined) durations.tokensOut.observe(tokensOut);
    getOrCreate(this.#overhead, pool, () => new Histogram(overheadBounds)).observe(routing_latency_ms / 1000);
    if (record.queued_ms !== undefined) {
      getOrCreate(this.#waits, pool, () => new Histogram(queueBounds)).observe(record.queued_ms / 1000);
    }
    for (const { model, provider, outcome } of tries) {
      countRequest(this.#attempts, `${model}\n${provider}\n${outcome}`, () => ({ model, provider, outcome }));
    }
    if (record.hedged === true) countRequest(this.#hedged, pool, () => ({ pool }));
    if (record.hedge_won === true) countRequest(this.#hedgesWon, pool, () => ({ pool }));
  }

  /** Counts a request that was rejected before routing. */
  addRefused({ status, client = "", client_id = client }: RefusedRequest): void {
    const { byStatus } = this.#getConsumption({ pool: "", model: "", provider: "", client }, client_id);
    countRequest(byStatus, status, toStatusLabels);
  }

  /** Counts a change of a pool's current model. */
  addRotation(pool: string, reason: string): void {
    countRequest(this.#rotations, `${pool}\n${reason}`, () => ({ pool, reason }));
  }

  /** Counts what a guard has done. */
  addGuardAction({ guard, stage, action }: GuardAction): void {
    countRequest(this.#guards, `${guard}\n${stage}\n${action}`, () => ({ guard, stage, action }));
  }

  /** Counts what the cache was asked for a request. */
  addLookup({ pool, result, savedUsd = 0 }: CacheLookup): void {
    countRequest(this.#lookups, `${pool}\n${result}`, () => ({ pool, result }));
    if (result !== "hit") return;
    getOrCreate(this.#saved, pool, () => ({ labels: { pool }, value: 0 })).value += Math.round(savedUsd * nanoPerUsd);
  }

  /** Returns the totals of the cache. */
  cache(): CacheTotals {
    const count = (wanted: CacheLookup["result"]) =>
      [...this.#lookups.values()].reduce((sum, { labels, value }) => labels.result === wanted ? sum + value : sum, 0);
    const saved = [...this.#saved.values()].reduce((sum, { value }) => sum + value, 0);
    return { hits: count("hit"), misses: count("miss"), saved_usd: saved / nanoPerUsd };
  }

  /** Returns the totals of each named client. */
  clients(): readonly ClientTotals[] {
    const totals = new Map<string, ClientTotals>();
    for (const { labels, owner: id, byStatus, tokensIn, tokensOut, costNanoUsd } of this.#consumption.values()) {
      const { client: name = "" } = labels;
      if (name === "") continue;
      const { requests, tokens_in, tokens_out, cost_usd } = totals.get(id) ??
        { requests: 0, tokens_in: 0, tokens_out: 0, cost_usd: 0 };
      totals.set(id, {
        name,
        ...(id === name ? {} : { id }),
        requests: [...byStatus.values()].reduce((sum, { value }) => sum + value, requests),
        tokens_in: tokens_in + tokensIn,
        tokens_out: tokens_out + tokensOut,
        cost_usd: cost_usd + costNanoUsd / nanoPerUsd,
      });
    }
    return [...totals.values()];
  }

  /**
   * Returns all metrics. Clients of one name have common samples.
   *
   * @param owner Restricts those with a client to this one.
   */
  families(owner?: string): readonly MetricFamily[] {
    const consumption = [...this.#consumption.values()].filter((usage) => owner === undefined || usage.owner === owner);
    return [
      ...consumptionFamilies(consumption),
      counter("modelmesh_attempts_total", "Attempts: calls of a model for a request.", [...this.#attempts.values()]),
      counter("modelmesh_rotations_total", "Changes of a pool's current model.", [...this.#rotations.values()]),
      counter(
        "modelmesh_guard_actions_total",
        "What guards have done: texts refused or replaced, and checks that failed.",
        [
          ...this.#guards.values(),
        ],
      ),
      counter(
        "modelmesh_cache_requests_total",
        "Requests by what the cache did for them: repeated a response, had none, passed them by, or failed.",
        [...this.#lookups.values()],
      ),
      counter(
        "modelmesh_cache_saved_usd_total",
        "Cost of repeated responses when they were received, in USD, where prices are known.",
        [...this.#saved.values()].map(({ labels, value }) => ({ labels, value: value / nanoPerUsd })),
      ),
      counter("modelmesh_hedged_total", "Requests for which a second model was asked.", [...this.#hedged.values()]),
      counter("modelmesh_hedge_won_total", "Hedged requests that the second model answered.", [
        ...this.#hedgesWon.values(),
      ]),
      ...durationFamilies([...this.#durations.values()]),
      {
        name: "modelmesh_overhead_seconds",
        help: "Time spent on a request outside of provider calls and backoff.",
        type: "histogram",
        samples: [...this.#overhead].map(([pool, histogram]) => histogram.sample({ pool })),
      },
      {
        name: "modelmesh_queue_wait_seconds",
        help: "Time that a request waited in the queue of its pool, of those that waited.",
        type: "histogram",
        samples: [...this.#waits].map(([pool, histogram]) => histogram.sample({ pool })),
      },
    ];
  }

  #getConsumption(
    { pool, model, provider, client, team }: {
      readonly pool: string;
      readonly model: string;
      readonly provider: string;
      readonly client: string;
      readonly team?: string | undefined;
    },
    owner: string,
  ): Consumption {
    const key = `${pool}\n${model}\n${provider}\n${client}\n${team ?? ""}\n${owner}`;
    return getOrCreate(this.#consumption, key, () => ({
      labels: { pool, model, provider, client, ...(team !== undefined && { team }) },
      owner,
      byStatus: new Map(),
      tokensIn: 0,
      tokensCached: 0,
      tokensOut: 0,
      costNanoUsd: 0,
      callerCostNanoUsd: 0,
    }));
  }

  #getDurations({ pool, model, provider, operation }: {
    readonly pool: string;
    readonly model: string;
    readonly provider: string;
    readonly operation: string;
  }): Durations {
    return getOrCreate(this.#durations, `${pool}\n${model}\n${provider}\n${operation}`, () => ({
      labels: { pool, model, provider, operation },
      nonStreaming: new Histogram(durationBounds),
      firstToken: new Histogram(firstTokenBounds),
      tokensIn: new Histogram(tokenBounds),
      tokensOut: new Histogram(tokenBounds),
    }));
  }
}

function toTokenSamples({ labels, tokensIn, tokensOut }: Consumption): readonly Sample[] {
  if (labels.pool === "") return [];
  return [
    { labels: { ...labels, direction: "input" }, value: tokensIn },
    { labels: { ...labels, direction: "output" }, value: tokensOut },
  ];
}

function counter(name: string, help: string, samples: readonly Sample[]): MetricFamily {
  return { name, help, type: "counter", samples: samples.map((sample) => ({ ...sample })) };
}

/** Counts by a key; the labels are created with the first one. */
function countRequest<Key>(counters: Map<Key, Sum>, key: Key, toLabels: (key: Key) => Labels): void {
  let sum = counters.get(key);
  if (sum === undefined) counters.set(key, sum = { labels: toLabels(key), value: 0 });
  sum.value++;
}

const toStatusLabels = (status: number): Labels => ({ status: String(status) });

/** Joins values to a map key. Names in a configuration contain no control characters. */
function joinLabels(values: readonly string[]): string {
  return values.join("\n");
}

/** Adds up samples with the same labels: of clients that have had the same name. */
function summed(samples: readonly Sample[]): readonly Sample[] {
  const sums = new Map<string, Sum>();
  for (const { labels, value } of samples) {
    getOrCreate(sums, joinLabels(Object.values(labels)), () => ({ labels, value: 0 })).value += value;
  }
  return [...sums.values()];
}

/** The shares of cached input of models with input. */
function toCachedRatios(consumption: readonly Consumption[]): readonly Sample[] {
  const models = new Map<string, { readonly labels: Labels; input: number; cached: number }>();
  for (const { labels: { model = "", provider = "" }, tokensIn, tokensCached } of consumption) {
    if (tokensIn === 0) continue;
    const empty = () => ({ labels: { model, provider }, input: 0, cached: 0 });
    const sum = getOrCreate(models, joinLabels([model, provider]), empty);
    sum.input += tokensIn;
    sum.cached += tokensCached;
  }
  return [...models.values()].map(({ labels, input, cached }) => ({ labels, value: Math.min(1, cached / input) }));
}

/** Counters of usage. */
function consumptionFamilies(consumption: readonly Consumption[]): MetricFamily[] {
  return [
    {
      name: "modelmesh_requests_total",
      help: "Finished requests, by HTTP status of the response.",
      type: "counter",
      samples: summed(
        consumption.flatMap(({ labels, byStatus }) =>
          [...byStatus.values()].map((sum) => ({ labels: { ...labels, ...sum.labels }, value: sum.value }))
        ),
      ),
    },
    {
      name: "modelmesh_tokens_total",
      help: "Input and output tokens.",
      type: "counter",
      samples: summed(consumption.flatMap(toTokenSamples)),
    },
    {
      name: "modelmesh_cached_input_tokens_total",
      help: "Input tokens that were read from a prompt cache.",
      type: "counter",
      samples: summed(
        consumption.flatMap(({ labels, tokensCached: value }) => labels.pool === "" ? [] : [{ labels, value }]),
      ),
    },
    {
      name: "modelmesh_cached_input_ratio",
      help: "Share of a model's input tokens that were read from a prompt cache, from 0 to 1, since the start.",
      type: "gauge",
      samples: toCachedRatios(consumption),
    },
    {
      name: "modelmesh_cost_usd_total",
      help: "Cost of requests in USD, where prices are known.",
      type: "counter",
      samples: summed(
        consumption.flatMap(({ labels, costNanoUsd }) =>
          labels.pool === "" ? [] : [{ labels, value: costNanoUsd / nanoPerUsd }]
        ),
      ),
    },
    {
      name: "modelmesh_byok_cost_usd_total",
      help: "Cost of requests that callers have paid with their own keys in USD, where prices are known.",
      type: "counter",
      samples: summed(
        consumption.flatMap(({ labels, callerCostNanoUsd: value }) =>
          value === 0 ? [] : [{ labels, value: value / nanoPerUsd }]
        ),
      ),
    },
  ];
}

/** Histograms of durations and token counts. */
function durationFamilies(durations: readonly Durations[]): MetricFamily[] {
  return [
    {
      name: "modelmesh_request_duration_seconds",
      help: "Time from the arrival of a request to the end of its response.",
      type: "histogram",
      samples: durations.map(({ labels, nonStreaming: complete }) => complete.sample(labels)),
    },
    {
      name: "modelmesh_time_to_first_token_seconds",
      help: "Time from the arrival of a request to the first content of its stream.",
      type: "histogram",
      samples: durations.map(({ labels, firstToken }) => firstToken.sample(labels)).filter(({ count }) => count > 0),
    },
    {
      name: "modelmesh_request_tokens",
      help: "Input and output tokens of a request.",
      type: "histogram",
      samples: durations.flatMap(({ labels, tokensIn, tokensOut }) => [
        tokensIn.sample({ ...labels, direction: "input" }),
        tokensOut.sample({ ...labels, direction: "output" }),
      ]).filter(({ count }) => count > 0),
    },
  ];
}
