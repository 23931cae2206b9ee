import { assert, assertEquals } from "@std/assert";
import { fakeClock } from "../../src/runtime/test.ts";
import { Conversations } from "../../src/state/model/conversations.ts";
import { ConversationEvents } from "../../src/state/sharing/conversation_events.ts";
import { MemoryShared } from "../support/memory_shared.ts";

const served = { model: "a", keyIndex: undefined, ttlMs: 60_000, isServed: true } as const;

Deno.test("Conversations forgets the least recently used one beyond its maximum", () => {
  const conversations = new Conversations(fakeClock());
  for (let number = 0; number < 10_000; number++) conversations.set(`${number}`, served);
  conversations.set("0", served);
  for (let number = 10_000; number < 12_000; number++) {
    conversations.set("0", served);
    conversations.set(`${number}`, served);
  }
  assertEquals(conversations.size, 10_000);
  assertEquals(conversations.find("0")?.model, "a");
  assertEquals(conversations.find("1"), undefined);
});

/** A store that delivers messages to all its subscribers, a turn of the event loop later. */
class Messages extends MemoryShared {
  readonly #receivers = new Set<(message: string) => void>();

  override async publish(_channel?: string, message?: string): Promise<void> {
    if (this.isUnavailable) throw new Error("unavailable");
    await Promise.resolve();
    for (const receive of this.#receivers) receive(message!);
  }

  override subscribe(_channel?: string, receive?: (message: string) => void): Promise<() => Promise<void>> {
    this.#receivers.add(receive!);
    return Promise.resolve(() => Promise.resolve());
  }
}

/** Two processes on one store. */
function twoProcesses() {
  const clock = fakeClock({ now: 1_000_000 });
  const shared = new Messages();
  const failures: unknown[] = [];
  const work: Promise<void>[] = [];
  const processes = [0, 1].map(() => {
    const conversations = new Conversations(clock);
    const follow = (promise: Promise<void>) => work.push(promise.catch((error) => void failures.push(error)));
    return { conversations, events: new ConversationEvents(conversations, { shared, clock, follow }) };
  });
  const [one, two] = processes as [typeof processes[0], typeof processes[0]];
  const settle = async () => {
    while (work.length > 0) await work.shift();
  };
  return { clock, shared, failures, one, two, settle };
}

Deno.test("ConversationEvents agrees on the later of two models that processes choose at once", async () => {
  const { one, two, settle } = twoProcesses();
  await one.events.sync();
  await two.events.sync();
  one.conversations.set("h", served);
  two.conversations.set("h", { ...served, model: "b" });
  await settle();
  assertEquals(one.conversations.find("h")?.model, two.conversations.find("h")?.model);
  one.conversations.set("h", { ...served, model: "c", keyIndex: 2 });
  await settle();
  assertEquals([two.conversations.find("h")?.model, two.conversations.find("h")?.keyIndex], ["c", 2]);
});

Deno.test("ConversationEvents shares the lifetimes that uses begin anew", async () => {
  const { clock, one, two, settle } = twoProcesses();
  await one.events.sync();
  await two.events.sync();
  for (let seconds = 0; seconds < 300; seconds += 10) {
    one.conversations.set("h", served);
    await settle();
    await clock.advance(10_000);
    assert(two.conversations.find("h") !== undefined, `after ${seconds} s`);
  }
  await clock.advance(60_000);
  assertEquals(two.conversations.find("h"), undefined);
});

Deno.test("ConversationEvents gives a process that joins all conversations, and those of an outage afterwards", async () => {
  const { shared, failures, one, two, settle } = twoProcesses();
  await one.events.sync();
  for (let number = 0; number < 1_200; number++) one.conversations.set(`${number}`, served);
  await settle();
  await two.events.sync();
  await settle();
  assertEquals(two.conversations.size, 1_200);
  shared.isUnavailable = true;
  one.conversations.set("late", served);
  await settle();
  assert(failures.length > 0);
  assertEquals(two.conversations.find("late"), undefined);
  shared.isUnavailable = false;
  await one.events.sync();
  assertEquals(two.conversations.find("late")?.model, "a");
});

Deno.test("ConversationEvents ignores messages of another form", async () => {
  const { shared, one, settle } = twoProcesses();
  await one.events.sync();
  const entry = ["h", "a", null, 60_000, 60_000, 1, "p"];
  for (const bad of [["h"], ["h", "a", -1, 1, 1, 1, "p"], ["h", "a", null, "1", 1, 1, "p"], null]) {
    await shared.publish("conversations", JSON.stringify({ from: "p", conversations: [bad] }));
  }
  await shared.publish("conversations", "{");
  await shared.publish("conversations", JSON.stringify({ from: "p", conversations: {} }));
  assertEquals(one.conversations.size, 0);
  await shared.publish("conversations", JSON.stringify({ from: "p", conversations: [entry] }));
  await settle();
  assertEquals(one.conversations.find("h")?.model, "a");
});
