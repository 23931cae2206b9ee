import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { inspect } from "node:util";
import { create, MeshConfig, ModelMesh } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import {
  assertNoSecret,
  assertNoSecretIn,
  canaries,
  canaryConfig,
  canaryEnv,
  everything,
} from "../support/_canaries.ts";
import { runCommand, withProxyCommand } from "../support/_cli.ts";
import { goodBody } from "../support/_surface.ts";
import { type Behaviour, type ReceivedRequest, startUpstream, status, stream } from "../support/upstream.ts";

const url = "http://127.0.0.1:9/v1";

/** What a key must not have. A line end at its end is a slip of the file it came from, and is left out. */
const brokenKeys = ["\n", "\r", "\0", "\t", " ", "é", "\u001b[2J", "\u2028", "\u007f"].flatMap((character) => [
  `${canaries.key}${character}${canaries.second}`,
  `${character}${canaries.key}`,
]);

const brokenUrls = [
  `http://user:${canaries.base}@127.0.0.1:9/v1`,
  `http://${canaries.base}@127.0.0.1:9/v1`,
  `${url}?key=${canaries.base}`,
  `${url}#${canaries.base}`,
  `http:// user:${canaries.base}@127.0.0.1`,
  `https://127.0.0.1:99999/?${canaries.base}`,
  `postgres://user:${canaries.base}@127.0.0.1/db`,
];

function withProvider(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const config = canaryConfig(url);
  const providers = config.providers as Record<string, object>;
  providers.a = { ...providers.a, ...settings };
  return config;
}

/** Checks that a start fails with this configuration, by the library and by the command, and says nothing secret. */
async function assertFailsQuietly(
  config: Record<string, unknown>,
  env: Readonly<Record<string, string>>,
  where: string,
): Promise<void> {
  const mesh = new ModelMesh({ env, clock: fakeClock() });
  const error = await assertRejects(() => mesh.initialize(config), Error, undefined, where);
  assertNoSecretIn(error, `${where}: thrown`);
  assertNoSecret(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error), `${where}: printed`);
  const files = { "mesh.json": JSON.stringify(config) };
  const args = ["proxy", "--config", "mesh.json", "--json"];
  const { code, out, err } = await runCommand(args, { files, env, isTerminal: true });
  assertEquals(code, 1, where);
  assertNoSecret(out + err, `${where}: by the command`);
  assert(err !== "" && !err.includes("Unexpected"), `${where}: ${err}`);
}

describe("A secret that cannot be used", () => {
  it("is not shown: a key with a character that no header carries", async () => {
    for (const [place, key] of brokenKeys.entries()) {
      const where = `key ${place}`;
      await assertFailsQuietly(withProvider({ api_key: key }), canaryEnv, `${where}, literal`);
      await assertFailsQuietly(canaryConfig(url), { ...canaryEnv, KEY: key }, `${where}, by reference`);
      await assertFailsQuietly(canaryConfig(url), { ...canaryEnv, TOKEN: key }, `${where}, a token`);
    }
  });

  it("is not shown: a detected key", async () => {
    for (const key of brokenKeys.filter((key) => key.trim() === key)) {
      const error = await assertRejects(
        () => Promise.resolve().then(() => create("chat-completion", { env: { OPENAI_API_KEY: key } })),
      );
      assertNoSecretIn(error, "create()");
      assertStringIncludes((error as Error).message, "OPENAI_API_KEY");
      const { code, err } = await runCommand(["proxy"], { env: { OPENAI_API_KEY: key } });
      assertEquals(code, 1);
      assertNoSecret(err, "by the command");
    }
  });

  it("is not shown: an address with a password, a query or what looks like it", async () => {
    for (const address of brokenUrls) {
      await assertFailsQuietly(withProvider({ base_url: address }), canaryEnv, address);
      await assertFailsQuietly(withProvider({ base_url: "${secrets:BASE}" }), { ...canaryEnv, BASE: address }, address);
      const env = { OPENAI_API_KEY: "sk-0123456789abcdef", OPENAI_BASE_URL: address };
      const { code, err } = await runCommand(["proxy"], { env });
      assertEquals(code, 1, address);
      assertNoSecret(err, address);
    }
  });

  it("is not shown when something else is wrong beside it", async () => {
    const config = { ...canaryConfig(url), polls: {}, models: { a: { provider: "c" } } };
    await assertFailsQuietly(config, canaryEnv, "another mistake");
    const { TOKEN: _, ...rest } = canaryEnv;
    await assertFailsQuietly(canaryConfig(url), rest, "another secret is missing");
    for (const section of ["providers", "models", "pools", "proxy"]) {
      await assertFailsQuietly({ ...canaryConfig(url), [section]: `Bearer ${canaries.key}` }, canaryEnv, section);
    }
    await assertFailsQuietly(withProvider({ api_key: { value: canaries.key } }), canaryEnv, "in an object");
    await assertFailsQuietly(withProvider({ api_kye: canaries.key }), canaryEnv, "under a misspelt name");
  });
});

describe("A secret reference", () => {
  it("is what a configuration shows of a secret, never its value", async () => {
    const { providers, ...rest } = canaryConfig(url);
    const { a } = providers as Record<string, object>;
    const config = MeshConfig.parse({ ...rest, providers: { a, b: a } });
    const texts = [config.toJson(), await config.toYaml()];
    for (const text of texts) {
      assertStringIncludes(text, "${secrets:KEY}");
      assertNoSecret(text, "a configuration");
    }
  });
});

/** Everything that makes a proxy talk. */
function talkative(request: ReceivedRequest): Behaviour {
  const { number, headers } = request;
  const message = `Wrong: ${headers.authorization} ${headers.authorization?.replace("Bearer ", "")}`;
  if (request.json().stream === true && number % 3 !== 0) return stream({ error: { after: 1, error: { message } } });
  return status([400, 401, 429, 500, 404][number % 5]!, { error: { message } });
}

describe("What the command prints", () => {
  for (const isTerminal of [false, true]) {
    it(`has no key and no token in it, ${isTerminal ? "on a terminal" : "as JSON lines"}`, async () => {
      await using upstream = await startUpstream(talkative);
      const setup = {
        files: { "mesh.json": JSON.stringify(canaryConfig(upstream.url)) },
        env: { ...canaryEnv, MODELMESH_TOKEN: canaries.variable },
        isTerminal,
      };
      const args = ["--config", "mesh.json", "--json", "--log-level", "debug", "--token", `${canaries.token}-two`];
      const { out, err } = await withProxyCommand(args, setup, async (proxyUrl) => {
        for (const token of [canaries.token, canaries.variable, `${canaries.token}-two`, `${canaries.variable}x`]) {
          for (const model of ["chat", "a", "b"]) assertNoSecret(await ask(proxyUrl, token, model), model);
        }
      });
      assert(upstream.calls >= 9);
      assert(err.includes("routing") && err.includes("interrupted"), "it did talk");
      assertNoSecret(out + err, "the command");
    });
  }
});

async function ask(proxyUrl: string, token: string, model: string): Promise<string> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const bodies = [false, true].map((stream) => JSON.stringify({ ...goodBody, model, stream }));
  const answers = bodies.map((body) =>
    fetch(`${proxyUrl}/v1/chat/completions`, { method: "POST", headers, body }).then(everything)
  );
  return (await Promise.all(answers)).join("\n");
}
