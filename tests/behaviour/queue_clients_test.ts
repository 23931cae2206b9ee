/** The queue of a pool between clients: in turns, by the priority that each may have, and over several processes. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, memoryStorage, ModelMesh, stateIn } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { messages } from "../support/_library.ts";
import { HeldCalls, queueConfig, type QueueTuning } from "../support/_queue.ts";
import { MemoryShared } from "../support/memory_shared.ts";
import { becomes, until } from "../support/patience.ts";

const toToken = (name: string) => `token-of-${name}-0123456789`;

/** A proxy over a pool `chat` with a queue, without sockets. */
async function start(tuning: QueueTuning, clients: readonly object[], pools?: object) {
  const [clock, calls] = [fakeClock(), new HeldCalls()];
  const mesh = new ModelMesh({ clock });
  const tokens = clients.map((client) => ({ token: toToken((client as { name: string }).name), ...client }));
  const config: Record<string, unknown> = { ...queueConfig(tuning, calls), proxy: { auth: { tokens } } };
  if (pools !== undefined) config.pools = { "*": { queue: tuning.queue }, ...pools };
  await mesh.initialize(config);
  const handler = createHandler(mesh);
  const send = (path: string, name: string, init: RequestInit = {}) =>
    handler(
      new Request(`http://127.0.0.1${path}`, {
        ...init,
        headers: { "content-type": "application/json", authorization: `Bearer ${toToken(name)}`, ...init.headers },
      }),
    );
  return {
    calls,
    clock,
    get waiting() {
      return mesh.poolStatus().chat!.waiting;
    },
    get: async (path: string, name = "") => await (await send(path, name)).text(),
    /** Sends a request of a client, and returns the text of the response, or the code of the error. */
    async ask(name: string, text: string, headers: Record<string, string> = {}, model = "chat"): Promise<string> {
      const body = JSON.stringify({ model, messages: [{ role: "user", content: text }] });
      const response = await send("/v1/chat/completions", name, { method: "POST", body, headers });
      const { choices, error } = await response.json();
      return choices?.[0].message.content ?? `${error.code} ${error.param ?? ""}`.trim();
    },
    /** Ends calls, the oldest first, until none is in progress. */
    async serveAll() {
      for (let [call] = calls.open; call !== undefined; [call] = calls.open) {
        call.respond();
        await clock.advance(0);
      }
    },
    [Symbol.asyncDispose]: () => mesh.close(),
  };
}

const single = { limits: { a: { concurrent: 1 } } };
const times = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe("Waiting requests of several clients", () => {
  const clients = [{ name: "many" }, { name: "few" }, { name: "one" }];

  it("are served in turns, however many one client has", async () => {
    await using scene = await start(single, clients);
    const answers = times(20).map((number) => scene.ask("many", `many ${number}`));
    await becomes(() => scene.waiting, 19);
    answers.push(scene.ask("few", "few 1"), scene.ask("few", "few 2"), scene.ask("one", "one 1"));
    await becomes(() => scene.waiting, 22);
    await scene.serveAll();
    await Promise.all(answers);
    assertEquals(scene.calls.texts.slice(0, 7), [
      "many 1",
      "many 2",
      "few 1",
      "one 1",
      "many 3",
      "few 2",
      "many 4",
    ]);
    assertEquals(scene.calls.texts.slice(7), times(20).slice(4).map((number) => `many ${number}`));
  });

  it("keep their turns when others of their client have left", async () => {
    await using scene = await start({ ...single, queue: { max_wait: "2s" } }, clients);
    const answers = times(5).map((number) => scene.ask("many", `many ${number}`));
    await becomes(() => scene.waiting, 4);
    await scene.clock.advance(1_999);
    answers.push(scene.ask("many", "late"), scene.ask("few", "few 1"), scene.ask("few", "few 2"));
    await becomes(() => scene.waiting, 7);
    await scene.clock.advance(1);
    await scene.serveAll();
    assertEquals(scene.calls.texts, ["many 1", "late", "few 1", "few 2"]);
    await Promise.all(answers);
  });

  it("leave room in a full queue for those of other clients", async () => {
    await using scene = await start({ ...single, queue: { max_length: 4 } }, clients);
    const answers = times(5).map((number) => scene.ask("many", `many ${number}`));
    await becomes(() => scene.waiting, 4);
    const other = scene.ask("few", "few 1");
    assertEquals(await answers[4], "rate_limit_exceeded");
    assertEquals([scene.waiting, await scene.ask("many", "many 6")], [4, "rate_limit_exceeded"]);
    await scene.serveAll();
    assertEquals(await other, "few 1");
    assertEquals(scene.calls.texts, ["many 1", "many 2", "few 1", "many 3", "many 4"]);
    await Promise.all(answers);
  });
});

describe("A queue of models that clients share in part", () => {
  const pools = { one: { models: ["a", "b"] }, two: { models: ["b", "c"] } };
  const clients = Object.keys(pools).map((pool) => ({ name: pool, pools: [pool] }));
  const limits = { a: { concurrent: 1 }, b: { concurrent: 1 }, c: { concurrent: 1 } };

  it("is one, of one length", async () => {
    await using scene = await start({ limits, model: { model: "same" }, queue: { max_length: 3 } }, clients, pools);
    const answers = times(12).map((number) => scene.ask(number % 2 ? "one" : "two", `${number}`, {}, "same"));
    await becomes(() => scene.calls.open.length, 3);
    await scene.clock.advance(1_000);
    await scene.serveAll();
    assertEquals((await Promise.all(answers)).filter((answer) => answer === "rate_limit_exceeded").length, 12 - 3 - 3);
  });
});

describe("The priority of a request", () => {
  it("is at most that of its client, or any for one without limits", async () => {
    const clients = [{ name: "app", rpm: 100, priority: 5 }, { name: "batch", rpm: 100 }, { name: "free" }];
    await using scene = await start(single, clients);
    const first = scene.ask("free", "first");
    await becomes(() => scene.calls.open.length, 1);
    const priority = (value: number) => ({ "x-mesh-priority": String(value) });
    assertEquals(await scene.ask("app", "no", priority(6)), "invalid_value x-mesh-priority");
    assertEquals(await scene.ask("batch", "no", priority(1)), "invalid_value x-mesh-priority");
    assertEquals(await scene.ask("app", "no", { "x-mesh-route": "priority=6" }), "invalid_value x-mesh-priority");
    assertEquals(await scene.ask("app", "no", priority(101)), "invalid_value x-mesh-priority");
    assertEquals(await scene.ask("app", "no", { "x-mesh-priority": "high" }), "invalid_value x-mesh-priority");
    const answers = [
      scene.ask("batch", "batch", priority(0)),
      scene.ask("app", "app", priority(5)),
      scene.ask("free", "free", priority(100)),
    ];
    await becomes(() => scene.waiting, 3);
    await scene.serveAll();
    assertEquals(scene.calls.texts, ["first", "free", "app", "batch"]);
    await Promise.all([first, ...answers]);
  });
});

describe("The length of a queue and its waits", () => {
  it("are in status and metrics, for a client those of its own pools", async () => {
    const own = { name: "app", rpm: 100, pools: ["chat"] };
    await using scene = await start(single, [{ name: "admin" }, own, { ...own, name: "other", pools: ["embeddings"] }]);
    const answers = times(3).map((number) => scene.ask("app", `${number}`));
    await becomes(() => scene.waiting, 2);
    assertEquals(JSON.parse(await scene.get("/mesh/status", "admin")).pools.chat.waiting, 2);
    const length = /^modelmesh_queue_length\{pool="chat"\} 2$/m;
    for (const name of ["admin", "app"]) assertMatch(await scene.get("/metrics", name), length);
    assertEquals(length.test(await scene.get("/metrics", "other")), false);
    await scene.clock.advance(3_000);
    await scene.serveAll();
    await Promise.all(answers);
    const metrics = await scene.get("/metrics", "admin");
    assertMatch(metrics, /^modelmesh_queue_length\{pool="chat"\} 0$/m);
    assertMatch(metrics, /^modelmesh_queue_wait_seconds_count\{pool="chat"\} 2$/m);
    assertMatch(metrics, /^modelmesh_queue_wait_seconds_sum\{pool="chat"\} 6$/m);
  });
});

describe("Two processes that share a limit", () => {
  it("each let their requests wait, and go on when the other one was faster", async () => {
    const [store, clock, calls] = [new MemoryShared(), fakeClock(), new HeldCalls()];
    const clients = await Promise.all(
      times(2).map(async () => {
        const shared = store.process(clock, 1e9);
        const storage = stateIn(Object.assign(memoryStorage(), { shared }), {});
        const client = create({ config: queueConfig({ limits: { a: { concurrent: 2 } } }, calls), clock, storage });
        await client.ready();
        return client;
      }),
    );
    const answers = times(20).map((number) =>
      clients[number % 2]!.chat.completions.create({ model: "chat", messages }).then(() => number)
    );
    let served = 0;
    for (const answer of answers) answer.then(() => served++, () => {});
    await until(async () => {
      await clock.advance(50);
      calls.open[0]?.respond();
      return served === 20;
    }, () => `all are served, not ${served}`);
    assertEquals([(await Promise.all(answers)).length, calls.peak, calls.all.length], [20, 2, 20]);
    assertEquals(clients.map(({ mesh }) => mesh.poolStatus().chat!.waiting), [0, 0]);
    for (const client of clients) await client.close();
  });
});
