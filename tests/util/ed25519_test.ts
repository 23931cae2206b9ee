import { assert, assertEquals } from "@std/assert";
import { toBase64, toBase64Url } from "../../src/util/base64.ts";
import { isSigned, readPublicKey } from "../../src/util/ed25519.ts";

const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g)!, (byte) => parseInt(byte, 16));

/** RFC 8032, section 7.1, test 2: the message is the byte 0x72. */
const key = bytesOf("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
const signature = bytesOf(
  "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
);

Deno.test("isSigned() accepts the signature of RFC 8032, and no other text or signature", async () => {
  const signed = { text: "\x72", signature: toBase64(signature) };
  assert(await isSigned(signed, key));
  assert(await isSigned({ ...signed, signature: toBase64Url(signature) }, key));
  assertEquals(await isSigned({ ...signed, text: "s" }, key), false);
  for (const other of ["", "?", "AAAA", toBase64(signature.map((byte, at) => at === 9 ? byte ^ 1 : byte))]) {
    assertEquals(await isSigned({ ...signed, signature: other }, key), false, other);
  }
});

Deno.test("readPublicKey() reads 32 bytes, alone or as in PEM files", () => {
  const spki = toBase64(new Uint8Array([...bytesOf("302a300506032b6570032100"), ...key]));
  const pem = `-----BEGIN PUBLIC KEY-----\n${spki}\n-----END PUBLIC KEY-----\n`;
  for (const text of [toBase64(key), toBase64Url(key), spki, pem]) assertEquals(readPublicKey(text), key);
  const rsa = toBase64(new Uint8Array([...bytesOf("302a300506032b6571032100"), ...key]));
  for (const text of ["", "?", "AAAA", rsa]) assertEquals(readPublicKey(text), undefined);
});
