/**
 * What `/metrics` and metrics sinks print: the aggregator's labelled metrics, and what is true right now.
 * @module
 */
import type { MetricFamily, Sample } from "../contracts/metrics.ts";
/** What is true of pools right now. */
interface PoolsNow {
  readonly [pool: string]: { readonly models: readonly { readonly name: string; readonly status: string }[] };
}

/** A mesh whose metrics are printed. */
export interface MeasuredMesh {
  readonly statistics: {
    readonly metrics?: { families(): readonly MetricFamily[] };
    readonly inFlight: number;
  };
  /** Records that sinks could not deliver, by connector id. */
  readonly hub: { readonly lost: ReadonlyMap<string, number> };
  poolStatus(): PoolsNow;
}

/** Whose metrics are printed, where that is not everything. */
interface MetricsScope {
  /** The client's name; undefined: it has no requests of its own. */
  readonly name?: string;
  /** Its pools; undefined: all. */
  readonly pools?: ReadonlySet<string> | undefined;
}

/**
 * The metrics of a mesh as they stand; those of requests are empty where nothing asked the aggregator for them.
 *
 * @param mesh Ready.
 * @param scope Only what is this client's own.
 *   @default everything
 */
export function metricFamilies(mesh: MeasuredMesh, scope?: MetricsScope): readonly MetricFamily[] {
  const { statistics, hub } = mesh;
  const active: MetricFamily = {
    name: "modelmesh_model_active",
    help: "1 while the model is active in the pool, 0 while it is in standby.",
    type: "gauge",
    samples: Object.entries(mesh.poolStatus()).flatMap(([pool, { models }]) =>
      models.map(({ name, status }): Sample => ({ labels: { pool, model: name }, value: status === "active" ? 1 : 0 }))
    ),
  };
  const families: readonly MetricFamily[] = [
    ...statistics.metrics?.families() ?? [],
    active,
    {
      name: "modelmesh_requests_in_flight",
      help: "Requests that are being routed or answered.",
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
  return scope === undefined ? families : families.map((family) => ownOf(family, scope));
}

/** What has no client's name concerns others too; a model's state is what a client of its pool may see. */
function ownOf(family: MetricFamily, { name, pools }: MetricsScope): MetricFamily {
  const isOwn = ({ labels }: Pick<Sample, "labels">) =>
    labels.client !== undefined && labels.client === name ||
    family.name === "modelmesh_model_active" && (pools?.has(labels.pool!) ?? true);
  if (family.type === "histogram") return { ...family, samples: family.samples.filter(isOwn) };
  return { ...family, samples: family.samples.filter(isOwn) };
}
