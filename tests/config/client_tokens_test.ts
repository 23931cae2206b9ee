/** Tokens of configured clients, and their hashes. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { validate } from "../../src/config/build/validate.ts";
import { ConfigError } from "../../src/errors.ts";
import { known } from "./_known.ts";

const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const token = "token-0123456789-abc";

function read(...tokens: readonly object[]) {
  return validate({ proxy: { auth: { tokens } } }, { knownConnectors: known }).proxy!.clients;
}

function findProblems(...tokens: readonly object[]): readonly string[] {
  try {
    read(...tokens);
    return [];
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error;
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

describe("A configured client", () => {
  it("has a token, or the hash of one, in any case", () => {
    const clients = read({ token, name: "a", notes: "one\ntwo" }, { token_hash: hash.toUpperCase(), name: "b" });
    assertEquals(clients.map(({ token, tokenHash, notes }) => [token, tokenHash, notes]), [
      [token, undefined, "one\ntwo"],
      [undefined, hash, undefined],
    ]);
  });

  it("may have models of its own, by any name or alias that a model has", () => {
    const { proxy } = validate({
      providers: { "acme.llm.v1": { api_key: "key-0123456789" } },
      models: { fast: { provider: "acme.llm.v1" } },
      aliases: { quick: "fast" },
      proxy: { auth: { tokens: [{ token, name: "a", models: ["fast", "quick"] }] } },
    }, { knownConnectors: known });
    assertEquals(proxy!.clients[0]!.models, ["fast", "quick"]);
  });

  const at = "proxy.auth.tokens";
  const wrong: readonly (readonly [tokens: readonly object[], problem: string])[] = [
    [[{ name: "a" }], `${at}[0].token: missing: this key is required, or "token_hash"`],
    [[{ name: "a", token, token_hash: hash }], `${at}[0].token_hash: cannot be combined with "token": set one of them`],
    [
      [{ name: "a", token_hash: "abc" }],
      `${at}[0].token_hash: expected a SHA-256, 64 hexadecimal digits, found "abc"`,
    ],
    [
      [{ name: "a", token_hash: hash }, { name: "b", token_hash: hash.toUpperCase() }],
      `${at}[1].token_hash: is the same token as ${at}[0]`,
    ],
    [[{ name: "a", token, models: ["nothing"] }], `${at}[0].models[0]: no model "nothing"; none are known`],
    [[{ name: "a", token, models: [] }], `${at}[0].models: expected at least one item, found an empty list`],
    [[{ name: "a", token, notes: "n".repeat(2001) }], `${at}[0].notes: expected up to 2000 characters, found a string`],
  ];
  for (const [tokens, problem] of wrong) {
    it(`is refused: ${problem}`, () => {
      assertEquals(findProblems(...tokens), [problem]);
    });
  }
});
