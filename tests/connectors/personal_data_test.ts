/** What the guard of personal data finds, what it leaves, and how long it takes. */
import { assertEquals } from "@std/assert";
import { findPersonalData, type PersonalDataType } from "../../connectors/guards/_personal_data.ts";
import { piiGuard } from "../../connectors/guards/pii.ts";
import type { GuardContext } from "../../src/contracts/guard.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import { assertEffort } from "../support/effort.ts";

const types = new Set<PersonalDataType>(["email", "phone", "card", "iban", "ip", "key"]);

/** What is found in a text, as `type: part`. */
function find(text: string): string[] {
  return findPersonalData(text, types).map(({ type, start, end }) => `${type}: ${text.slice(start, end)}`);
}

const token = `eyJ${"a".repeat(20)}.eyJ${"b".repeat(400)}.${"c".repeat(43)}`;
const found: readonly (readonly [text: string, ...parts: string[]])[] = [
  ["4111 1111 1111 1111 5555 5555 5555 4444", "card: 4111 1111 1111 1111", "card: 5555 5555 5555 4444"],
  ["17,4111111111111111,12/29", "card: 4111111111111111"],
  ["4111111111111111EUR", "card: 4111111111111111"],
  ["4111 1111\n1111 1111", "card: 4111 1111\n1111 1111"],
  ["1 12 123 1234 12345 1234 123 12 1 2 3 4111 1111 1111 1111", "card: 4111 1111 1111 1111"],
  [
    "DE89 3704 0044 0532 0130 00 GB82 WEST 1234 5698 7654 32",
    "iban: DE89 3704 0044 0532 0130 00",
    "iban: GB82 WEST 1234 5698 7654 32",
  ],
  [
    "DE89 3704 0044 0532 0130 00 4111 1111 1111 1111",
    "iban: DE89 3704 0044 0532 0130 00",
    "card: 4111 1111 1111 1111",
  ],
  ["de89370400440532013000", "iban: de89370400440532013000"],
  ["jürgen.groß@müller.de", "email: jürgen.groß@müller.de"],
  ["o'brien@example.com", "email: o'brien@example.com"],
  ["'bob@example.com'", "email: bob@example.com"],
  ["邮箱bob@example.com地址", "email: bob@example.com"],
  ["пример@почта.рф", "email: пример@почта.рф"],
  ["at ::ffff:192.168.1.1 now", "ip: ::ffff:192.168.1.1"],
  ["2001:db8::8a2e:370:7334", "ip: 2001:db8::8a2e:370:7334"],
  ["10.0.0.1:8080", "ip: 10.0.0.1"],
  ["+49 (0) 170 1234567", "phone: +49 (0) 170 1234567"],
  ["+33 6 12 34 56 78.", "phone: +33 6 12 34 56 78"],
  ["(555) 123-4567", "phone: (555) 123-4567"],
  [token, `key: ${token}`],
];

for (const [text, ...parts] of found) {
  Deno.test(`personal data is found whole in ${JSON.stringify(text.slice(0, 60))}`, () => {
    assertEquals(find(text), parts);
  });
}

for (
  const text of [
    "v1.2.3.4",
    "version 1.2.3.4",
    "12:30:45",
    "2026-11-27T07:22:39.123Z",
    "550e8400-e29b-41d4-a716-446655440000",
    "2019 2020 2021 2022 2023",
    "a::b",
    "Face::feed()",
    "std::vector<int>",
    "12:34:56:78:9a:bc",
    "0.4111111111111111",
    "order 4111111111111112",
    "1764228159123",
  ]
) {
  Deno.test(`no personal data is found in ${JSON.stringify(text)}`, () => assertEquals(find(text), []));
}

const words = "The quick brown fox jumps over the lazy dog. ";
for (
  const [what, part] of Object.entries({
    "letters after the beginning of an IBAN": `AB12${"A".repeat(60)} `,
    "digits after the beginning of a phone number": `+49${"1".repeat(60)} `,
    "single digits": "4 ",
    "short groups": "AB12 ",
    "labels of a domain": "a@a.",
    "addresses": "1.2.3.4 ",
  })
) {
  Deno.test(`${what} take no longer than other texts of their length`, async () => {
    const work = (text: string) => () => findPersonalData(text, types);
    const repeat = (text: string) => text.repeat(3_000 / text.length);
    await assertEffort(what, { work: work(repeat(part)), than: work(repeat(words)), most: 200 });
  });
}

Deno.test("replacing a lot of personal data takes little longer than finding none", async () => {
  const guard = piiGuard.create({ action: "restore" }, testRuntime());
  const context = () => ({ stage: "request", pool: "chat", requestId: "r", request: {} }) as unknown as GuardContext;
  const addresses = Array.from({ length: 5_000 }, (_, at) => `a${at}@example.com`).join(" ");
  const others = `1 @ ${words.repeat(addresses.length / words.length)}`; // with signs of some, which a search cannot rule out
  const check = (text: string) => () => guard.check([{ path: "input", text }], context());
  await assertEffort("replacing", { work: check(addresses), than: check(others), most: 60 });
});
