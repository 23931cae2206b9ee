import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { generateKeyPairSync } from "node:crypto";
import { assertionSigner, readServiceAccount } from "../../src/util/service_account.ts";

const pair = generateKeyPairSync("rsa", { modulusLength: 1024 });
const jsonKey = {
  client_email: "robot@project.example",
  private_key: pair.privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  private_key_id: "key-1",
  token_uri: "https://tokens.example/token",
};

Deno.test("readServiceAccount() reads a JSON key, as text or parsed", () => {
  const account = readServiceAccount(jsonKey);
  assertEquals(
    [account.clientEmail, account.keyId, account.tokenUrl],
    ["robot@project.example", "key-1", "https://tokens.example/token"],
  );
  assertEquals(account.privateKey[0], 0x30, "DER begins with a sequence");
  assertEquals(readServiceAccount(JSON.stringify(jsonKey)), account);
});

Deno.test("readServiceAccount() says what is wrong, and quotes nothing", () => {
  const canary = "CANARY";
  const cases: readonly (readonly [given: string | Record<string, unknown>, message: string])[] = [
    [`{"private_key": "${canary}`, "it is not valid JSON"],
    [`["${canary}"]`, "expected an object"],
    [{ private_key: canary }, 'has no "client_email"'],
    [{ client_email: canary }, 'has no "private_key"'],
    [{ client_email: "a", private_key: canary }, "not PKCS#8 in PEM"],
    [
      { client_email: "a", private_key: `-----BEGIN PRIVATE KEY-----\n${canary}!\n-----END PRIVATE KEY-----` },
      "is not base64",
    ],
  ];
  for (const [given, message] of cases) {
    const error = assertThrows(() => readServiceAccount(given), TypeError, message);
    assert(!error.message.includes(canary), error.message);
  }
});

Deno.test("assertionSigner() signs an hour's claims with the account's key", async () => {
  const sign = assertionSigner(readServiceAccount(jsonKey), { audience: "https://aud.example", scope: "read write" });
  const [head, claims, signature] = (await sign(1_700_000_000_999)).split(".");
  const decode = (part: string) => JSON.parse(atob(part.replaceAll("-", "+").replaceAll("_", "/")));
  assertEquals(decode(head!), { alg: "RS256", typ: "JWT", kid: "key-1" });
  assertEquals(decode(claims!), {
    iss: "robot@project.example",
    aud: "https://aud.example",
    scope: "read write",
    iat: 1_700_000_000,
    exp: 1_700_003_600,
  });
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
  const spki = pair.publicKey.export({ type: "spki", format: "der" });
  const key = await crypto.subtle.importKey("spki", Uint8Array.from(spki), algorithm, false, ["verify"]);
  const bytes = Uint8Array.from(
    atob(signature!.replaceAll("-", "+").replaceAll("_", "/")),
    (character) => character.charCodeAt(0),
  );
  assert(await crypto.subtle.verify(algorithm, key, bytes, new TextEncoder().encode(`${head}.${claims}`)));
});

Deno.test("assertionSigner() rejects with a key that is none of RSA", async () => {
  const privateKey = Uint8Array.of(1, 2, 3);
  const sign = assertionSigner({ clientEmail: "a", privateKey }, { audience: "b" });
  await assertRejects(() => sign(0));
});
