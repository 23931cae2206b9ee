/**
 * Failures that no caller receives.
 * @module
 */
import type { TraceEntry } from "../contracts/events.ts";

/**
 * Describes a failure.
 *
 * @param what What has failed.
 * @param reason Anything that was thrown.
 */
export function toFailureFacts(what: string, reason: unknown): {
  /** What has failed, and with which error. */
  readonly message: string;
  /** The stack of the error, if it has one. */
  readonly stack?: string;
} {
  try {
    if (!(reason instanceof Error)) return { message: `${what}: ${String(reason)}` };
    const { name, message, stack } = reason;
    return { message: `${what}: ${name}: ${message}`, ...(stack !== undefined && { stack: String(stack) }) };
  } catch {
    return { message: `${what}: a value that cannot be described` };
  }
}

/** Traces the failure of work that nothing waits for, with its stack. */
export function followWork(work: Promise<unknown>, { hub, component, task }: {
  /** Receives the trace. */
  readonly hub: { trace(entry: Omit<TraceEntry, "type" | "timestamp">): void };
  readonly component: string;
  /** What is done, as the subject of a sentence. */
  readonly task: string;
}): void {
  work.catch((reason) => hub.trace({ severity: "error", component, ...toFailureFacts(`${task} failed`, reason) }));
}
