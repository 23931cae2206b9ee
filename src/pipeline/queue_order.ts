/**
 * The order of waiting requests: by priority, then in turns by client, then by age.
 * @module
 */

/** What the order is made of. */
export interface Ordered {
  /** The highest first. */
  readonly priority: number;
  /** Identity of the client; empty for requests without one. */
  readonly client: string;
  /** When its request arrived, monotonic ms. */
  readonly arrivedAt: number;
  /** Whether the request was admitted before: it precedes those that arrived at the same time. */
  readonly isReturning: boolean;
  /** Increases with each item. */
  readonly sequence: number;
}

/** Items of one priority by client, in the order of their turns. Each client has at least one, oldest first. */
type Level<Item> = Map<string, Item[]>;

/** Items in order. */
export class QueueOrder<Item extends Ordered> {
  readonly #levels = new Map<number, Level<Item>>();
  /** Descending. */
  #priorities: readonly number[] = [];
  #size = 0;

  /** Number of items. */
  get size(): number {
    return this.#size;
  }

  /** Returns all items, in no particular order. */
  items(): Item[] {
    return [...this.#levels.values()].flatMap((level) => [...level.values()].flat());
  }

  /** Adds an item, behind older ones of its client and priority. A client's first one waits for its turn at the end. */
  add(item: Item): void {
    const { priority, client } = item;
    let level = this.#levels.get(priority);
    if (level === undefined) {
      this.#levels.set(priority, level = new Map());
      this.#priorities = [...this.#levels.keys()].sort((first, second) => second - first);
    }
    const lane = level.get(client);
    this.#size++;
    if (lane === undefined) return void level.set(client, [item]);
    let index = lane.length;
    while (index > 0 && isBefore(item, lane[index - 1]!)) index--;
    lane.splice(index, 0, item);
  }

  /** Adds an item again that has taken something in vain: it is the turn of its client again. */
  restore(item: Item): void {
    const { priority, client } = item;
    this.add(item);
    const level = this.#levels.get(priority)!;
    const others = [...level].filter(([other]) => other !== client);
    const lane = level.get(client)!;
    level.clear();
    for (const [name, items] of [[client, lane] as const, ...others]) level.set(name, items);
  }

  /** Removes an item. */
  delete(item: Item): void {
    const { priority, client } = item;
    const level = this.#levels.get(priority);
    const lane = level?.get(client) ?? [];
    const index = lane.indexOf(item);
    if (index < 0) return;
    lane.splice(index, 1);
    this.#size--;
    if (lane.length > 0) return;
    level!.delete(client);
    if (level!.size > 0) return;
    this.#levels.delete(priority);
    this.#priorities = this.#priorities.filter((other) => other !== priority);
  }

  /**
   * Offers something to the items in order. An item that takes it ends the turn of its client, which is then the last
   * one of its priority.
   *
   * @param take Whether an item takes it. It then deletes that item; it must not change others.
   * @param isOver Whether nothing is left to take.
   */
  offer(take: (item: Item) => boolean, isOver: () => boolean): void {
    for (const priority of this.#priorities) {
      const level = this.#levels.get(priority)!;
      for (const [client, lane] of level) { // a client whose turn ends is visited again
        if (isOver()) return;
        if (lane.some((item) => !isOver() && take(item)) && level.delete(client)) level.set(client, lane);
      }
    }
  }

  /** Returns the item that has to go first if there are too many: the newest of the client that has most of the lowest priority. */
  findLast(): Item | undefined {
    const level = this.#levels.get(this.#priorities.at(-1) ?? 0);
    let longest: readonly Item[] = [];
    for (const lane of level?.values() ?? []) {
      const isLonger = lane.length > longest.length;
      if (isLonger || lane.length === longest.length && !isBefore(lane.at(-1)!, longest.at(-1)!)) longest = lane;
    }
    return longest.at(-1);
  }
}

/** Whether an item of a client precedes another one. */
function isBefore(item: Ordered, other: Ordered): boolean {
  if (item.arrivedAt !== other.arrivedAt) return item.arrivedAt < other.arrivedAt;
  return item.isReturning === other.isReturning ? item.sequence < other.sequence : item.isReturning;
}
