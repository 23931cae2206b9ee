/**
 * The calls of a model turn that have no result yet.
 * @module
 */
import { Queue } from "../../util/queue.ts";

/** A call. */
interface OpenCall {
  readonly id: string;
  readonly name: string;
}

interface Entry {
  readonly call: OpenCall;
  isTaken: boolean;
}

/** Calls in order. Each of them is found in constant time, however many there are. */
export class OpenCalls {
  readonly #all = new Queue<Entry>();
  readonly #byId = new Map<string, Queue<Entry>>();
  readonly #byName = new Map<string, Queue<Entry>>();

  /** @param calls The calls of the turn. */
  constructor(calls: readonly OpenCall[] = []) {
    for (const call of calls) {
      const entry = { call, isTaken: false };
      this.#all.push(entry);
      queueAt(this.#byId, call.id).push(entry);
      queueAt(this.#byName, call.name).push(entry);
    }
  }

  /** The first call without a result. */
  get first(): OpenCall | undefined {
    return firstIn(this.#all)?.call;
  }

  /**
   * Takes the call that a result belongs to.
   *
   * @param id Its id, which has precedence.
   * @param name Its name: results may come without ids.
   * @returns Undefined if there is no such call without a result.
   */
  take(id: string | undefined, name: string | undefined): OpenCall | undefined {
    const entry = firstAt(this.#byId, id) ?? firstAt(this.#byName, name);
    if (entry !== undefined) entry.isTaken = true;
    return entry?.call;
  }
}

function queueAt(queues: Map<string, Queue<Entry>>, key: string): Queue<Entry> {
  const known = queues.get(key);
  if (known !== undefined) return known;
  const queue = new Queue<Entry>();
  queues.set(key, queue);
  return queue;
}

function firstAt(queues: ReadonlyMap<string, Queue<Entry>>, key: string | undefined): Entry | undefined {
  return key === undefined ? undefined : firstIn(queues.get(key));
}

function firstIn(queue: Queue<Entry> | undefined): Entry | undefined {
  while (queue?.first?.isTaken) queue.shift();
  return queue?.first;
}
