/** What can be wrong with a browser's IndexedDB beside not being there, and what is said of it. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { IndexedDbStorage } from "../../connectors/storage/indexeddb.ts";
import { fakeClock, settle } from "../../src/runtime/test.ts";
import { catchStorageError, fakeDatabases } from "../support/web_storage.ts";
import { raise } from "../support/raise.ts";

const clock = fakeClock({ skipSleeps: true });
const data = new TextEncoder().encode("the-value");

describe("IndexedDB", () => {
  it("outlives the object, and keeps databases apart", async () => {
    const factory = fakeDatabases();
    await new IndexedDbStorage(clock, { factory }).save("state", data);
    assertEquals(await new IndexedDbStorage(clock, { factory }).load("state"), data);
    assertEquals(await new IndexedDbStorage(clock, { factory, database: "other" }).list(), []);
  });

  it("gives way to a page that deletes the database, and opens it again", async () => {
    const factory = fakeDatabases();
    const storage = new IndexedDbStorage(clock, { factory });
    await storage.save("state", data);
    let wasBlocked = false;
    await new Promise<void>((resolve) => {
      const deletion = factory.deleteDatabase("modelmesh");
      deletion.onblocked = () => wasBlocked = true;
      deletion.onsuccess = () => resolve();
    });
    assertEquals([wasBlocked, await storage.load("state")], [false, undefined]);
    await storage.save("state", data);
    assertEquals(await storage.load("state"), data);
  });

  it("of a newer layout, or another program's, is left alone and named", async () => {
    for (const version of [1, 2]) {
      const factory = fakeDatabases();
      await openPlain(factory, version);
      const { message, problem } = await catchStorageError(new IndexedDbStorage(clock, { factory }).load("state"));
      assertEquals(problem, "forbidden");
      assertMatch(
        message,
        /the database "modelmesh" belongs to another program, or to a newer release.*choose another database$/,
      );
    }
  });

  it("with a record of another program refuses to read it", async () => {
    for (const value of ["text", { data: "text", modifiedAt: 1 }, { data: new Uint8Array() }, null, 5]) {
      const factory = fakeDatabases();
      const storage = new IndexedDbStorage(clock, { factory });
      await storage.save("other", data);
      await putPlain(factory, value);
      assertEquals((await catchStorageError(storage.load("state"))).problem, "unreadable");
      await storage.save("state", data);
      assertEquals(await storage.load("state"), data);
    }
  });

  it("that another tab blocks is reported, and released should it open after all", async () => {
    const pending = new FakeOpening();
    const storage = new IndexedDbStorage(clock, { factory: { open: () => pending } });
    const refused = catchStorageError(storage.load("state"));
    pending.onblocked?.();
    const { message, problem } = await refused;
    assertEquals(problem, "locked");
    assertMatch(message, /another tab has an older version.*Close the other tabs of this site, and reload the page$/);
    pending.onsuccess?.();
    assertEquals(pending.isClosed, true);
  });

  it("that is full says so, whether the request or the end of the transaction fails", async () => {
    for (const reported of ["request", "transaction"] as const) {
      const storage = new IndexedDbStorage(clock, { factory: fullDatabases(reported) });
      const { message, problem } = await catchStorageError(storage.save("state", data));
      assertEquals(problem, "full");
      assertMatch(message, /^"mesh\.indexeddb\.v1" cannot save "state": the browser's quota for this site is exceeded/);
    }
  });

  it("that refuses to open in a private window says what to do", async () => {
    const pending = new FakeOpening();
    const refused = catchStorageError(new IndexedDbStorage(clock, { factory: { open: () => pending } }).load("state"));
    pending.error = new DOMException("A mutation operation was attempted", "InvalidStateError");
    pending.onerror?.();
    const { message, problem } = await refused;
    assertEquals([problem, /private window, or use localStorageStorage\(\)/.test(message)], ["forbidden", true]);
  });
});

/** An opening that a test settles. */
class FakeOpening {
  isClosed = false;
  error: unknown = null;
  onblocked?: () => void;
  onsuccess?: () => void;
  onerror?: () => void;
  readonly result = { close: () => this.isClosed = true };
}

interface PlainDatabase {
  createObjectStore(name: string): void;
  close(): void;
  transaction(store: string, mode: string): {
    objectStore(name: string): { put(value: unknown, key: string[]): void };
    oncomplete: () => void;
  };
}

function openPlain(factory: { open(name: string, version: number): unknown }, version: number): Promise<PlainDatabase> {
  return new Promise((resolve) => {
    const pending = factory.open("modelmesh", version) as { result: PlainDatabase; onsuccess: () => void };
    pending.onsuccess = () => resolve(pending.result);
  });
}

/** Writes something in place of the state. */
async function putPlain(factory: { open(name: string, version: number): unknown }, value: unknown): Promise<void> {
  const database = await openPlain(factory, 1);
  await new Promise<void>((resolve) => {
    const transaction = database.transaction("records", "readwrite");
    transaction.objectStore("records").put(value, ["data", "state"]);
    transaction.oncomplete = () => resolve();
  });
  database.close();
}

/** Databases that take no more. */
function fullDatabases(reported: "request" | "transaction") {
  const quota = new DOMException("the-value does not fit", "QuotaExceededError");
  const request = { onerror() {}, onsuccess() {}, error: new DOMException("", "AbortError") };
  const transaction = { onabort() {}, error: quota, objectStore: () => ({ put: () => request }) };
  const database = {
    objectStoreNames: { contains: () => true },
    transaction() {
      settle().then(() => {
        if (reported === "request") request.onerror();
        else request.onsuccess();
        transaction.onabort();
      }).catch(raise);
      return transaction;
    },
  };
  return {
    open() {
      const pending = { result: database, onsuccess() {} };
      settle().then(() => pending.onsuccess()).catch(raise);
      return pending;
    },
  };
}
