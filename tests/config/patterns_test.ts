/** Patterns in lists of models, which contain names. */
import { assertEquals } from "@std/assert";
import { validate } from "../../src/config/build/validate.ts";
import { catchProblems, known } from "./_known.ts";

const advice = 'is a pattern: list names, or let "capability" and "providers" of a pool select models';

const documents: readonly (readonly [what: string, provider: object])[] = [
  ["the catalogue", {}],
  ["a provider that lists its models", { discovery: { enumerate_models: true } }],
];

for (const [what, more] of documents) {
  Deno.test(`a pattern in a list of models is a problem, with the models of ${what}`, () => {
    const document = {
      providers: { "acme.llm.v1": { api_key: "key-0123456789", ...more } },
      pools: { chat: { models: ["acme/*"], model_priority: ["small*"] } },
      proxy: { auth: { tokens: [{ token: "token-of-tests-0123456789", name: "web", models: ["*"] }] } },
    };
    assertEquals(catchProblems(() => validate(document, { knownConnectors: known })), [
      `pools.chat.model_priority[0]: "small*" ${advice}`,
      `pools.chat.models[0]: "acme/*" ${advice}`,
      `proxy.auth.tokens[0].models[0]: "*" ${advice}`,
    ]);
  });
}

Deno.test("a pattern as an alias is a warning: it stands for itself", () => {
  const document = {
    providers: { "acme.llm.v1": { api_key: "key-0123456789" } },
    pools: { chat: { models: ["small"] } },
    aliases: { "gpt-*": "chat" },
  };
  assertEquals(
    validate(document, { knownConnectors: known }).warnings.filter(({ path }) => path.startsWith("aliases")),
    [
      { path: "aliases.gpt-*", message: "stands for this name only: an alias is not a pattern" },
    ],
  );
});
