/** The section `cache`: its defaults, and what is wrong with it. */
import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError } from "../../mod.ts";
import { serverConnectors } from "../../connectors/server.ts";
import { validate } from "../../src/config/build/validate.ts";
import { groupConnectors } from "../../src/config/settings/known.ts";

const known = groupConnectors(serverConnectors);
const base = {
  providers: { a: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1" } },
  models: { m: { provider: "a", capabilities: ["chat-completion"] } },
  pools: { talk: { models: ["m"] } },
  aliases: { other: "talk" },
};
const tokens = { proxy: { auth: { tokens: [{ token: "token-of-ann-0123456789", name: "ann" }] } } };

function read(cache: unknown, more: object = {}) {
  return validate({ ...base, ...more, cache }, { knownConnectors: known, detected: [] }).cache;
}

Deno.test("without the section there is no cache, and an empty one has defaults", () => {
  assertEquals(read(undefined), undefined);
  assertEquals(read({}), { ttlMs: 3_600_000, maxEntry: 1_000_000, scope: "client", coalesce: true });
});

Deno.test("each key is read", () => {
  const storage = { connector: "redis.redis.v1", url: "redis://127.0.0.1" };
  const cache = { storage, ttl: "5m", max_entry: "2MB", scope: "all", pools: ["other"], coalesce: false };
  assertEquals(read(cache), {
    storage: { connector: "redis.redis.v1", config: { url: "redis://127.0.0.1" } },
    ttlMs: 300_000,
    maxEntry: 2_000_000,
    scope: "all",
    pools: ["talk"],
    coalesce: false,
  });
});

const valid: readonly (readonly [what: string, cache: object, more?: object])[] = [
  ["a scope of clients in a program, which is its own", { scope: "client" }],
  ["a scope of clients in a proxy that has some", { scope: "client" }, tokens],
  ["no scope in a proxy without clients", {}, { proxy: {} }],
  ["all in a proxy without clients", { scope: "all" }, { proxy: {} }],
  ["teams where there are some", { scope: "team" }, { ...tokens, teams: { red: {} } }],
  ["memory", { storage: { connector: "mesh.memory.v1" } }],
  ["the mesh's own storage, which has no entries", {}, { storage: { connector: "mesh.local-file.v1" } }],
];
for (const [what, cache, more] of valid) {
  Deno.test(`valid is ${what}`, () => {
    assertEquals(read(cache, more) === undefined, false);
  });
}

const invalid: readonly (readonly [cache: unknown, path: string, message: RegExp, more?: object])[] = [
  [{ ttl: -1 }, "cache.ttl", /expected a duration.*found -1$/],
  [{ ttl: "-1s" }, "cache.ttl", /expected a duration/],
  [{ ttl: "0s" }, "cache.ttl", /expected a duration/],
  [{ ttl: 60 }, "cache.ttl", /expected a duration.*found 60: write "60s" or "60ms"$/],
  [{ max_entry: -1 }, "cache.max_entry", /expected a size.*found -1$/],
  [{ max_entry: 0 }, "cache.max_entry", /expected a size.*found 0$/],
  [{ max_entry: "0MB" }, "cache.max_entry", /expected a size/],
  [{ scope: "user" }, "cache.scope", /"client", "team"/],
  [{ scope: "client" }, "cache.scope", /no clients/, { proxy: {} }],
  [{ scope: "client" }, "cache.scope", /no clients/, { proxy: { auth: {} } }],
  [{ scope: "team" }, "cache.scope", /no teams/, tokens],
  [{ pools: ["tall"] }, "cache.pools[0]", /no pool "tall".*"talk"/],
  [{ pools: [] }, "cache.pools", /at least/],
  [{ coalesce: "yes" }, "cache.coalesce", /true or false/],
  [{ storage: {} }, "cache.storage.connector", /missing/],
  [{ storage: { connector: "mesh.memry.v1" } }, "cache.storage.connector", /no storage .*"mesh.memory.v1"/],
  [{ storage: { connector: "mesh.local-file.v1" } }, "cache.storage.connector", /cannot expire.*"mesh.memory.v1"/],
  [{ storage: { connector: "mesh.memory.v1", pth: 1 } }, "cache.storage.pth", /./],
  [{ age: 1 }, "cache.age", /unknown key/],
  [true, "cache", /expected an object/],
];
for (const [cache, path, message, more] of invalid) {
  Deno.test(`${JSON.stringify(cache)} is a problem of ${path}${more ? ` with ${Object.keys(more)}` : ""}`, () => {
    const { problems } = assertThrows(() => read(cache, more), ConfigError);
    assertEquals(problems.map((problem) => problem.path), [path]);
    assertEquals(message.test(problems[0]!.message), true, problems[0]!.message);
  });
}
