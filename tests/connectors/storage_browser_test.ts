/** What can be wrong with a browser's storage, and what is said of it. */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { browserSecrets } from "../../connectors/secrets/browser.ts";
import { IndexedDbStorage } from "../../connectors/storage/indexeddb.ts";
import { LocalStorageStorage } from "../../connectors/storage/localstorage.ts";
import type { Storage } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import {
  catchStorageError,
  failingWebStorage,
  fakeDatabases,
  FakeWebStorage,
  withGlobal,
} from "../support/web_storage.ts";

const clock = fakeClock({ skipSleeps: true });
const data = new TextEncoder().encode("the-value");
const local = (area = new FakeWebStorage(), prefix?: string) =>
  new LocalStorageStorage(clock, { area, ...(prefix === undefined ? {} : { prefix }) });

const insecure = () => {
  throw new DOMException("The operation is insecure.", "SecurityError");
};

const uses: Record<string, (storage: Storage) => Promise<unknown>> = {
  load: (storage) => storage.load("state"),
  save: (storage) => storage.save("state", data),
  list: (storage) => storage.list(),
  delete: (storage) => storage.delete("state"),
  stat: (storage) => storage.stat("state"),
  exists: (storage) => storage.exists("state"),
  acquire: (storage) => storage.acquire("state", { owner: "a", ttlMs: 1000 }),
  release: (storage) => storage.release({ key: "state", owner: "a", expiresAt: 0 }),
  isLocked: (storage) => storage.isLocked("state"),
};

describe("a page without the right to a storage", () => {
  const places = [
    ["localStorage", "mesh.localstorage.v1", () => new LocalStorageStorage(clock)],
    ["indexedDB", "mesh.indexeddb.v1", () => new IndexedDbStorage(clock)],
  ] as const;
  for (const [name, id, make] of places) {
    for (
      const [how, descriptor] of [["forbidden", { get: insecure }], ["null", { value: null }], ["absent", {
        value: undefined,
      }]] as const
    ) {
      it(`is reported by each method of ${id} when ${name} is ${how}, and by none before`, () =>
        withGlobal(name, descriptor, async () => {
          const storage = make();
          for (const use of Object.values(uses)) {
            const { message, problem } = await catchStorageError(use(storage));
            assertEquals(problem, "forbidden");
            assertMatch(message, new RegExp(`^"${id}" cannot be used: .*[Uu]se .*memoryStorage\\(\\)`));
          }
        }));
    }
  }

  it("is reported by the secret store, too", () =>
    withGlobal("sessionStorage", { get: insecure }, async () => {
      const secrets = browserSecrets();
      const attempts = [secrets.get("A"), secrets.set("A", "the-secret"), secrets.list(), secrets.delete("A")];
      for (const attempt of attempts) {
        const { message, problem } = await catchStorageError(attempt);
        assertEquals(problem, "forbidden");
        assertMatch(message, /^"mesh\.browser-secrets\.v1" cannot be used: .*sessionStorage.*use memorySecrets\(\)$/);
      }
    }));

  it("can use it once it has it", async () => {
    await withGlobal("indexedDB", { get: insecure }, async () => {
      const storage = new IndexedDbStorage(clock);
      await catchStorageError(storage.load("state"));
      await withGlobal("indexedDB", { value: fakeDatabases() }, async () => {
        await storage.save("state", data);
        assertEquals(await storage.load("state"), data);
      });
    });
  });
});

describe("localStorage", () => {
  it("that is full says so, and keeps the record it had", async () => {
    const area = new FakeWebStorage(200);
    const storage = local(area);
    await storage.save("state", data);
    const { message, problem } = await catchStorageError(storage.save("state", new Uint8Array(200)));
    assertEquals([problem, await storage.load("state")], ["full", data]);
    assertMatch(
      message,
      /^"mesh\.localstorage\.v1" cannot save "state": localStorage is full\. Delete .* indexedDbStorage\(\)/,
    );
  });

  it("that is full says so in Firefox's words, too", async () => {
    const area = failingWebStorage("NS_ERROR_DOM_QUOTA_REACHED");
    assertEquals(
      (await catchStorageError(new LocalStorageStorage(clock, { area }).save("state", data))).problem,
      "full",
    );
  });

  it("that fails otherwise says at what, without the browser's words", async () => {
    const area = failingWebStorage("UnknownError");
    const { message, problem } = await catchStorageError(new LocalStorageStorage(clock, { area }).load("state"));
    assertEquals(problem, undefined);
    assertEquals(
      message,
      `"mesh.localstorage.v1" cannot read "state": the browser's localStorage failed (see the error's cause)`,
    );
  });

  it("takes four characters for three bytes, fifteen more, and the name", async () => {
    const area = new FakeWebStorage();
    await local(area).save("state", new Uint8Array(3000));
    assertEquals([...area.items].map(([name, text]) => [name, text.length]), [["modelmesh.data.state", 4014]]);
  });

  it("with a foreign item under that name refuses to read it, and says which one it is", async () => {
    for (const text of ["", "hello", "12", ",", "x,AAAA", "12,AAA", "12,****", '{"a":1}', "-1,AAAA", "1e3,AAAA"]) {
      const area = new FakeWebStorage();
      area.setItem("modelmesh.data.state", text);
      const { message, problem } = await catchStorageError(local(area).load("state"));
      assertEquals(problem, "unreadable", text);
      assertMatch(message, /item "modelmesh\.data\.state" of localStorage.*Delete it, or choose another prefix$/);
      await local(area).save("state", data);
      assertEquals(await local(area).load("state"), data);
    }
  });

  it("gives a lock to the tab that wrote last of those that asked at the same moment", async () => {
    const area = new FakeWebStorage();
    const others = JSON.stringify({ owner: "other tab", expiresAt: clock.now() + 60_000 });
    clock.after(20, () => area.setItem("modelmesh.lock.state", others));
    const refused = local(area).acquire("state", { owner: "a", ttlMs: 1000, timeoutMs: 0 });
    assertEquals([(await catchStorageError(refused)).problem, await local(area).isLocked("state")], ["locked", true]);
  });

  it("takes what is not a lock for none", async () => {
    for (const text of ["", "hello", "5", "null", "[]", '{"owner":"a"}', '{"owner":"a","expiresAt":"x"}']) {
      const area = new FakeWebStorage();
      area.setItem("modelmesh.lock.state", text);
      assertEquals(await local(area).isLocked("state"), false, text);
      assertEquals((await local(area).acquire("state", { owner: "b", ttlMs: 1000, timeoutMs: 0 })).owner, "b");
    }
  });

  it("outlives the object, and keeps prefixes apart from each other and from the rest of the site", async () => {
    const area = new FakeWebStorage();
    area.setItem("cart", "3 apples");
    await local(area, "one").save("state", data);
    assertEquals(await local(area, "one").load("state"), data);
    assertEquals([await local(area, "two").list(), await local(area, "two").delete("state")], [[], false]);
    assertEquals(await local(area, "one").list(), ["state"]);
    assertEquals(area.getItem("cart"), "3 apples");
  });

  it("has prefixes without dots, so that none is part of another", () => {
    for (const prefix of ["", "a.b", "a b", "ключ", "x".repeat(65)]) {
      assertThrows(
        () => local(undefined, prefix),
        ConnectorError,
        '"mesh.localstorage.v1" cannot be created: its prefix',
      );
      assertThrows(() => browserSecrets({ prefix }), ConnectorError, '"mesh.browser-secrets.v1" cannot be created');
    }
  });
});

describe("secrets of a page", () => {
  it("are in sessionStorage, and in localStorage only with persist", async () => {
    const [session, persistent] = [new FakeWebStorage(), new FakeWebStorage()];
    await withGlobal(
      "sessionStorage",
      { value: session },
      () =>
        withGlobal("localStorage", { value: persistent }, async () => {
          await browserSecrets().set("A", "the-secret");
          await browserSecrets({ persist: true }).set("B", "the-secret");
        }),
    );
    assertEquals([...session.items.keys()], ["modelmesh.secret.A"]);
    assertEquals([...persistent.items.keys()], ["modelmesh.secret.B"]);
  });

  it("that do not fit are named, not shown", async () => {
    const { message, problem } = await catchStorageError(
      browserSecrets({ area: new FakeWebStorage(10) }).set("A", "the-secret"),
    );
    assertEquals([problem, message.includes('cannot save "A": sessionStorage is full')], ["full", true]);
  });
});
