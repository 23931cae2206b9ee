/**
 * One batch of ours that is several of the provider's.
 * @module
 */
import type { Batch, BatchStatus } from "../contracts/infrastructure.ts";

/** States in which a batch changes no more. */
const ends: ReadonlySet<BatchStatus> = new Set(["completed", "failed", "expired", "cancelled"]);

/** Times of states: the first one's counts for a beginning, the last one's for an end. */
const earliest = ["created_at", "in_progress_at", "cancelling_at", "expires_at"];
const latest = ["finalizing_at", "completed_at", "failed_at", "expired_at", "cancelled_at"];

/** Whether a batch changes no more. */
export function isOver({ status }: Pick<Batch, "status">): boolean {
  return ends.has(status);
}

/**
 * Batches as one. Their files are still the provider's own.
 *
 * @param parts At least one.
 */
export function joined(parts: readonly Batch[]): Batch {
  const [first] = parts;
  if (parts.length === 1) return first!;
  const status = statusOf(parts.map((part) => part.status));
  const times: Record<string, number> = {};
  const add = (names: readonly string[], pick: (...times: number[]) => number) => {
    for (const name of names) {
      const known = parts.flatMap((part) => typeof part[name] === "number" ? part[name] as number : []);
      const isMeant = !name.endsWith("ed_at") || name === "created_at" || name === `${status}_at`;
      if (known.length > 0 && isMeant) times[name] = pick(...known);
    }
  };
  add(earliest, Math.min);
  add(latest, Math.max);
  const data = parts.flatMap(({ errors }) => errors?.data ?? []);
  return {
    ...without(first!, [...earliest, ...latest]),
    ...times,
    status,
    errors: data.length === 0 ? null : { object: "list", data },
    request_counts: sumOf(parts.map(({ request_counts }) => request_counts ?? undefined)),
  } as Batch;
}

/**
 * The state of all: an end once all have ended, and the worst of their ends; before it the earliest of their states, save
 * that what has begun anywhere is in progress.
 */
function statusOf(states: readonly BatchStatus[]): BatchStatus {
  const has = (state: BatchStatus) => states.includes(state);
  if (states.every((state) => ends.has(state))) {
    return (["failed", "cancelled", "expired"] as const).find(has) ?? "completed";
  }
  if (has("cancelling")) return "cancelling";
  if (states.every((state) => state === "validating")) return "validating";
  return states.every((state) => ends.has(state) || state === "finalizing") ? "finalizing" : "in_progress";
}

type Counts = NonNullable<Batch["request_counts"]>;

function sumOf(counts: readonly (Counts | undefined)[]): Counts {
  const sum = (name: keyof Counts) => counts.reduce((total, one) => total + (one?.[name] ?? 0), 0);
  return { total: sum("total"), completed: sum("completed"), failed: sum("failed") };
}

function without(batch: Batch, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(batch).filter(([name]) => !names.includes(name)));
}
