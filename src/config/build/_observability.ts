/**
 * Builds the section `observability`.
 * @module
 */
import { readAttributes } from "../check/attributes.ts";
import { type Report, show, suggest } from "../schema/report.ts";
import type { Given } from "../schema/field.ts";
import { complete } from "../schema/complete.ts";
import { observability, type ObservabilityValues } from "../schema/observability.ts";
import { defaultSink } from "../settings/defaults.ts";
import type { KnownConnectors } from "../settings/known.ts";
import type { SinkOutput, SinkSettings } from "../settings/observability.ts";

/** The sections of sinks, in order. */
const sections = ["routing", "logging", "statistics", "tracing"] as const;

/**
 * Builds the sinks.
 *
 * @param values The parsed section.
 * @param context Known connectors, whether a storage is configured, and the problem report.
 */
export function buildObservability(
  values: ObservabilityValues,
  context: Pick<SinkContext, "known" | "hasStorage" | "report">,
): readonly SinkSettings[] {
  const { events, logging, statistics, tracing } = complete(observability, values);
  const outputs: Readonly<Record<typeof sections[number], readonly SinkOutput[] | undefined>> = {
    routing: values.routing?.map(() => ({ routing: events })),
    logging: logging?.map(({ level, redactSecrets, maxPayloadSize }) => ({
      logging: { level, redactSecrets, maxPayloadBytes: maxPayloadSize },
    })),
    statistics: statistics?.map(({ flushIntervalMs, scopes }) => ({ statistics: { flushIntervalMs, scopes } })),
    tracing: tracing?.map(({ minSeverity }) => ({ tracing: { minSeverity } })),
  };
  return sections.flatMap((section) =>
    (values[section] ?? []).map((sink: SinkValues, index, { length }) => {
      const path = `observability.${section}${length === 1 ? "" : `[${index}]`}`;
      return { ...readSink(sink, { ...context, section, path }), ...outputs[section]![index] };
    })
  );
}

/** What an entry of any section may have for its connector. */
type SinkValues =
  & Given<typeof observability.fields.routing.item>
  & Pick<Given<typeof observability.fields.statistics.item>, "retention">;

/** Keys of an entry that are attributes of its connector. */
const attributeKeys: readonly string[] = ["url", "path", "secret"];

interface SinkContext {
  readonly section: string;
  readonly path: string;
  readonly known: KnownConnectors;
  /** Whether the section `storage` is configured. */
  readonly hasStorage: boolean;
  readonly report: Report;
}

function readSink(
  sink: SinkValues,
  { section, path, known, hasStorage, report }: SinkContext,
): Pick<SinkSettings, "connector" | "config"> {
  const { connector = defaultSink, config = {}, retention: retentionMs } = sink;
  const attributes = Object.fromEntries(Object.entries(sink).filter(([key]) => attributeKeys.includes(key)));
  if (!known.observability.includes(connector)) {
    const problem = `no sink ${show(connector)} is registered${suggest(connector, known.observability)}`;
    report.problem(`${path}.connector`, problem);
  }
  const taken = known.findSections(connector);
  if (taken !== undefined && !taken.includes(section)) {
    report.problem(
      `${path}.connector`,
      `${show(connector)} has no effect here: it supports "observability.${taken[0]}"`,
    );
  }
  if (!hasStorage && known.needsStorage(connector) && !report.hasProblemAt(path)) {
    report.problem(`${path}.connector`, `${show(connector)} writes to the storage: add a section "storage"`);
  }
  const declared = known.findAttributes("observability", connector);
  const common = Object.keys(attributes);
  for (const name of common) {
    if (Object.hasOwn(config, name)) report.problem(`${path}.config.${name}`, `is also set outside of "config"`);
  }
  const context = { connector, declared, report };
  const given = {
    ...readAttributes(config, { ...context, path: `${path}.config` }),
    ...readAttributes(attributes, { ...context, path, common }),
  };
  const isRetained = declared === undefined || Object.hasOwn(declared, "retention");
  if (retentionMs !== undefined && !isRetained) {
    report.warn(`${path}.retention`, `has no effect: "${connector}" does not read it`);
  }
  for (const [name, { isRequired }] of Object.entries(declared ?? {})) {
    const isGiven = given[name] !== undefined && given[name] !== null;
    if (isRequired && !isGiven && !report.hasProblemAt(path)) {
      report.problem(`${path}.${name}`, `missing: "${connector}" requires it`);
    }
  }
  return { connector, config: retentionMs === undefined ? given : { retention: retentionMs, ...given } };
}
