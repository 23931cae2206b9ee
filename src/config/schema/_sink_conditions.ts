/**
 * Conditions of the entries of `observability`.
 * @module
 */
import { defaultLogging } from "../settings/defaults.ts";
import type { Condition, SinkSubject } from "./condition.ts";

/** Bytes that the 200 characters of a summary have at most. */
const maxSummaryBytes = 800;

/** Conditions of an entry of `observability.logging`. */
export const sinkConditions = (): readonly Condition<SinkSubject>[] => [
  {
    keys: ["redact_secrets"],
    idle: [true],
    reason: ({ value: { level = defaultLogging.level } }) =>
      level === "metadata" ? ': no payloads are logged at the level "metadata"' : undefined,
  },
  {
    keys: ["max_payload_size"],
    reason: ({ value: { level = defaultLogging.level, max_payload_size } }) => {
      if (level === "metadata") return ': no payloads are logged at the level "metadata"';
      const isWhole = level === "summary" && Number(max_payload_size) >= maxSummaryBytes;
      return isWhole ? ': at the level "summary", 200 characters are logged' : undefined;
    },
  },
];
