import { assertEquals } from "@std/assert";
import { type Indexed, IndexedSet } from "../../src/util/bag.ts";

interface Named extends Indexed {
  readonly name: string;
}

function createBag(...names: string[]): { bag: IndexedSet<Named>; things: Named[] } {
  const bag = new IndexedSet<Named>();
  const things = names.map((name): Named => ({ name }));
  for (const thing of things) bag.add(thing);
  return { bag, things };
}

const namesIn = (bag: IndexedSet<Named>) => bag.all.map(({ name }) => name).sort();

Deno.test("a bag holds what was added and not taken out, whichever it is", () => {
  for (const gone of [0, 1, 2]) {
    const { bag, things } = createBag("a", "b", "c");
    assertEquals([bag.delete(things[gone]!), bag.size], [true, 2]);
    assertEquals(namesIn(bag), things.filter((_, place) => place !== gone).map(({ name }) => name));
  }
});

Deno.test("a bag gives a thing away once, and takes it back", () => {
  const { bag, things: [a, b] } = createBag("a", "b");
  assertEquals([bag.delete(a!), bag.delete(a!), bag.delete({ name: "c" })], [true, false, false]);
  bag.add(a!);
  assertEquals([bag.delete(b!), namesIn(bag)], [true, ["a"]]);
});

Deno.test("a bag can be emptied while one goes through it", () => {
  const { bag } = createBag("a", "b", "c", "d");
  for (const thing of bag.all) bag.delete(thing);
  assertEquals([bag.size, bag.all], [0, []]);
});
