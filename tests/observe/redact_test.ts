/** What has the form of a secret is redacted, although no configuration has it. */
import { assertEquals } from "@std/assert";
import { redactAll, Redactor } from "../../src/observe/redact.ts";
import { SecretIndex } from "../../src/observe/secret_index.ts";

const cases: readonly (readonly [text: string, redacted: string])[] = [
  ["from https://user:pa55word@host.example/a", "from https://[redacted]@host.example/a"],
  ["through http://token-alone@[::1]:80, failed", "through http://[redacted]@[::1]:80, failed"],
  ["redis://:pa55word@db:6379", "redis://[redacted]@db:6379"],
  ["GET /v1?key=abc123&alt=sse", "GET /v1?key=[redacted]&alt=sse"],
  ['"https://a.example/x?a=1&API_KEY=abc#top"', '"https://a.example/x?a=1&API_KEY=[redacted]#top"'],
  ["?X-Amz-Credential=AK/1&X-Amz-Signature=0a1b", "?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]"],
  ["?access_token=a.b-c~d", "?access_token=[redacted]"],
  ["from eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln, of a", "from [redacted], of a"],
  ["wss://h/x?subscription-key=abc", "wss://h/x?subscription-key=[redacted]"],
];

/** Texts without a secret. */
const plain = [
  "https://host.example/@scope/name?monkey=1&tokens=5",
  "mail a@b.example, or see http://host.example",
  "what is the key=value form?",
  "https://host.example/?sort=key",
];

Deno.test("credentials in a URL, and parameters that carry keys, are redacted", () => {
  const redactor = new Redactor();
  for (const [text, redacted] of cases) assertEquals(redactor.redact(text), redacted);
  for (const text of plain) assertEquals(redactor.redact(text), text);
});

Deno.test("a secret is redacted at every depth, and what is nested too deeply is left out", () => {
  const redactor = new Redactor();
  redactor.add("pa55word-of-mine");
  const nest = (levels: number, value: unknown): unknown => levels === 0 ? value : { in: nest(levels - 1, value) };
  for (let levels = 0; levels < 20; levels++) {
    const text = JSON.stringify(redactAll(nest(levels, "pa55word-of-mine"), (text) => redactor.redact(text)));
    assertEquals(text.includes("pa55word"), false, text);
  }
});

/** Two redactors of the same secrets: one that looks for one after the other, and one that finds them by an index. */
function redactorsOf(secrets: readonly string[]): [plain: Redactor, indexed: Redactor] {
  const [plain, indexed] = [new Redactor(), new Redactor()];
  indexed.createIndex = (forms) => new SecretIndex(forms);
  for (const secret of secrets) for (const redactor of [plain, indexed]) redactor.add(secret);
  return [plain, indexed];
}

Deno.test("many secrets are redacted as few are, in all their encodings", () => {
  const secrets = Array.from({ length: 200 }, (_, number) => `token-${number}-of-${"a client ".repeat(number % 3)}end`);
  const [plain, indexed] = redactorsOf(secrets);
  const texts = secrets.flatMap((secret) => [
    secret,
    `before ${secret}, ${secret}${secret} and after`,
    encodeURIComponent(secret),
    btoa(secret),
    JSON.stringify({ secret }),
    secret.slice(0, -1),
  ]);
  for (const text of ["", "token-", ...texts]) assertEquals(indexed.redact(text), plain.redact(text), text);
});

Deno.test("of secrets that overlap, nothing is left where there are many", () => {
  const [, indexed] = redactorsOf(["first-and-second", "second-and-third"]);
  assertEquals(indexed.redact("a first-and-second-and-third z"), "a [redacted] z");
});
