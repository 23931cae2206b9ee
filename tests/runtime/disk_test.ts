/** Files that are written whole or not at all: in which order the machine is asked, and what is left when it refuses. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import * as files from "node:fs/promises";
import { createServer } from "node:net";
import { disk, type DiskCalls } from "../../src/runtime/_disk.ts";
import { makeFolder } from "../support/_library.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Node's file functions on the real disk; every call is noted, and one of them fails. */
function recorded(refusal?: { readonly call: string; readonly code: string }): { calls: DiskCalls; log: string[] } {
  const log: string[] = [];
  const short = (path: unknown) =>
    String(path).replace(/^.*\//, "").replace(/~[\da-f-]{36}\.tmp$/, "~draft") || "folder";
  const note = (call: string, path: unknown) => {
    log.push(`${call} ${short(path)}`);
    if (refusal !== undefined && refusal.call === log.at(-1)) {
      throw Object.assign(new Error(refusal.code), { code: refusal.code });
    }
  };
  const over = <Target extends object>(target: Target, path?: unknown): Target =>
    new Proxy(target, {
      get(_, name: string) {
        const call = Reflect.get(target, name);
        if (typeof call !== "function") return call;
        return async (...args: unknown[]) => {
          note(name, path ?? args[0]);
          const result = await call.apply(target, args);
          return name === "open" ? over(result, args[0]) : result;
        };
      },
    });
  return { calls: over(files) as unknown as DiskCalls, log };
}

describe("replacing a file", () => {
  it("writes beside it, flushes, moves it in place, and flushes the folder", async () => {
    await using folder = await makeFolder();
    const path = await folder.write("state.json", "old");
    const { calls, log } = recorded();
    await disk(() => calls).replace(path, bytes("new"));
    assertEquals(log.filter((call) => !/^(realpath|stat|chmod)/.test(call)), [
      "open state.json~draft",
      "writeFile state.json~draft",
      "sync state.json~draft",
      "close state.json~draft",
      "rename state.json~draft",
      "open folder",
      "sync folder",
      "close folder",
    ]);
    assertEquals(await files.readFile(path, "utf8"), "new");
  });

  it("makes the folder that is missing, for its owner alone, and the file, too", async () => {
    await using folder = await makeFolder();
    const path = `${folder.path}/a/b/state.json`;
    await disk().replace(path, bytes("new"), { modifiedAt: 1_700_000_000_123 });
    const modes = await Promise.all(
      [path, `${folder.path}/a/b`].map(async (one) => (await files.stat(one)).mode & 0o777),
    );
    assertEquals(modes, [0o600, 0o700]);
    assertEquals(await disk().stat(path), { size: 3, modifiedAt: 1_700_000_000_123 });
  });

  for (const code of ["ENOSPC", "EIO", "EACCES", "EROFS"]) {
    it(`leaves the old one as it is, and nothing beside it, whatever fails: ${code}`, async () => {
      const steps = ["open", "writeFile", "sync", "close", "rename"].map((call) => `${call} state.json~draft`);
      for (const call of steps) {
        await using folder = await makeFolder();
        const path = await folder.write("state.json", "old");
        const error = await assertRejects(() => disk(() => recorded({ call, code }).calls).replace(path, bytes("new")));
        assertEquals([(error as { code?: string }).code, await files.readFile(path, "utf8")], [code, "old"], call);
        assertEquals(await folder.list(), ["state.json"], call);
      }
    });
  }

  it("where folders cannot be flushed is done all the same", async () => {
    await using folder = await makeFolder();
    const path = await folder.write("state.json", "old");
    await disk(() => recorded({ call: "sync folder", code: "EINVAL" }).calls).replace(path, bytes("new"));
    assertEquals(await files.readFile(path, "utf8"), "new");
  });
});

describe("making a file", () => {
  it("is done by one of many, whole", async () => {
    await using folder = await makeFolder();
    const path = `${folder.path}/lock`;
    const made = await Promise.all(Array.from({ length: 20 }, (_, place) => disk().create(path, bytes(`${place}`))));
    assertEquals(made.filter(Boolean).length, 1);
    assertEquals(await files.readFile(path, "utf8"), `${made.indexOf(true)}`);
    assertEquals(await folder.list(), ["lock"]);
  });
});

describe("a file that is not there", () => {
  it("is undefined, has no size, cannot be removed; a missing folder is empty", async () => {
    await using folder = await makeFolder();
    const none = `${folder.path}/none`;
    assertEquals([await disk().read(none), await disk().stat(none), await disk().remove(none)], [
      undefined,
      undefined,
      false,
    ]);
    assertEquals(await disk().list(none), []);
    assert(await disk().create(none, bytes("")));
  });
});

describe("what is not a regular file", () => {
  /** A socket's file, which stands for devices: none of those may be at risk here. */
  async function withSocket(test: (path: string) => Promise<void>): Promise<void> {
    await using folder = await makeFolder();
    const path = `${folder.path}/socket`;
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(path, resolve));
    try {
      await test(path);
      assert((await files.lstat(path)).isSocket());
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  }

  it("is not replaced", async () => {
    await withSocket(async (path) =>
      void await assertRejects(() => disk().replace(path, bytes("new")), Error, "regular")
    );
  });

  it("is not renamed, and neither is a link", async () => {
    await withSocket(async (path) => {
      await assertRejects(() => disk().rename(path, `${path}.old`), Error, "regular");
      await files.symlink(path, `${path}.link`);
      await assertRejects(() => disk().rename(`${path}.link`, `${path}.old`), Error, "regular");
      assert((await files.lstat(`${path}.link`)).isSymbolicLink());
    });
  });
});
