/** Formats, packing and encryption of records, over whatever keeps them. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MemoryStorage } from "../../../connectors/storage/memory.ts";
import { ConnectorError } from "../../../src/errors.ts";
import { fakeClock } from "../../../src/runtime/test.ts";
import { formatModules, type RecordFormat } from "../../../src/storage/_formats.ts";
import { CodedStorage, type Coding } from "../../../src/storage/coded_storage.ts";

const secret = "0123456789abcdef0123456789abcdef";
const value = {
  version: 1,
  text: "canary ключ 👍",
  list: [1, 2.5, -3, null, true],
  odd: { "": [], yes: "no", n: "017" },
};
const json = new TextEncoder().encode(JSON.stringify(value));
const textOf = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
const bare: Coding = { format: "json", isCompressed: false };
const formats: readonly RecordFormat[] = ["json", "yaml", "msgpack"];

function pair(coding: Partial<Coding> = {}): { inner: MemoryStorage; storage: CodedStorage } {
  const inner = new MemoryStorage(fakeClock());
  return { inner, storage: new CodedStorage(inner, { ...bare, ...coding }) };
}

async function toProblem(storage: CodedStorage, key = "state"): Promise<string> {
  const error = await assertRejects(() => storage.load(key), ConnectorError);
  return `${error.problem}: ${error.message}`;
}

describe("a record", () => {
  for (const format of formats) {
    for (const isCompressed of [false, true]) {
      for (const key of [undefined, secret]) {
        const how = `${format}${isCompressed ? ", packed" : ""}${key === undefined ? "" : ", encrypted"}`;
        it(`is read as it was written: ${how}; by any other setting with the key, too`, async () => {
          const { inner, storage } = pair({ format, isCompressed, secret: key });
          await storage.save("state", json);
          assertEquals(JSON.parse(textOf(await storage.load("state"))), value);
          const isPlain = textOf(await inner.load("state")).includes("canary");
          assertEquals(isPlain, !isCompressed && key === undefined);
          const other = new CodedStorage(inner, { ...bare, format: "yaml", secret });
          assertEquals(JSON.parse(textOf(await other.load("state"))), value);
        });
      }
    }
  }

  it("without a setting is JSON as it was given, byte by byte", async () => {
    const { inner, storage } = pair();
    await storage.save("state", json);
    assertEquals(await inner.load("state"), json);
  });

  it("that is packed is smaller", async () => {
    const { storage } = pair({ isCompressed: true });
    await storage.save("state", new TextEncoder().encode(JSON.stringify(Array(1000).fill(value))));
    assert((await storage.stat("state"))!.size < 2000);
  });

  it("whose format needs a package that is missing says which", async () => {
    const missing = () => Promise.reject(new TypeError("not found"));
    for (const [format, name] of [["yaml", "@std/yaml"], ["msgpack", "@msgpack/msgpack"]] as const) {
      const { storage } = pair({ format, modules: { ...formatModules, [format]: missing } });
      const error = await assertRejects(() => storage.save("state", json), ConnectorError);
      assertStringIncludes(error.message, `"${name}" is not installed: add it with`);
    }
  });
});

describe("a record that is damaged", () => {
  const nonsense: Readonly<Record<string, Uint8Array>> = {
    "packed, and cut off": Uint8Array.of(0x1f, 0x8b, 8, 0, 0),
    "not UTF-8": Uint8Array.of(0xff, 0xfe, 0x41),
    "msgpack, and cut off": Uint8Array.of(0x82, 0xa1),
    "msgpack with the key __proto__": Uint8Array.of(0x81, 0xa9, ...new TextEncoder().encode("__proto__"), 0x80),
    "YAML that is none": new TextEncoder().encode("a: [\n"),
  };
  for (const [what, bytes] of Object.entries(nonsense)) {
    it(`is reported as unreadable: ${what}`, async () => {
      const { inner, storage } = pair();
      await inner.save("state", bytes);
      assertStringIncludes(await toProblem(storage), 'unreadable: Cannot read the record "state": it is damaged');
    });
  }

  it("or too large is not looked into", async () => {
    const { inner, storage } = pair();
    const tooLarge = new Uint8Array(64 * 1024 * 1024 + 1);
    await inner.save("state", tooLarge);
    assertStringIncludes(await toProblem(storage), "larger than 64 MiB");
    const packed = new Blob([tooLarge]).stream().pipeThrough(new CompressionStream("gzip"));
    await inner.save("state", new Uint8Array(await new Response(packed).arrayBuffer()));
    assertStringIncludes(await toProblem(storage), "unreadable:");
  });
});

describe("an encrypted record", () => {
  it("is another one each time, and shows nothing of what is in it", async () => {
    const { inner, storage } = pair({ secret });
    const seen = new Set<string>();
    for (let count = 0; count < 20; count++) {
      await storage.save("state", json);
      const bytes = await inner.load("state");
      assertEquals(textOf(bytes).includes("canary"), false);
      seen.add(bytes!.slice(32).join());
    }
    assertEquals(seen.size, 20);
  });

  it("that was changed in any byte, or cut off anywhere, is refused", async () => {
    const { inner, storage } = pair({ secret });
    await storage.save("state", new TextEncoder().encode("{}"));
    const bytes = (await inner.load("state"))!;
    for (const place of bytes.keys()) {
      if (place >= 8 && place < 24) continue; // another salt is another key, and each costs a derivation: see below
      const changed = bytes.slice();
      changed[place]! ^= 1 << place % 8;
      await inner.save("state", changed);
      await assertRejects(() => storage.load("state"), ConnectorError, 'Cannot read the record "state"');
      await inner.save("state", bytes.slice(0, place));
      if (place > 0) await assertRejects(() => storage.load("state"), ConnectorError);
    }
    const salted = bytes.slice();
    salted[8]! ^= 1;
    await inner.save("state", salted);
    assertStringIncludes(await toProblem(storage), "encrypted with another MESH_STORAGE_KEY");
  });

  it("cannot take another one's place", async () => {
    const { inner, storage } = pair({ secret });
    await storage.save("config", json);
    await inner.save("state", (await inner.load("config"))!);
    assertStringIncludes(await toProblem(storage), "unreadable");
  });

  it("of another key is not damage: nothing is done to it, and the error says what to do", async () => {
    const { inner, storage } = pair({ secret });
    await storage.save("state", json);
    const other = new CodedStorage(inner, { ...bare, secret: secret.replace("0", "1") });
    assertStringIncludes(await toProblem(other), "forbidden: ");
    assertStringIncludes(await toProblem(other), "encrypted with another MESH_STORAGE_KEY. Set the one");
    const none = new CodedStorage(inner, bare);
    assertStringIncludes(await toProblem(none), "it is encrypted. Set storage.persistence.encryption to true");
  });

  it("is written with the salt of the one that was read", async () => {
    const { inner, storage } = pair({ secret });
    await storage.save("state", json);
    const salt = (await inner.load("state"))!.slice(8, 24);
    const next = new CodedStorage(inner, { ...bare, secret });
    await next.load("state");
    await next.save("state", json);
    assertEquals((await inner.load("state"))!.slice(8, 24), salt);
  });
});
