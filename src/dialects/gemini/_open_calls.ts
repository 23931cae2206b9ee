/**
 * The calls of a model turn that have no result yet.
 * @module
 */
import { Queue } from "../../util/queue.ts";

/** A call. */
interface PendingCall {
  readonly id: string;
  readonly name: string;
}

interface PendingEntry {
  readonly call: PendingCall;
  isTaken: boolean;
}

/** Calls in order. Each of them is found in constant time, however many there are. */
export class OpenCalls {
  readonly #all = new Queue<PendingEntry>();
  readonly #byId = new Map<string, Queue<PendingEntry>>();
  readonly #byName = new Map<string, Queue<PendingEntry>>();

  /** @param calls The calls of the turn. */
  constructor(calls: readonly PendingCall[] = []) {
    for (const call of calls) {
      const entry = { call, isTaken: false };
      this.#all.push(entry);
      queueAt(this.#byId, call.id).push(entry);
      queueAt(this.#byName, call.name).push(entry);
    }
  }

  /** The first call without a result. */
  get first(): PendingCall | undefined {
    return firstIn(this.#all)?.call;
  }

  /**
   * Takes the call that a result belongs to.
   *
   * @param id Its id, which has precedence.
   * @param name Its name: results may come without ids.
   * @returns Undefined if there is no such call without a result.
   */
  take(id: string | undefined, name: string | undefined): PendingCall | undefined {
    const entry = firstAt(this.#byId, id) ?? firstAt(this.#byName, name);
    if (entry !== undefined) entry.isTaken = true;
    return entry?.call;
  }
}

function queueAt(queues: Map<string, Queue<PendingEntry>>, key: string): Queue<PendingEntry> {
  const waiting = queues.get(key);
  if (waiting !== undefined) return waiting;
  const queue = new Queue<PendingEntry>();
  queues.set(key, queue);
  return queue;
}

function firstAt(queues: ReadonlyMap<string, Queue<PendingEntry>>, key: string | undefined): PendingEntry | undefined {
  return key === undefined ? undefined : firstIn(queues.get(key));
}

function firstIn(queue: Queue<PendingEntry> | undefined): PendingEntry | undefined {
  while (queue?.first?.isTaken) queue.shift();
  return queue?.first;
}
