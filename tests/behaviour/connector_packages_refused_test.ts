/** Archives that are no connector packages, by mistake or on purpose. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { echo, encoder, manifest, refusalOf, withCacheApart, zip } from "../support/_packages.ts";

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
      assertMatch(await refusalOf({ ...echo, [path]: "x" }), /is refused: its entry ".*" is no path inside it/, path);
    }
  });

  it("has two files where the case of names does not count", async () => {
    assertMatch(await refusalOf({ ...echo, "MAIN.js": "x" }), /it holds "MAIN.js" twice/);
  });

  it("holds over 1 000 files", async () => {
    const files = Object.fromEntries(Array.from({ length: 999 }, (_, place) => [`f${place}.txt`, ""]));
    assertMatch(await refusalOf({ ...echo, ...files }), /more than 1000 files/);
  });

  it("is over 64 MiB when unpacked, however small it is packed, and whatever it claims", async () => {
    const zeros = new Uint8Array(35 << 20);
    const bomb = zip({ ...echo, "a.bin": zeros, "b.bin": zeros });
    assert(bomb.length < 1 << 20, String(bomb.length));
    assertMatch(await refusalOf(bomb), /over 64 MiB when unpacked/);
    const liar = zip({ "connector.json": manifest(), "main.js": zeros });
    const view = new DataView(liar.buffer, liar.byteOffset);
    for (let at = 0; at < liar.length - 4; at++) {
      if (view.getUint32(at, true) === 0x02014b50 && view.getUint32(at + 24, true) > 1 << 20) {
        view.setUint32(at + 24, 10, true);
      }
    }
    assertMatch(
      await refusalOf(liar),
      /cannot be loaded|has to export a connector/,
      "no more is unpacked than it claims",
    );
  });

  it("is none, is cut off, or has no manifest that holds", async () => {
    assertMatch(await refusalOf(encoder.encode("no zip at all")), /no zip archive, or a damaged one/);
    assertMatch(await refusalOf(zip(echo).slice(0, -30)), /no zip archive, or a damaged one/);
    assertMatch(await refusalOf({ "main.js": "" }), /no connector\.json at its top/);
    assertMatch(await refusalOf({ "connector.json": "{" }), /is no JSON/);
    assertMatch(await refusalOf({ "connector.json": "[]" }), /is no object/);
    assertEquals(
      await refusalOf({
        "connector.json": JSON.stringify({ id: "x", type: "plugin", entry: "../x.js", config_schema: 1 }),
      }),
      'The connector package bad.zip is refused: in connector.json "id" has to be such as "acme.llm.v1"; "type" has to be ' +
        'one of provider, strategy, secret_store, storage, observability; "version" has to be such as "1.0.0"; "entry" has ' +
        'to be a file of the package that ends in .js or .mjs; "config_schema" has to be a JSON Schema, an object',
    );
  });

  it("has an entry that does not run, or exports something else", async () => {
    const withMain = (text: string) => refusalOf({ "connector.json": manifest(), "main.js": text });
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
