/**
 * Rejected promises that no code handles: a defect, which must not end a process that serves others.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type { Shell } from "../contracts/shell.ts";
import type { Engine } from "../engine/engine.ts";
import { toFailureFacts } from "../util/failure.ts";
import { LogRateLimit } from "./log_rate_limit.ts";

/**
 * Traces unhandled rejections with their stack, at most 10 per second, and keeps the process running. Where no sink
 * receives traces, standard error does.
 */
export function traceUnhandled({ shell, mesh, hasConsole }: {
  /** The process. */
  readonly shell: Pick<Shell, "onUnhandledRejection" | "stderr">;
  /** Returns the current mesh, whose sinks receive the traces. */
  readonly mesh: () => Engine;
  /** Whether a console shows them, besides the sinks of the configuration. */
  readonly hasConsole: boolean;
}): Cancel {
  const lines = new LogRateLimit();
  return shell.onUnhandledRejection((reason) => {
    const { hub, redact, settings: { observability }, runtime: { clock } } = mesh();
    const suppressed = lines.take(clock.monotonic());
    if (suppressed === undefined) return;
    const facts = toFailureFacts("Unhandled rejection", reason);
    hub.trace({ severity: "error", component: "process", ...facts, ...(suppressed > 0 && { suppressed }) });
    if (hasConsole || observability.some(({ tracing }) => tracing !== undefined)) return;
    shell.stderr.write(redact(`${facts.message}\n${facts.stack ?? ""}\n`));
  });
}
