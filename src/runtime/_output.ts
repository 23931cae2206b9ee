/**
 * Standard streams that take many small strings in few writes.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type { Output } from "../contracts/shell.ts";
import { callAfter } from "./_timers.ts";

/** How long a string that may wait waits for others, ms. */
const soonMs = 10;

/** Strings that may wait are written as soon as they are so many characters. */
const maxWaiting = 64 * 1024;

interface OutputParts extends Pick<Output, "isTerminal" | "write"> {
  /** Calls a task before the process ends, whatever ends it. */
  readonly onExit: (task: () => void) => void;
}

/** Buffers a stream that writes at once. */
export function outputOf({ isTerminal, write, onExit }: OutputParts): Output {
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
