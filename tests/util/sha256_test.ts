/** SHA-256 at once. */
import { assertEquals } from "@std/assert";
import { sha256 } from "../../src/util/sha256.ts";

async function ofPlatform(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

Deno.test("sha256 is what the platform computes, for every length around a block's end", async () => {
  for (let length = 0; length <= 200; length++) {
    const text = Array.from({ length }, (_, index) => String.fromCharCode(33 + (index * 7 + length) % 90)).join("");
    assertEquals(sha256(text), await ofPlatform(text), `length ${length}`);
  }
});

Deno.test("sha256 hashes UTF-8", async () => {
  for (const text of ["", "ä€𝄞", "mm_" + "A-_z".repeat(11)]) assertEquals(sha256(text), await ofPlatform(text));
});
