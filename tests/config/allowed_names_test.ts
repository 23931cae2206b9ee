import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigError, create, type CreateOptions, ModelNotFoundError } from "../../mod.ts";

const env = { OPENAI_API_KEY: "sk-0123456789", ANTHROPIC_API_KEY: "sk-ant-0123456789" };

function message(options: CreateOptions): string {
  return assertThrows(() => create(options), ConfigError).message;
}

/** The names after `allowed: `, and how many more there are. */
function readAllowed(text: string): { names: string[]; more: number } {
  const [, list = "", more = "0"] = /allowed: ((?:"[^"]+"(?:, )?)+)(?: and (\d+) more)?/.exec(text) ?? [];
  return { names: [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name!), more: Number(more) };
}

Deno.test("of many names a message lists the ten nearest by spelling, and counts the others", () => {
  const cases: [options: CreateOptions, nearest: string][] = [
    [{ env, providers: ["opnai"] }, "openai"],
    [{ env, models: ["gpt-4oo"] }, "openai.gpt-4o"],
    [{ config: { providers: { x: { connector: "xai.groc.v1" } } } }, "xai.grok.v1"],
    [{ config: { providers: { x: { connector: "openai.llm.v1", api_kye: "k" } } } } as never, "api_key"],
    [
      { env, config: { providers: { "openai.llm.v1": {} }, pools: { chat: { models: ["gpt-4oo"] } } } },
      "openai.gpt-4o",
    ],
  ];
  for (const [options, near] of cases) {
    const text = message(options);
    const { names, more } = readAllowed(text);
    assertEquals([names.length, names[0], more > 0], [10, near, true], text);
  }
});

Deno.test("all names that resemble a misspelt one are listed before those that do not", () => {
  const { names } = readAllowed(message({ env, models: ["gpt-5-mimi"] }));
  assertEquals(names[0], "openai.gpt-5-mini");
  assertEquals(names.filter((name) => name.startsWith("anthropic")), []);
});

Deno.test("ten names or fewer are listed in their own order", () => {
  const { names, more } = readAllowed(message({ env, strategy: "round-robbin" }));
  assertEquals([names[0], names.length, more], ["stick-until-failure", 8, 0]);
});

Deno.test("a name that resembles none gets ten as well", () => {
  assertMatch(message({ env, providers: ["zzzzzz"] }), /^[^?]*; allowed: (?:"[^"]+"(?:, )?){10} and \d+ more$/);
});

Deno.test("a model or provider that is to be deactivated is looked for by spelling", async () => {
  const client = create("chat-completion", { env });
  await client.ready();
  const error = assertThrows(() => client.mesh.deactivate("claude-haiku-4-6"), ModelNotFoundError);
  assertStringIncludes(error.message, `there are "anthropic.claude-haiku-4-5"`);
  await client.close();
});
