/** What a program passes as its environment is checked where it is read. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, create, type CreateOptions, ModelMesh } from "../../mod.ts";

const key = "sk-0123456789abcdef";

/** As a program without types may pass it. */
const toEnv = (env: unknown) => env as NonNullable<CreateOptions["env"]>;

const wrong: readonly (readonly [env: unknown, found: string])[] = [
  [{ OPENAI_API_KEY: 5 }, "a number"],
  [{ OPENAI_API_KEY: {} }, "an object"],
  [() => Promise.resolve(key), "a promise"],
  [() => Promise.reject(new Error("no vault")), "a promise"],
];

describe("A variable of the program's own environment that is not a string", () => {
  it("is a problem that names it, of detection and of secrets", async () => {
    const config = { providers: { a: { connector: "openai.llm.v1", api_key: "${secrets:OPENAI_API_KEY}" } } };
    for (const [env, found] of wrong) {
      const message = `env.OPENAI_API_KEY: expected a string or undefined, found ${found}`;
      assertThrows(() => create({ env: toEnv(env) }), ConfigError, message);
      const mesh = new ModelMesh({ env: toEnv(env) });
      await assertRejects(() => mesh.initialize(config), ConfigError, message);
      await mesh.close();
    }
  });

  it("is unset if it is null, and is not a problem if it is never read", async () => {
    await using client = create({ env: toEnv({ OPENAI_API_KEY: key, GROQ_API_KEY: null, PORT: 8080 }) });
    await client.ready();
    assertEquals(client.describe().providers.map(({ id }) => id), ["openai.llm.v1"]);
  });
});
