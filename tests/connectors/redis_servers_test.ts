/** What is known of Redis servers without one: settings, slots, locations, and the calls that a server has executed. */
import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { redisAddress } from "../../connectors/storage/_redis_address.ts";
import { createLocator } from "../../connectors/storage/_redis_locator.ts";
import { RecentCalls } from "../../connectors/storage/_redis_recent.ts";
import { findSlot, listGaps } from "../../connectors/storage/_redis_slots.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";

const nodes = ["a:1", "redis://b:2", "[::1]:3"];
const parsed = [{ host: "a", port: 1 }, { host: "b", port: 2 }, { host: "::1", port: 3 }];

describe("Settings of several Redis servers", () => {
  it("name the nodes of a cluster, or sentinels with users of their own", () => {
    const first = { host: "a", port: 1, isTls: false, db: 0 };
    assertEquals(redisAddress({ cluster: nodes, read_from: "replica" }), {
      ...first,
      cluster: parsed,
      readsReplicas: true,
    });
    assertEquals(redisAddress({ cluster: ["rediss://me:p%40ss@a:1", "rediss://b"] }), {
      ...first,
      isTls: true,
      username: "me",
      password: "p@ss",
      cluster: [parsed[0]!, { host: "b", port: 6379 }],
    });
    const sentinel = { master: "m", nodes: ["a:1", "b"], username: "watch", password: "w" };
    assertEquals(redisAddress({ sentinel, password: "p", db: 2, tls: { ca: "ca.pem" } }), {
      ...first,
      isTls: true,
      tls: { ca: "ca.pem" },
      password: "p",
      db: 2,
      sentinel: {
        isTls: true,
        tls: { ca: "ca.pem" },
        username: "watch",
        password: "w",
        master: "m",
        nodes: [parsed[0]!, { host: "b", port: 26379 }],
      },
    });
  });

  const bad: [settings: Record<string, unknown>, problems: string[]][] = [
    [{ cluster: nodes, url: "redis://a", port: 1, sentinel: {} }, ["storage.url", "storage.port", "storage.sentinel"]],
    [{ cluster: nodes, db: 1 }, ["storage.db"]],
    [{ cluster: [] }, ["storage.cluster"]],
    [{ cluster: "a:1" }, ["storage.cluster"]],
    [{ cluster: ["a:1", 2] }, ["storage.cluster"]],
    [{ cluster: ["a:70000"] }, ["storage.cluster"]],
    [{ cluster: ["redis://a/3"] }, ["storage.cluster"]],
    [{ cluster: ["redis://a", "rediss://b"] }, ["storage.cluster"]],
    [{ cluster: ["redis://u:p@a", "redis://u:q@b"] }, ["storage.cluster"]],
    [{ cluster: ["u:q@a:1"] }, ["storage.cluster"]],
    [{ cluster: ["redis://u:%zz@a"] }, ["storage.cluster"]],
    [{ sentinel: { nodes } }, ["storage.sentinel.master"]],
    [{ sentinel: { master: "m" } }, ["storage.sentinel.nodes"]],
    [{ sentinel: { master: "m", nodes, name: "m" } }, ["storage.sentinel"]],
    [{ sentinel: { master: "m", nodes, password: 1 } }, ["storage.sentinel.password"]],
    [{ sentinel: nodes }, ["storage.sentinel", "storage.sentinel.master", "storage.sentinel.nodes"]],
    [{ read_from: "replica" }, ["storage.read_from"]],
    [{ cluster: nodes, read_from: "slave" }, ["storage.read_from"]],
    [{ tls: { cert: "a" } }, ["storage.tls"]],
    [{ tls: { certificate: "a" } }, ["storage.tls"]],
    [{ tls: "yes" }, ["storage.tls"]],
    [{ url: "rediss://a", tls: false }, ["storage.tls"]],
  ];
  for (const [settings, paths] of bad) {
    it(`are refused: ${JSON.stringify(settings)}`, () => {
      const { problems, message } = assertThrows(() => redisAddress(settings), ConfigError);
      assertEquals([problems.map(({ path }) => path), message.includes("u:q")], [paths, false]);
    });
  }
});

describe("The slot of a key", () => {
  it("is that of its hash tag, if it has one", () => {
    assertEquals(findSlot("123456789"), 0x31c3);
    assertEquals(findSlot("{user1000}.following"), findSlot("user1000"));
    assertEquals(findSlot("foo{{bar}}zap"), findSlot("{bar"));
    assertEquals(findSlot("foo{bar}{zap}"), findSlot("bar"));
    assertEquals([findSlot("foo{}{bar}"), findSlot("{")], [8363, 4092]);
  });
});

describe("The slots that no node serves", () => {
  it("are listed as ranges", () => {
    const master = { host: "a", port: 1 };
    const list = (...ranges: [number, number][]) =>
      listGaps(ranges.map(([first, last]) => ({ first, last, master, replicas: [] })));
    assertEquals(list([5, 16382], [0, 3]), "4, 16383");
    assertEquals([list([0, 16383]), list([10, 16383]), list()], ["", "0-9", "0-16383"]);
  });
});

describe("The location of a key", () => {
  const masters = [[0, 8191, ["a", 1, "id"], ["b", 2, "id"]], [8192, 16383, ["", 3, "id", []]]];

  it("is where the first node that responds says, a node without a name at the address that was asked", async () => {
    const asked: number[] = [];
    const locator = createLocator(redisAddress({ cluster: ["x:8", "y:9"] }), ({ port }) => {
      asked.push(port);
      return port === 8 ? Promise.reject(new Error("down")) : Promise.resolve(masters);
    }, () => 0);
    assertEquals(await locator.locate("{user1000}"), { host: "a", port: 1 }); // slot 3443
    assertEquals(await locator.locateReplica("{user1000}"), { host: "b", port: 2 });
    assertEquals(await locator.locate("123456789"), { host: "y", port: 3 }); // slot 12739
    assertEquals(asked, [8, 9, 9, 9]);
  });

  it("is asked for once by all who wait, and unknown where no node has the slot", async () => {
    let calls = 0;
    const locator = createLocator(redisAddress({ cluster: ["x:8"] }), () => {
      calls++;
      return Promise.resolve(masters.slice(0, 1));
    }, () => 0);
    const [found, ...missing] = await Promise.allSettled([
      locator.locate("{user1000}"),
      ...Array.from({ length: 20 }, () => locator.locate("123456789")),
    ]);
    assertEquals([calls, found!.status, missing.every(({ status }) => status === "rejected")], [1, "fulfilled", true]);
    const error = await assertRejects(() => locator.locate("123456789"), ConnectorError);
    assertMatch(error.message, /no node serves slot 12739/);
  });

  for (const response of [null, 1, "x", [], [[1]], [[0, 16383, ["a", 70_000]]], [[0, "x", ["a", 1]]], [null, {}]]) {
    it(`is unknown after a response without sense: ${JSON.stringify(response)}`, async () => {
      const ask = () => Promise.resolve(response);
      for (const address of [redisAddress({ cluster: nodes }), redisAddress({ sentinel: { master: "m", nodes } })]) {
        const error = await assertRejects(() => createLocator(address, ask, () => 0).locate("a"), ConnectorError);
        assertEquals(error.problem, "unavailable");
      }
    });
  }
});

describe("The last calls of a process", () => {
  const change = (amount: number, leased = 0, key = "sum") => [{ key, amount, leased, expiresAt: 1 }];

  /** Notes calls: confirmed, denied, or without a reply. */
  function note(...calls: readonly ["confirmed" | "denied" | "lost", number][]): RecentCalls {
    const recent = new RecentCalls();
    for (const [outcome, amount] of calls) {
      const number = recent.note(change(amount, amount));
      if (outcome !== "lost") recent.confirm(number, outcome === "confirmed");
    }
    return recent;
  }

  it("are made again if a server lacks them, and reversed if nothing is known of them", () => {
    const recent = note(["confirmed", 1], ["lost", 2], ["denied", 4], ["lost", 8], ["confirmed", 16]);
    assertEquals(recent.reconcile(new Set([1, 2])), change(16 - 2, 16 - 2));
    assertEquals(recent.reconcile(new Set([1, 2])), []);
  });

  it("are made again by each of several servers that lack them, with their correction", () => {
    const recent = note(["confirmed", 1], ["confirmed", 2], ["lost", 4]);
    const missing = recent.reconcile(new Set([1, 3]))!; // the third one has had an effect
    assertEquals(missing, change(-4, -4));
    const correction = recent.note(missing, true);
    assertEquals(recent.reconcile(new Set([1, 2, 3, correction])), []);
    assertEquals(recent.reconcile(new Set([1])), change(2, 2)); // 2 + 4 - 4
  });

  it("are unknown to a server that has lost more than them", () => {
    const recent = note(["confirmed", 1]);
    assertEquals(recent.reconcile(new Set()), undefined);
    for (let calls = 0; calls < 5000; calls++) recent.confirm(recent.note(change(1)), true);
    assertEquals(recent.reconcile(new Set([900])), undefined);
    assertEquals(recent.reconcile(new Set([5000])), change(1));
    recent.clear();
    assertEquals(recent.reconcile(new Set([1])), undefined);
  });
});
