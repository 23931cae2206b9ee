/** Secrets in files: what is wrong with a file is said, and what is in it is not. */
import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, FileSystem, Runtime } from "../../../src/contracts/runtime.ts";
import type { SecretStore } from "../../../src/contracts/secret_store.ts";
import { ConfigError, ConnectorError } from "../../../src/errors.ts";
import { serverRuntime } from "../../../src/runtime/server.ts";
import { fakeClock } from "../../../src/runtime/test.ts";
import { entryCommand } from "../../support/_programs.ts";
import { folder, loopbackRuntime, secretStore } from "../../connectors/_secret_stores.ts";

const secret = "do-not-show-me";

function dotenvAt(path: string): Required<SecretStore> {
  return secretStore("mesh.dotenv.v1").create({ path }, serverRuntime()) as Required<SecretStore>;
}

function vaultAt(path: string, passphrase: string | undefined = "a passphrase"): Required<SecretStore> {
  const runtime = {
    ...serverRuntime(),
    env: (name: string) => name === "MESH_SECRETS_PASSPHRASE" ? passphrase : undefined,
  };
  return secretStore("mesh.encrypted-file.v1").create({ path }, runtime) as Required<SecretStore>;
}

async function catchFailure(promise: Promise<unknown>): Promise<string> {
  const { message, cause } = await assertRejects(() => promise, ConnectorError);
  assert(!message.includes(secret), message);
  assertEquals(cause, undefined);
  return message;
}

describe("A dotenv file of secrets", () => {
  it("keeps its comments and other lines when it is written", async () => {
    await using at = await folder();
    const path = join(at.path, ".env");
    await writeFile(path, "# keys\nA=1 # first\n\nexport B='2'\nA=3");
    const store = dotenvAt(path);
    await store.set("A", "new value");
    await store.set("C", "c");
    assertEquals(await readFile(path, "utf8"), "# keys\nA=1 # first\n\nexport B='2'\nA='new value'\nC=c\n");
    await store.delete("A");
    assertEquals(await readFile(path, "utf8"), "# keys\n\nexport B='2'\nC=c\n");
    assertEquals(await dotenvAt(path).get("C"), "c");
  });

  it("is never given a value that it could not be read with", async () => {
    await using at = await folder();
    const store = dotenvAt(join(at.path, ".env"));
    await store.set("A", "b");
    for (const odd of ["\0", "\uFFFD", "\uD83D"]) {
      assertStringIncludes(await catchFailure(store.set("B", `${secret}${odd}`)), "invalid Unicode");
    }
    assertEquals(await store.list(), ["A"]);
    await store.set("__proto__", "sk-ab$cd1 # no comment");
    assertEquals(await store.get("__proto__"), "sk-ab$cd1 # no comment");
  });

  it("is made for its owner alone, and keeps the permissions it has", async () => {
    await using at = await folder();
    const path = join(at.path, ".env");
    await dotenvAt(path).set("A", "b");
    assertEquals((await stat(path)).mode & 0o777, 0o600);
    await writeFile(join(at.path, "wide"), "", { mode: 0o640 });
    await dotenvAt(join(at.path, "wide")).set("A", "b");
    assertEquals((await stat(join(at.path, "wide"))).mode & 0o777, 0o640);
  });

  it("with a slip in it is refused with the line, for reading and for writing", async () => {
    await using at = await folder();
    const path = join(at.path, ".env");
    const text = `A=1\nTOKEN ${secret}\nB='${secret}\n`;
    await writeFile(path, text);
    const store = dotenvAt(path);
    for (const task of [() => store.get("A"), () => store.set("A", secret), () => store.delete("A")]) {
      const message = await catchFailure(task());
      assertStringIncludes(message, "mesh.dotenv.v1: cannot ");
      assertStringIncludes(message, '"A"');
      assertStringIncludes(message, `"${path}": line 2 expected NAME=value`);
      assertStringIncludes(message, "line 3 has an unclosed quote");
    }
    assertEquals(await readFile(path, "utf8"), text);
  });

  it("that is missing, a folder or in none is said to be so", async () => {
    await using at = await folder();
    const message = await catchFailure(dotenvAt(join(at.path, "none")).get("KEY"));
    assertMatch(
      message,
      /^mesh\.dotenv\.v1: cannot look up the secret "KEY": there is no file ".*none"\. Create it with: /,
    );
    await mkdir(join(at.path, "folder"));
    assertMatch(
      await catchFailure(dotenvAt(join(at.path, "folder")).get("KEY")),
      /"KEY" in ".*folder": it is a folder$/,
    );
    assertMatch(await catchFailure(dotenvAt(join(at.path, "a", "b")).set("KEY", secret)), /there is no such folder$/);
  });

  it("is .env unless said, and its path has to be one", () => {
    const { create } = secretStore("mesh.dotenv.v1");
    const runtime = loopbackRuntime({}, { ".env": "KEY=value" });
    assertEquals(typeof create({}, runtime).get, "function");
    for (const path of ["", " ", 7, "a\0b", null]) {
      try {
        create({ path }, runtime);
        throw new Error(`took ${path}`);
      } catch (error) {
        assert(ConfigError.isInstance(error), String(error));
      }
    }
  });
});

describe("A file of secrets that several processes change", () => {
  it("loses nothing", async () => {
    await using at = await folder();
    const path = join(at.path, ".env");
    const [command, ...first] = entryCommand("cli");
    const names = Array.from({ length: 5 }, (_, number) => `NAME_${number}`);
    const ends = names.map((name) => {
      const args = [...first, "secrets", "set", name, `value of ${name}`, "--store", "mesh.dotenv.v1", "--path", path];
      return new Promise<number | null>((resolve) => spawn(command, args, { stdio: "ignore" }).on("close", resolve));
    });
    assertEquals(await Promise.all(ends), names.map(() => 0));
    assertEquals(await dotenvAt(path).list(), names);
    assertEquals(await readdir(at.path), [".env"]);
  });

  /** To be spread. */
  function listMethods(files: FileSystem): FileSystem {
    const { readText, writeText, replaceText, remove } = files;
    return { readText, writeText, replaceText, remove };
  }

  /** The file of a folder with a lock beside it, and stores over it. */
  async function locked(folder: string, lockOf: (now: number) => unknown) {
    const path = join(folder, ".env");
    const runtime = { ...serverRuntime(), clock: fakeClock({ skipSleeps: true }) };
    await writeFile(path, "A=1\n");
    const lock = lockOf(runtime.clock.now());
    await writeFile(`${path}.lock`, typeof lock === "string" ? lock : JSON.stringify(lock));
    const storeOf = (own: Partial<Runtime> = {}) =>
      secretStore("mesh.dotenv.v1").create({ path }, { ...runtime, ...own });
    return { runtime, clock: runtime.clock, text: () => readFile(path, "utf8"), storeOf };
  }

  it("waits for one that works on it, and no longer than its lock lasts: it may have been killed", async () => {
    await using at = await folder();
    const { clock, text, storeOf } = await locked(at.path, (now) => ({ owner: "another", expiresAt: now + 10_000 }));
    await storeOf().set!("B", "2");
    assertEquals(await text(), "A=1\nB=2\n");
    assert(clock.monotonic() >= 10_000);
    assertEquals(await readdir(at.path), [".env"]);
  });

  it("loses nothing where one that is late takes over from one that was killed, and another is quicker", async () => {
    await using at = await folder();
    const { runtime, text, storeOf } = await locked(at.path, (now) => ({ owner: "killed", expiresAt: now - 1 }));
    const files = runtime.files!;
    const [late, writing, tried] = [0, 0, 0].map(() => Promise.withResolvers<void>());
    const isLock = (path: string) => path.endsWith(".lock");

    // the late one has read the lock of the killed one, and goes on when the quick one has its own
    const readLate = async (path: string) => {
      const read = await files.readText(path);
      if (isLock(path)) await (late!.resolve(), writing!.promise);
      return read;
    };
    // the quick one writes when the late one and a third one have tried, or even written
    const replaceText = async (path: string, content: string) => {
      await (writing!.resolve(), tried!.promise);
      await files.replaceText(path, content);
    };
    const third = Promise.withResolvers<void>();
    const { clock } = runtime;
    const waiting = (then: () => void): Clock => ({
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, task) => clock.after(ms, task),
      every: (ms, task) => clock.every(ms, task),
      sleep: () => (then(), quick),
    });
    const startThird = () =>
      void storeOf({ clock: waiting(() => tried!.resolve()) }).set!("THIRD", "x")
        .finally(() => tried!.resolve()).then(third.resolve, third.reject);
    let isStarted = false;
    const lateClock = waiting(() => isStarted ||= (startThird(), true));
    const lateOne = storeOf({ clock: lateClock, files: { ...listMethods(files), readText: readLate } }).set!(
      "LATE",
      "x",
    );
    await late!.promise;
    const quick = storeOf({ files: { ...listMethods(files), replaceText } }).set!("QUICK", "x");
    await Promise.all([lateOne, quick, third.promise]);
    assertEquals((await text()).split("\n").sort(), ["", "A=1", "LATE=x", "QUICK=x", "THIRD=x"]);
    assertEquals(await readdir(at.path), [".env"]);
  });

  it("is left alone where another does not come to an end, or whose lock it is cannot be read", async () => {
    for (const lock of ["", "what", { owner: "another", expiresAt: Date.UTC(2100, 0) }]) {
      await using at = await folder();
      const { text, storeOf } = await locked(at.path, () => lock);
      const message = await catchFailure(storeOf().set!("B", secret));
      assertMatch(message, /another process is changing it; if there is none, remove ".*\.env\.lock"$/);
      assertEquals(await text(), "A=1\n");
    }
  });

  it("is left alone by a change that fails, and can be changed after it", async () => {
    await using at = await folder();
    const path = join(at.path, ".env");
    await writeFile(path, "A=1\nwhat\n");
    await catchFailure(dotenvAt(path).set("B", secret));
    await writeFile(path, "A=1\n");
    await dotenvAt(path).set("B", "2");
    assertEquals(await readFile(path, "utf8"), "A=1\nB=2\n");
  });
});

describe("An encrypted file of secrets", () => {
  it("shows neither names nor values, and looks different each time", async () => {
    await using at = await folder();
    const path = join(at.path, "secrets.json");
    const store = vaultAt(path);
    await store.set("OPENAI_API_KEY", secret);
    const first = await readFile(path, "utf8");
    await store.set("OPENAI_API_KEY", secret);
    const second = await readFile(path, "utf8");
    for (const text of [first, second]) assert(!/OPENAI|do-not|passphrase/.test(text), text);
    assertNotEquals(JSON.parse(first).iv, JSON.parse(second).iv);
    assertNotEquals(JSON.parse(first).data, JSON.parse(second).data);
    assertEquals(await vaultAt(path).get("OPENAI_API_KEY"), secret);
    assertEquals((await stat(path)).mode & 0o777, 0o600);
  });

  it("has a salt of its own, and names how its key is derived", async () => {
    await using at = await folder();
    const salts = new Set<string>();
    for (const name of ["one", "two"]) {
      await vaultAt(join(at.path, name)).set("A", "b");
      const { kdf, cipher, salt } = JSON.parse(await readFile(join(at.path, name), "utf8"));
      assertEquals([kdf, cipher], ["PBKDF2-SHA-256:600000", "AES-256-GCM"]);
      salts.add(salt);
    }
    assertEquals(salts.size, 2);
  });

  it("is opened by anybody who knows the passphrase and the standard algorithms", async () => {
    await using at = await folder();
    const path = join(at.path, "secrets.json");
    await vaultAt(path).set("A", secret);
    const { format, kdf, cipher, salt, iv, data } = JSON.parse(await readFile(path, "utf8"));
    const { pbkdf2Sync, createDecipheriv } = await import("node:crypto");
    const key = pbkdf2Sync("a passphrase", bytes(salt), 600_000, 32, "sha256");
    const sealed = bytes(data);
    const opened = createDecipheriv("aes-256-gcm", key, bytes(iv));
    opened.setAAD(new TextEncoder().encode([format, kdf, cipher, salt].join("\n")));
    opened.setAuthTag(sealed.subarray(-16));
    assertEquals(JSON.parse(opened.update(sealed.subarray(0, -16)).toString() + opened.final()), [["A", secret]]);
  });

  it("is not opened with another passphrase, nor without one", async () => {
    await using at = await folder();
    const path = join(at.path, "secrets.json");
    await vaultAt(path).set("A", secret);
    const before = await readFile(path, "utf8");
    const other = vaultAt(path, `other ${secret}`);
    for (const task of [() => other.get("A"), () => other.set("A", secret), () => other.delete("A")]) {
      assertMatch(await catchFailure(task()), /"A" in ".*": the passphrase in MESH_SECRETS_PASSPHRASE is not the one/);
    }
    for (const blank of [undefined, "", "  "]) {
      const message = await catchFailure(
        secretStore("mesh.encrypted-file.v1").create(
          { path },
          { ...serverRuntime(), env: () => blank },
        ).get("A"),
      );
      assertMatch(message, /^mesh\.encrypted-file\.v1: .*set the environment variable MESH_SECRETS_PASSPHRASE/);
    }
    assertEquals(await readFile(path, "utf8"), before);
  });

  it("that was cut short or changed anywhere is refused, and left as it is", async () => {
    await using at = await folder();
    const path = join(at.path, "secrets.json");
    const store = vaultAt(path);
    await store.set("A", secret);
    const whole = await readFile(path, "utf8");
    const end = whole.lastIndexOf("}");
    const cut = Array.from({ length: end }, (_, length) => whole.slice(0, length));
    const { salt, check, ...rest } = JSON.parse(whole);
    const flipped = ["iv", "data"].flatMap((field) =>
      Array.from({ length: bytes(rest[field]).length }, (_, place) => {
        const changed = bytes(rest[field]);
        changed[place]! ^= 1;
        return JSON.stringify({ ...rest, salt, check, [field]: btoa(String.fromCharCode(...changed)) });
      })
    );
    const others = [
      "null",
      "[]",
      "7",
      '"x"',
      "{}",
      "\0",
      JSON.stringify({ ...rest, salt }),
      whole.replace("600000", "1"),
    ];
    for (const text of [...cut, ...flipped, ...others]) {
      await writeFile(path, text);
      const message = await catchFailure(store.get("A"));
      assertMatch(
        message,
        /^mesh\.encrypted-file\.v1: cannot look up the secret "A" in ".*": (it|the passphrase) /,
        text,
      );
    }
    await catchFailure(store.set("A", secret));
    assertEquals(await readFile(path, "utf8"), others.at(-1));
    await writeFile(path, whole);
    assertEquals(await store.get("A"), secret);
  });

  it("keeps what another one writes into it at the same time", async () => {
    await using at = await folder();
    const path = join(at.path, "secrets.json");
    const stores = [vaultAt(path), vaultAt(path)];
    await stores[0]!.set("FIRST", "1");
    await stores[1]!.set("SECOND", "2");
    await stores[0]!.set("THIRD", "3");
    assertEquals(await stores[1]!.list(), ["FIRST", "SECOND", "THIRD"]);
  });

  it("needs its path", () => {
    const { create } = secretStore("mesh.encrypted-file.v1");
    try {
      create({}, serverRuntime());
      throw new Error("took none");
    } catch (error) {
      assertStringIncludes(String(error), "secrets.path");
    }
  });
});

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
