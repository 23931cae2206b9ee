/**
 * Combines several batches of a provider into one.
 * @module
 */
import type { Batch, BatchStatus } from "../contracts/infrastructure.ts";

/** Terminal states of a batch. */
const ends: ReadonlySet<BatchStatus> = new Set(["completed", "failed", "expired", "cancelled"]);

/** Timestamps of which the earliest is used, and those of which the latest is used. */
const earliest = ["created_at", "in_progress_at", "cancelling_at", "expires_at"];
const latest = ["finalizing_at", "completed_at", "failed_at", "expired_at", "cancelled_at"];

/** Whether a batch is in a terminal state. */
export function isFinished({ status }: Pick<Batch, "status">): boolean {
  return ends.has(status);
}

/**
 * Combines batches. Their files keep the provider's ids.
 *
 * @param parts At least one batch.
 */
export function joinBatches(parts: readonly Batch[]): Batch {
  const [first] = parts;
  if (parts.length === 1) return first!;
  const status = combineStatus(parts.map((part) => part.status));
  const times: Record<string, number> = {};
  const add = (names: readonly string[], pick: (...times: number[]) => number) => {
    for (const name of names) {
      const counts = parts.flatMap((part) => typeof part[name] === "number" ? part[name] as number : []);
      const isReached = !name.endsWith("ed_at") || name === "created_at" || name === `${status}_at`;
      if (counts.length > 0 && isReached) times[name] = pick(...counts);
    }
  };
  add(earliest, Math.min);
  add(latest, Math.max);
  const data = parts.flatMap(({ errors }) => errors?.data ?? []);
  return {
    ...omitMembers(first!, [...earliest, ...latest]),
    ...times,
    status,
    errors: data.length === 0 ? null : { object: "list", data },
    request_counts: addCounts(parts.map(({ request_counts }) => request_counts ?? undefined)),
  } as Batch;
}

/**
 * Returns the combined status: terminal once all batches are, and then the worst one; before that the earliest status,
 * or `in_progress` if any batch has begun.
 */
function combineStatus(states: readonly BatchStatus[]): BatchStatus {
  const has = (state: BatchStatus) => states.includes(state);
  if (states.every((state) => ends.has(state))) {
    return (["failed", "cancelled", "expired"] as const).find(has) ?? "completed";
  }
  if (has("cancelling")) return "cancelling";
  if (states.every((state) => state === "validating")) return "validating";
  return states.every((state) => ends.has(state) || state === "finalizing") ? "finalizing" : "in_progress";
}

type Counts = NonNullable<Batch["request_counts"]>;

function addCounts(counts: readonly (Counts | undefined)[]): Counts {
  const sum = (name: keyof Counts) => counts.reduce((total, count) => total + (count?.[name] ?? 0), 0);
  return { total: sum("total"), completed: sum("completed"), failed: sum("failed") };
}

function omitMembers(batch: Batch, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(batch).filter(([name]) => !names.includes(name)));
}
