/**
 * Conditions of the entries of `observability`.
 * @module
 */
import { observability } from "./observability.ts";
import type { Condition, SinkSubject } from "./condition.ts";

/** Bytes that the 200 characters of a summary have at most. */
const maxSummaryBytes = 800;

/** Conditions of an entry of `observability.logging`. */
export const sinkConditions = (): readonly Condition<SinkSubject>[] => [
  {
    keys: ["redact_secrets"],
    idle: [true],
    reason: ({ value }) =>
      getLevel(value) === "metadata" ? ': no payloads are logged at the level "metadata"' : undefined,
  },
  {
    keys: ["max_payload_size"],
    reason: ({ value }) => {
      const level = getLevel(value);
      if (level === "metadata") return ': no payloads are logged at the level "metadata"';
      const isWhole = level === "summary" && Number(value.max_payload_size) >= maxSummaryBytes;
      return isWhole ? ': at the level "summary", 200 characters are logged' : undefined;
    },
  },
];

function getLevel({ level }: SinkSubject["value"]): unknown {
  return level ?? observability.fields.logging.item.fields.level.default;
}
