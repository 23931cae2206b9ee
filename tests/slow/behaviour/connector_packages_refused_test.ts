/** Archives that are not connector packages, by mistake or on purpose. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { catchPackageError, echo, encoder, manifest, withCacheApart, zip } from "../../support/_packages.ts";

/** Where an archive speaks of its last file: in its directory, and before the content. */
function parseHeaders(bytes: Uint8Array): { at: number; offset: number; size: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  let at = bytes.length - 22;
  while (view.getUint32(at, true) !== 0x02014b50) at--;
  return { at, offset: view.getUint32(at + 42, true), size: view.getUint32(at + 24, true) };
}

describe("An archive is refused that", () => {
  withCacheApart();

  it("reaches out of itself", async () => {
    for (
      const path of [
        "../evil.js",
        "/etc/evil.js",
        "a/../../evil.js",
        "C:/evil.js",
        "a\\..\\evil.js",
        "./a.js",
        "a//b.js",
        "a\u0000.js",
      ]
    ) {
      assertMatch(
        await catchPackageError({ ...echo, [path]: "x" }),
        /is refused: its entry ".*" is a path outside it/,
        path,
      );
    }
  });

  it("has two files where the case of names does not count", async () => {
    assertMatch(await catchPackageError({ ...echo, "MAIN.js": "x" }), /it contains "MAIN.js" twice/);
  });

  it("holds over 1 000 files", async () => {
    const files = Object.fromEntries(Array.from({ length: 999 }, (_, place) => [`f${place}.txt`, ""]));
    assertMatch(await catchPackageError({ ...echo, ...files }), /more than 1000 files/);
  });

  it("is over 64 MiB when unpacked, however small it is packed, and whatever it claims", async () => {
    const zeros = new Uint8Array(35 << 20);
    const bomb = zip({ ...echo, "a.bin": zeros, "b.bin": zeros });
    assert(bomb.length < 1 << 20, String(bomb.length));
    assertMatch(await catchPackageError(bomb), /over 64 MiB when unpacked/);
  });

  it("has a file of another size or checksum than it claims", async () => {
    const files = { "connector.json": manifest(), "main.js": "export const connector = {};\n".repeat(100) };
    const lies = /its entry "main\.js" does not match its declared size or checksum/;
    for (const level of [0, 6] as const) {
      const { at, offset, size } = parseHeaders(zip(files, level));
      const claims = [[24, 0], [24, 10], [24, size - 1], [24, size + 1], [24, 1 << 20], [16, 1]] as const;
      for (const [field, claim] of claims) {
        for (const both of [true, false]) {
          const liar = zip(files, level);
          const view = new DataView(liar.buffer, liar.byteOffset);
          view.setUint32(at + field, claim, true);
          if (both) view.setUint32(offset + field - 2, claim, true);
          assertMatch(await catchPackageError(liar), lies, `${field} is ${claim}, ${level}, ${both}`);
        }
      }
    }
  });

  it("claims the checksum of as much as it claims to hold", async () => {
    const text = "export const connector = {};\n";
    const liar = zip({ "connector.json": manifest(), "main.js": text.repeat(100) });
    const honest = zip({ "connector.json": manifest(), "main.js": text });
    const [from, to] = [parseHeaders(honest), parseHeaders(liar)];
    const [source, target] = [honest, liar].map(({ buffer, byteOffset }) => new DataView(buffer, byteOffset));
    for (const field of [16, 24]) {
      const claim = source!.getUint32(from.at + field, true);
      target!.setUint32(to.at + field, claim, true);
      target!.setUint32(to.offset + field - 2, claim, true);
    }
    assertMatch(await catchPackageError(liar), /its entry "main\.js" does not match its declared size or checksum/);
  });

  it("is none, is cut off, or has no manifest that holds", async () => {
    assertMatch(await catchPackageError(encoder.encode("no zip at all")), /not a ZIP archive, or is damaged/);
    assertMatch(await catchPackageError(zip(echo).slice(0, -30)), /not a ZIP archive, or is damaged/);
    assertMatch(await catchPackageError({ "main.js": "" }), /no connector\.json at its top/);
    assertMatch(await catchPackageError({ "connector.json": "{" }), /is not JSON/);
    assertMatch(await catchPackageError({ "connector.json": "[]" }), /is not an object/);
    assertEquals(
      await catchPackageError({
        "connector.json": JSON.stringify({ id: "x", type: "plugin", entry: "../x.js", config_schema: 1 }),
      }),
      'The connector package bad.zip is refused: in connector.json "id" has to have the form "acme.llm.v1"; "type" has to be ' +
        'one of provider, strategy, secret_store, storage, observability, discovery, guard; "version" has to have the form "1.0.0"; "entry" has ' +
        'to be a file of the package that ends in .js or .mjs; "config_schema" has to be a JSON Schema, an object',
    );
  });

  it("has an entry that does not run, or exports something else", async () => {
    const withMain = (text: string) => catchPackageError({ "connector.json": manifest(), "main.js": text });
    assertMatch(await withMain("throw new Error('canary');"), /cannot be loaded \(see the error's cause\)/);
    assertMatch(await withMain("export const other = 1;"), /has to export a connector/);
    assertMatch(
      await withMain("export default { id: 'b.c.v1', kind: 'provider', create() {} };"),
      /has to have the id "acme\.echo\.v1"/,
    );
    assertMatch(
      await withMain("export default { id: 'acme.echo.v1', kind: 'provider', create() {} };"),
      /"vendor" and "models"/,
    );
  });
});
