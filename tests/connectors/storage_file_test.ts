/** Records as files: where they are, and what is said when they cannot be. */
import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { mkdir, readFile, symlink, utimes } from "node:fs/promises";
import { LocalFileStorage, localFileStorage } from "../../connectors/storage/local_file.ts";
import type { Disk } from "../../src/contracts/runtime.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { disk } from "../../src/runtime/_disk.ts";
import { fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { makeFolder } from "../support/_library.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const uuid = "01234567-89ab-cdef-0123-456789abcdef";
const storageAt = (path: string, options: { backup?: boolean; disk?: Disk } = {}) =>
  new LocalFileStorage({ clock: fakeClock(), disk: options.disk ?? disk() }, { path, backup: options.backup });

/** A disk that refuses to write, in the machine's words. */
function refusing(code: string): Disk {
  const fail = () => Promise.reject(Object.assign(new Error(`${code}: /secret/place`), { code }));
  return { ...disk(), replace: fail, create: fail };
}

describe("the files of mesh.local-file.v1", () => {
  it("are the one that is named, and others beside it", async () => {
    await using folder = await makeFolder();
    const storage = storageAt(`${folder.path}/state.json`);
    await storage.save("state", bytes("{}"));
    await storage.save("config", bytes("{}"));
    await storage.save("logs/2026-01-01", bytes("{}"));
    assertEquals((await folder.list()).toSorted(), [
      "state.json",
      "state.json.config",
      "state.json.logs%2F2026-01-01",
    ]);
    assertEquals(await storage.list(), ["config", "logs/2026-01-01", "state"]);
  });

  it("stand in the present folder by a bare name", async () => {
    const path = `bare-${crypto.randomUUID()}.json`;
    const storage = storageAt(path);
    await storage.save("state", bytes("{}"));
    const lock = await storage.acquire("state", { owner: "a", ttlMs: 1000 });
    await storage.release(lock);
    assertEquals([await storage.list(), await storage.isLocked("state")], [["state"], false]);
    for (const name of await disk().list(".")) if (name.startsWith(path)) await disk().remove(name);
  });

  it("that another program put there are not listed as records", async () => {
    await using folder = await makeFolder();
    for (const name of ["state.json.%zz", `state.json~${uuid}.tmp`, "other.json", "state.json.Capital"]) {
      await folder.write(name, "x");
    }
    assertEquals(await storageAt(`${folder.path}/state.json`).list(), []);
  });

  it("keep what was there before as <key>.backup, when asked to", async () => {
    await using folder = await makeFolder();
    const storage = storageAt(`${folder.path}/state.json`, { backup: true });
    for (const text of ["1", "2", "3"]) await storage.save("state", bytes(text));
    assertEquals([await storage.load("state"), await storage.load("state.backup")], [bytes("3"), bytes("2")]);
  });

  it("lose the drafts of killed processes once they are old, and no others", async () => {
    await using folder = await makeFolder();
    const now = fakeClock().now() / 1000;
    for (const [name, ageSeconds] of [["state.json~", 61], ["state.json.config~", 61], ["state.json~lock-a.1~", 59]]) {
      const draft = await folder.write(`${name}${uuid}.tmp`, "x");
      await utimes(draft, now - Number(ageSeconds), now - Number(ageSeconds));
    }
    await folder.write(`other~${uuid}.tmp`, "x");
    await storageAt(`${folder.path}/state.json`).save("state", bytes("{}"));
    assertEquals((await folder.list()).toSorted(), [
      `other~${uuid}.tmp`,
      "state.json",
      `state.json~lock-a.1~${uuid}.tmp`,
    ]);
  });

  it("of locks are two at most, whichever process had them", async () => {
    await using folder = await makeFolder();
    const storage = storageAt(`${folder.path}/state.json`);
    for (let turn = 0; turn < 30; turn++) {
      const lock = await storage.acquire("state", { owner: `owner ${turn}`, ttlMs: 1000 });
      if (turn % 2 === 0) await storage.release(lock);
      else await (storage as unknown as { release(lock: unknown): Promise<void> }).release({ ...lock });
    }
    assertEquals((await folder.list()).length, 2);
  });

  it("can be a link to another folder, which stays one", async () => {
    await using folder = await makeFolder();
    const real = await folder.write("real.json", "{}");
    const link = `${folder.path}/state.json`;
    await symlink(real, link);
    await storageAt(link).save("state", bytes("new"));
    assertEquals(await readFile(real, "utf8"), "new");
  });

  it("behind a link that leads nowhere begin anew", async () => {
    await using folder = await makeFolder();
    const link = `${folder.path}/state.json`;
    await symlink(`${folder.path}/nowhere`, link);
    const storage = storageAt(link);
    assertEquals(await storage.load("state"), undefined);
    await storage.save("state", bytes("new"));
    assertEquals(await storage.load("state"), bytes("new"));
  });
});

describe("mesh.local-file.v1 says what to do", () => {
  const machine: readonly (readonly [code: string, problem: string | undefined, words: RegExp])[] = [
    ["ENOSPC", "full", /the disk is full\. Free space there$/],
    ["EACCES", "forbidden", /permission denied\. Grant the permission, or use another path$/],
    ["EROFS", "forbidden", /the disk is read-only\. Use another path$/],
    ["ENOENT", "forbidden", /its folder cannot be created\. Use another path$/],
    ["EIO", undefined, /the disk failed \(see the error's cause\)$/],
  ];
  for (const [code, problem, words] of machine) {
    it(`when the machine says ${code}`, async () => {
      await using folder = await makeFolder();
      const path = await folder.write("state.json", "old");
      const storage = storageAt(path, { disk: refusing(code) });
      const error = await assertRejects(() => storage.save("state", bytes("new")), ConnectorError);
      assertMatch(error.message, /^"mesh\.local-file\.v1" cannot save "state" at "/);
      assertMatch(error.message, words);
      assertEquals([error.problem, error.message.includes("secret")], [problem, false]);
      assertEquals(await storage.load("state"), bytes("old"));
      await assertRejects(() => storage.acquire("state", { owner: "a", ttlMs: 1 }), ConnectorError, "cannot lock");
    });
  }

  it("when the path is a folder, or leads through a file", async () => {
    await using folder = await makeFolder();
    await mkdir(`${folder.path}/state.json`);
    const inFolder = storageAt(`${folder.path}/state.json`);
    const file = await folder.write("file", "");
    const inFile = storageAt(`${file}/state.json`);
    await assertRejects(() => inFolder.load("state"), ConnectorError, "it is a folder. Use the path of a file");
    await assertRejects(() => inFolder.save("state", bytes("")), ConnectorError, "it is a folder");
    await assertRejects(() => inFile.save("state", bytes("")), ConnectorError, "is a file, not a folder");
  });

  it("when its settings do not fit, or there are no files", () => {
    const runtime = { ...testRuntime(), disk: disk() };
    for (const path of ["", "folder/", 7, null]) {
      assertThrows(() => localFileStorage.create({ path }, runtime), ConfigError, "storage.path: expected the path");
    }
    assertThrows(() => localFileStorage.create({ backup: "yes" }, runtime), ConfigError, "storage.backup");
    assertThrows(() => localFileStorage.create({}, testRuntime()), ConnectorError, "this runtime has no file access");
  });
});
