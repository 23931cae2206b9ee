/** Which of the waiting requests is next. */
import { assertEquals } from "@std/assert";
import { type Ordered, QueueOrder } from "../../src/pipeline/queue_order.ts";

interface Item extends Ordered {
  readonly name: string;
}

let sequence = 0;

function createItem(name: string, facts: Partial<Ordered> = {}): Item {
  const [client = ""] = name.split(" ");
  return { name, client, priority: 0, arrivedAt: 0, isReturning: false, sequence: ++sequence, ...facts };
}

function fill(...items: Item[]): QueueOrder<Item> {
  const order = new QueueOrder<Item>();
  for (const item of items) order.add(item);
  return order;
}

/** Takes so many items, and returns their names. */
function take(order: QueueOrder<Item>, count = Infinity, mayTake: (item: Item) => boolean = () => true): string[] {
  const taken: string[] = [];
  order.offer((item) => {
    if (!mayTake(item)) return false;
    order.delete(item);
    taken.push(item.name);
    return true;
  }, () => taken.length >= count);
  return taken;
}

Deno.test("clients come in turns, across several offers, and each client's requests by age", () => {
  const order = fill(...["a 1", "a 2", "a 3", "b 1", "b 2", "c 1"].map((name) => createItem(name)));
  assertEquals(take(order, 1), ["a 1"]);
  assertEquals(take(order, 2), ["b 1", "c 1"]);
  order.add(createItem("a 0", { arrivedAt: -1 }));
  assertEquals(take(order), ["a 0", "b 2", "a 2", "a 3"]);
  assertEquals(order.size, 0);
});

Deno.test("a higher priority comes first; a request that cannot be served holds up no other", () => {
  const order = fill(
    createItem("a 1"),
    createItem("a 2", { priority: 2 }),
    createItem("b 1", { priority: 2 }),
    createItem("b 2", { priority: 1 }),
  );
  assertEquals(take(order, 2, ({ name }) => name !== "a 2"), ["b 1", "b 2"]);
  assertEquals(take(order), ["a 2", "a 1"]);
});

Deno.test("a request that has taken something in vain is next again", () => {
  const [first, ...others] = ["a 1", "a 2", "b 1", "c 1"].map((name) => createItem(name));
  const order = fill(first!, ...others);
  take(order, 1);
  order.restore(first!);
  assertEquals(take(order), ["a 1", "b 1", "c 1", "a 2"]);
});

Deno.test("the last one is the newest of the client with most of the lowest priority", () => {
  const order = fill(
    createItem("a 1", { priority: 1 }),
    createItem("b 1"),
    createItem("b 2"),
    createItem("c 1"),
    createItem("c 2", { arrivedAt: 1 }),
  );
  const names: string[] = [];
  for (let last = order.findLast(); last !== undefined; last = order.findLast()) {
    names.push(last.name);
    order.delete(last);
  }
  assertEquals(names, ["c 2", "b 2", "c 1", "b 1", "a 1"]);
});

Deno.test("a request that returns precedes those that arrived at the same time", () => {
  const order = fill(createItem("a 1"), createItem("a 2"), createItem("a 0", { isReturning: true }));
  assertEquals(take(order), ["a 0", "a 1", "a 2"]);
});
