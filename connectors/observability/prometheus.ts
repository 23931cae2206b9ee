/**
 * Exports metrics to Prometheus from programs without `/metrics`: as a file, or pushed to a gateway.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { MetricFamily } from "../../src/contracts/metrics.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError } from "../../src/errors.ts";
import { prometheusMediaType, prometheusText } from "../../src/util/prometheus_text.ts";
import { prometheusDeclaration } from "./declarations.ts";
import { DeliveryQueue } from "./_delivery_queue.ts";
import { post } from "./_post.ts";

/** Writes or pushes an exposition at each interval; its declaration documents the attributes. */
export const prometheusObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign(
  { create: createPrometheusSink },
  prometheusDeclaration,
);

function createPrometheusSink({ path, url }: Readonly<Record<string, unknown>>, runtime: Runtime): Observability {
  if ((path === undefined) === (url === undefined)) throw createPrometheusError('requires either "path" or "url"');
  if (path !== undefined && runtime.disk === undefined) {
    throw createPrometheusError("requires file access, which this runtime does not have");
  }
  const publish = path === undefined
    ? (body: string) => {
      const headers = { "content-type": prometheusMediaType };
      return post(() => Promise.resolve({ url: url as string, method: "PUT", headers, body }), runtime);
    }
    : (text: string) => runtime.disk!.replace(path as string, new TextEncoder().encode(text));
  // only the latest metrics count: queued ones are replaced without loss
  let latest: readonly MetricFamily[] = [];
  const queue = new DeliveryQueue<void>({
    capacity: Infinity,
    batch: Infinity,
    deliver: () => publish(prometheusText(latest)),
  });
  return {
    get lost() {
      return queue.lost;
    },
    emit: () => {},
    trace: () => {},
    flush(report) {
      if (report !== undefined) {
        latest = report.families();
        queue.add();
      }
      return queue.idle();
    },
  };
}

function createPrometheusError(message: string): ConfigError {
  return new ConfigError([{ path: "observability.statistics", message: `"mesh.prometheus.v1" ${message}` }]);
}
