/** Clients that a shared storage has lost, or has an old version of, and the proxies that still know them. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import { ClientRecords } from "../../src/proxy/clients/client_records.ts";
import type { ClientsDocument } from "../../src/proxy/clients/client_record.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { MemoryShared } from "../support/memory_shared.ts";

/** The records of a storage as one proxy sees them. */
class Proxy {
  readonly restored: number[] = [];
  readonly records: ClientRecords;
  readonly clock: FakeClock;
  document: ClientsDocument = { version: 1, clients: [], revoked: [] };

  constructor(storage: MemoryStorage, clock: FakeClock) {
    this.clock = clock;
    this.records = new ClientRecords(storage, clock, { onRestored: (count) => void this.restored.push(count) });
  }

  async check(): Promise<void> {
    this.document = await this.records.changedDocument() ?? this.document;
  }

  async change(change: (document: ClientsDocument) => ClientsDocument): Promise<void> {
    this.document = await this.records.change(change);
  }

  create(id: string): Promise<void> {
    const client = { id, name: id, created_at: this.#now, token_sha256: `${id} 0` };
    return this.change((document) => ({ ...document, clients: [...document.clients, client] }));
  }

  rotate(id: string): Promise<void> {
    return this.change((document) => ({
      ...document,
      clients: document.clients.map((client) => {
        const revision = (client.revision ?? 0) + 1;
        return client.id === id ? { ...client, revision, token_sha256: `${id} ${revision}` } : client;
      }),
    }));
  }

  revoke(id: string): Promise<void> {
    return this.change((document) => ({
      ...document,
      clients: document.clients.filter((client) => client.id !== id),
      revoked: [...document.revoked, { id, name: id, revoked_at: this.#now }],
    }));
  }

  get tokens(): string[] {
    return this.document.clients.map(({ token_sha256 }) => token_sha256).sort();
  }

  get #now(): string {
    return new Date(this.clock.now()).toISOString();
  }
}

function scene({ isShared = true } = {}) {
  const clock = fakeClock({ skipSleeps: true });
  const storage = Object.assign(new MemoryStorage(clock), isShared ? { shared: new MemoryShared() } : {});
  const proxy = () => new Proxy(storage, clock);
  const [one, other] = [proxy(), proxy()];
  const checkAll = async (...all: Proxy[]) => {
    for (let turn = 0; turn < 3; turn++) {
      await clock.advance(800);
      await Promise.all(all.map((each) => each.check()));
    }
  };
  return { clock, storage, one, other, proxy, checkAll, both: () => checkAll(one, other) };
}

describe("Clients that a shared storage has lost", () => {
  it("are written again by the proxies that know them, at once, and known to a new one", async () => {
    const { storage, one, other, both, proxy, checkAll } = scene();
    await one.create("a");
    await other.create("b");
    await both();
    await storage.delete("clients");
    await both();
    assertEquals([one.tokens, other.tokens], [["a 0", "b 0"], ["a 0", "b 0"]]);
    assertEquals([...one.restored, ...other.restored], [2]); // by one of them
    const next = proxy();
    await checkAll(next);
    assertEquals(next.tokens, ["a 0", "b 0"]);
  });

  it("do not come back when they were revoked meanwhile: right after the loss, or before it, unknown to another", async () => {
    const { storage, one, other, both, proxy, checkAll } = scene();
    for (const id of ["a", "b", "c"]) await one.create(id);
    await both();
    await one.revoke("a"); // the other one does not know it yet
    await storage.delete("clients");
    await Promise.all([one.revoke("b"), other.check()]);
    await both();
    const next = proxy();
    await checkAll(next);
    assertEquals([one, other, next].map(({ tokens }) => tokens), [["c 0"], ["c 0"], ["c 0"]]);
    assertEquals(next.document.revoked.map(({ id }) => id).sort(), ["a", "b"]);
  });

  it("do not come back by a proxy that is the first to write, and knows of no revocation", async () => {
    const { storage, one, other, both } = scene();
    for (const id of ["a", "b"]) await one.create(id);
    await both();
    await one.revoke("a");
    await storage.delete("clients");
    await other.check();
    assertEquals(other.tokens, ["a 0", "b 0"]);
    await both();
    assertEquals([one.tokens, other.tokens], [["b 0"], ["b 0"]]);
  });

  it("have the tokens of their last change, also where the storage has an old version of them", async () => {
    const { storage, one, other, both } = scene();
    for (const id of ["a", "b", "c"]) await one.create(id);
    const old = await storage.load("clients");
    await one.rotate("a");
    await other.revoke("b");
    await both();
    await storage.save("clients", old!); // a replica that lags has become the master
    await both();
    assertEquals([one.tokens, other.tokens], [["a 1", "c 0"], ["a 1", "c 0"]]);
    const { clients } = JSON.parse(new TextDecoder().decode(await storage.load("clients")));
    assertEquals(clients.map(({ token_sha256 }: { token_sha256: string }) => token_sha256).sort(), ["a 1", "c 0"]);
  });

  it("are not lost to a change that is the first to write", async () => {
    const { storage, one, other, both, proxy } = scene();
    await one.create("a");
    await both();
    await storage.delete("clients");
    const next = proxy(); // it knows none
    await Promise.all([next.create("b"), one.create("c"), other.check()]);
    await both();
    await next.check();
    assertEquals([one, other].map(({ tokens }) => tokens), [["a 0", "b 0", "c 0"], ["a 0", "b 0", "c 0"]]);
  });

  it("are tried again while the storage cannot be written", async () => {
    const { storage, one, both } = scene();
    await one.create("a");
    await both();
    await storage.delete("clients");
    const save = storage.save.bind(storage);
    storage.save = () => Promise.reject(new Error("full"));
    await one.check().catch(() => {});
    assertEquals([one.tokens, await storage.exists("clients")], [["a 0"], false]);
    storage.save = save;
    await both();
    assertEquals([one.tokens, await storage.exists("clients")], [["a 0"], true]);
  });

  it("write nothing where nothing is lost", async () => {
    const { storage, one, other, both } = scene();
    for (const id of ["a", "b"]) await one.create(id);
    await other.revoke("a");
    await both();
    let writes = 0;
    storage.save = () => Promise.resolve(void writes++);
    for (let turn = 0; turn < 5; turn++) await both();
    assertEquals(writes, 0);
  });

  it("stay away where a file was removed: one that a single proxy uses has lost nothing by itself", async () => {
    const { storage, one } = scene({ isShared: false });
    await one.create("a");
    await one.check();
    await storage.delete("clients");
    await one.check();
    assertEquals(one.tokens, []);
  });
});
