/**
 * Buffers standard streams, to combine small writes.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type { Output } from "../contracts/shell.ts";
import { callAfter } from "./_timers.ts";

/** Maximum delay of a buffered string, ms. */
const soonMs = 10;

/** Size at which buffered strings are written immediately, characters. */
const maxWaiting = 64 * 1024;

/** Buffers a synchronous stream. */
export function createOutput({ isTerminal, write, onExit }: Pick<Output, "isTerminal" | "write"> & {
  /** Calls a task before the process ends, for any reason. */
  readonly onExit: (task: () => void) => void;
}): Output {
  let waiting = "";
  let cancel: Cancel | undefined;
  let hasExitHook = false;
  const flush = () => {
    cancel?.();
    cancel = undefined;
    const text = waiting;
    waiting = "";
    if (text !== "") write(text);
  };
  return {
    isTerminal,
    write(text) {
      flush();
      return write(text);
    },
    writeSoon(text) {
      waiting += text;
      if (isTerminal || waiting.length >= maxWaiting) return flush();
      if (!hasExitHook) onExit(flush);
      hasExitHook = true;
      cancel ??= callAfter(soonMs, flush);
    },
  };
}
