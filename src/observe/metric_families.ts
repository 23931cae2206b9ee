/**
 * The metrics of `/metrics` and of metrics sinks: request metrics and current gauges.
 * @module
 */
import type { MetricFamily, Sample } from "../contracts/metrics.ts";
import { version } from "../version.ts";

/** A limit of a budget. */
interface BudgetNow {
  readonly scope: string;
  readonly id: string;
  readonly window: string;
  readonly timezone?: string;
  /** Nano-dollars. */
  readonly spent: number;
  /** Nano-dollars. */
  readonly limit: number;
}

/** The mesh whose metrics are exported. */
export interface MeasuredMesh {
  readonly statistics: {
    readonly metrics?: { families(): readonly MetricFamily[] };
    readonly inFlight: number;
  };
  /** Number of records that sinks could not deliver, by connector id. */
  readonly hub: { readonly lost: ReadonlyMap<string, number> };
  poolStatus(): {
    readonly [pool: string]: {
      readonly models: readonly { readonly name: string; readonly status: string }[];
      readonly waiting?: number;
    };
  };
  listBudgets(): readonly BudgetNow[];
}

/** Restricts metrics to one client. */
interface MetricsScope {
  /** Identity of the client, to which the metrics of requests are restricted already; undefined for one without. */
  readonly id?: string;
  /** Pools of the client; undefined for all. */
  readonly pools?: ReadonlySet<string> | undefined;
}

/**
 * Returns the current metrics of a mesh. Request metrics are empty unless an exporter has enabled them.
 *
 * @param mesh A mesh that is ready.
 * @param scope Restricts the metrics to one client.
 * @default all metrics
 */
export function metricFamilies(mesh: MeasuredMesh, scope?: MetricsScope): readonly MetricFamily[] {
  const { statistics, hub } = mesh;
  const pools = Object.entries(mesh.poolStatus());
  const active: MetricFamily = {
    name: "modelmesh_model_active",
    help: "1 while the model is active in the pool, 0 while it is in standby.",
    type: "gauge",
    samples: pools.flatMap(([pool, { models }]) =>
      models.map(({ name, status }): Sample => ({ labels: { pool, model: name }, value: status === "active" ? 1 : 0 }))
    ),
  };
  const families: readonly MetricFamily[] = [
    ...statistics.metrics?.families() ?? [],
    active,
    {
      name: "modelmesh_queue_length",
      help: "Requests that wait in the queue of a pool.",
      type: "gauge",
      samples: pools.flatMap(([pool, { waiting }]) =>
        waiting === undefined ? [] : { labels: { pool }, value: waiting }
      ),
    },
    ...budgetFamilies(mesh.listBudgets()),
    {
      name: "modelmesh_build_info",
      help: "1, labelled with the version.",
      type: "gauge",
      samples: [{ labels: { version }, value: 1 }],
    },
    {
      name: "modelmesh_requests_in_flight",
      help: "Requests in flight.",
      type: "gauge",
      samples: [{ labels: {}, value: statistics.inFlight }],
    },
    {
      name: "modelmesh_records_lost_total",
      help: "Records that a sink could not deliver.",
      type: "counter",
      samples: [...hub.lost].map(([sink, value]) => ({ labels: { sink }, value })),
    },
  ];
  return scope === undefined ? families : families.map((family) => restrictFamily(family, scope));
}

/** Gauges of budgets, in USD. */
function budgetFamilies(budgets: readonly BudgetNow[]): readonly MetricFamily[] {
  const gauge = (name: string, help: string, read: (budget: BudgetNow) => number): MetricFamily => ({
    name,
    help,
    type: "gauge",
    samples: budgets.map((budget) => {
      const { scope, id, window, timezone } = budget;
      const labels = { scope, id, window, ...(timezone !== undefined && { timezone }) };
      return { labels, value: read(budget) / 1e9 };
    }),
  });
  return [
    gauge(
      "modelmesh_budget_spent_usd",
      "Amount spent of a budget in its current window, in USD.",
      ({ spent }) => spent,
    ),
    gauge("modelmesh_budget_limit_usd", "Limit of a budget, in USD.", ({ limit }) => limit),
  ];
}

/** Gauges of pools, which a client may see of its own. */
const poolGauges: ReadonlySet<string> = new Set(["modelmesh_model_active", "modelmesh_queue_length"]);

/** Returns the samples of a family that a client may see: its own, and the state of its pools. */
function restrictFamily(family: MetricFamily, { id, pools }: MetricsScope): MetricFamily {
  const isOwn = ({ labels }: Pick<Sample, "labels">) =>
    id !== undefined && labels.client !== undefined ||
    id !== undefined && labels.scope === "client" && labels.id === id ||
    poolGauges.has(family.name) && (pools?.has(labels.pool!) ?? true);
  if (family.type === "histogram") return { ...family, samples: family.samples.filter(isOwn) };
  return { ...family, samples: family.samples.filter(isOwn) };
}
