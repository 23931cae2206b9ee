/**
 * Builds the section `observability`.
 * @module
 */
import { readAttributes } from "../check/attributes.ts";
import { type Report, show, suggest } from "../schema/report.ts";
import type { ObservabilityValues, SinkValues } from "../schema/observability.ts";
import { defaultLogging, defaultMinSeverity, defaultSink, defaultStatistics } from "../settings/defaults.ts";
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
  const builders: Readonly<Record<typeof sections[number], readonly Entry[]>> = {
    routing: (values.routing ?? []).map((entry) => [entry, {
      routing: { filter: values.events?.filter, includeMetadata: values.events?.include_metadata ?? true },
    }]),
    logging: (values.logging ?? []).map(({ level, redact_secrets, max_payload_size, ...sink }) => [sink, {
      logging: {
        level: level ?? defaultLogging.level,
        redactSecrets: redact_secrets ?? defaultLogging.redactSecrets,
        maxPayloadBytes: max_payload_size ?? defaultLogging.maxPayloadBytes,
      },
    }]),
    statistics: (values.statistics ?? []).map(({ flush_interval, retention, scopes, ...sink }) => [sink, {
      statistics: { flushIntervalMs: flush_interval ?? defaultStatistics.flushIntervalMs, scopes },
    }, retention]),
    tracing: (values.tracing ?? []).map(({ min_severity, ...sink }) => [sink, {
      tracing: { minSeverity: min_severity ?? defaultMinSeverity },
    }]),
  };
  return sections.flatMap((section) =>
    builders[section].map(([sink, output, retentionMs], index) => {
      const isOne = builders[section].length === 1;
      const path = `observability.${section}${isOne ? "" : `[${index}]`}`;
      return { ...readSink(sink, { ...context, section, path, retentionMs }), ...output };
    })
  );
}

/** A sink's connector and attributes, its output, and its retention, ms. */
type Entry = readonly [sink: SinkValues, output: SinkOutput, retentionMs?: number | undefined];

interface SinkContext {
  readonly section: string;
  readonly path: string;
  readonly retentionMs: number | undefined;
  readonly known: KnownConnectors;
  /** Whether the section `storage` is configured. */
  readonly hasStorage: boolean;
  readonly report: Report;
}

function readSink(
  { connector = defaultSink, config = {}, ...attributes }: SinkValues,
  { section, path, known, hasStorage, report, retentionMs }: SinkContext,
): Pick<SinkSettings, "connector" | "config"> {
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
