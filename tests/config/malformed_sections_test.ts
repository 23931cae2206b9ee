import { allowedEndpoints } from "../support/_endpoints.ts";
import { assertEquals } from "@std/assert";
import { validate } from "../../src/config/build/validate.ts";
import { listNearest } from "../../src/config/schema/report.ts";
import { allowed } from "./_malformed.ts";
import { catchProblems, known } from "./_known.ts";

const allowedAlgorithms = (name: string) =>
  `allowed: ${
    listNearest(name, [
      ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
    ])
  }`;

const cyclic: Record<string, unknown> = {};
cyclic.a = { b: [cyclic] };
const wide = Array.from({ length: 100_001 }, () => 1);

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { a: nested(depth - 1) };
}

/** A document, and every problem it has. */
const malformed: readonly (readonly [document: unknown, ...problems: string[]])[] = [
  [null, "expected an object, found nothing"],
  [[], "expected an object, found a list"],
  ["x", "expected an object, found a string"],
  [new Date(0), "expected an object, found an instance or one with methods"],
  [
    { polls: {} },
    `polls: unknown key, did you mean "pools"? (${allowed("", "polls")})`,
  ],
  [
    { zzz: {} },
    `zzz: unknown key; ${allowed("", "zzz")}`,
  ],
  [{ proxy: "8080" }, "proxy: expected an object, found a string"],
  [JSON.parse('{"pools":{"__proto__":{"strategy":"x"}}}'), "pools.__proto__: a key of this name is not allowed"],
  [{ proxy: { constructor: 1 } }, "proxy.constructor: a key of this name is not allowed"],
  [{ secrets: { prototype: {} } }, "secrets.prototype: a key of this name is not allowed"],
  [{ "proxy.__proto__": 1 }, "proxy.__proto__: a key of this name is not allowed"],
  [{ pools: cyclic }, "pools.a.b[0]: contains itself"],
  [{ secrets: nested(70) }, "is nested more than 64 levels deep"],
  [{ secrets: { a: wide } }, "has more than 100000 values, counting aliases at each occurrence"],
  [
    { secrets: { store: "mesh.env" } },
    'secrets.store: no secret store "mesh.env" is registered, did you mean "mesh.env.v1"? (allowed: "mesh.env.v1", "mesh.dotenv.v1")',
  ],
  [
    { secrets: { path: "${secrets:P}", token: "${secrets:T}" } },
    "secrets.path: must be a literal: a secret reference is not supported here",
    "secrets.token: cannot be a secret reference: this section configures the secret store",
  ],
  [
    { observability: { routing: { connector: "mesh.local-file.v1", path: "x" } } },
    'observability.routing.connector: no sink "mesh.local-file.v1" is registered; allowed: "mesh.console.v1", "mesh.webhook.v1"',
  ],
  [
    { observability: { events: { filter: ["rotations"] } } },
    'observability.events.filter[0]: unknown value "rotations", did you mean "rotation"? (allowed: "rotation", "deactivation", "recovery", "health", "budget", "outage", "batch", "guard")',
  ],
  [
    { observability: { logging: { max_payload_size: -1 } } },
    "observability.logging.max_payload_size: expected an integer of 0 or more, found -1",
  ],
  [
    { storage: { sync_policy: "sometimes", sync_interval: 5 } },
    'storage.sync_policy: unknown value "sometimes"; allowed: "in-memory", "sync-on-boundary", "periodic", "immediate"',
    'storage.sync_interval: expected a duration above 0 such as "500ms" or "1h30m", found 5: write "5s" or "5ms"',
  ],
  [
    { discovery: { health: { interval: "0s", failure_threshold: 0 } } },
    'discovery.health.interval: expected a duration above 0 such as "500ms" or "1h30m", found "0s"',
    "discovery.health.failure_threshold: expected an integer of 1 or more, found 0",
  ],
  [{ proxy: { port: 65536 } }, "proxy.port: expected an integer from 0 to 65535, found 65536"],
  [{ proxy: { port: "8080" } }, 'proxy.port: expected an integer from 0 to 65535, found "8080"'],
  [
    { proxy: { host: "http://localhost" } },
    'proxy.host: expected a host name or an IP address without scheme, port or path, such as "127.0.0.1", found "http://localhost"',
  ],
  [
    { proxy: { endpoints: ["/v1/embeddings", "chat"] } },
    'proxy.endpoints[0]: unknown value "/v1/embeddings": write "embeddings"',
    `proxy.endpoints[1]: unknown value "chat", did you mean "chat/completions"? ${allowedEndpoints}`,
  ],
  [
    { proxy: { auth: { method: "basic", tokens: [] } } },
    'proxy.auth.method: unknown value "basic"; allowed: "bearer"',
    "proxy.auth.tokens: expected at least one item, found an empty list",
  ],
  [
    { proxy: { auth: { jwt: [{ issuer: "https://a.example", audience: "a", algorithms: ["HS256", "none"] }] } } },
    `proxy.auth.jwt[0].algorithms[0]: unknown value "HS256", did you mean "RS256"? (${allowedAlgorithms("HS256")})`,
    `proxy.auth.jwt[0].algorithms[1]: unknown value "none"; ${allowedAlgorithms("none")}`,
  ],
  [
    { proxy: { auth: { jwt: [{ issuer: "mine", audience: [], jwks_uri: "https://a.example" }, {}] } } },
    "proxy.auth.jwt[0].audience: expected at least one item, found an empty list",
    "proxy.auth.jwt[1].issuer: missing: this key is required",
    "proxy.auth.jwt[1].audience: missing: this key is required",
  ],
  [
    { proxy: { auth: { jwt: [{ issuer: "mine", audience: "a", allow: { a: { b: 1 }, c: [], d: "${secrets:X}" } }] } } },
    'proxy.auth.jwt[0].issuer: expected an https URL such as "https://login.example.com/keys", or set "jwks_uri"',
    ...["a", "c", "d"].map((claim) =>
      `proxy.auth.jwt[0].allow.${claim}: expected a literal string, a number, true or false, or a list`
    ),
  ],
  [
    {
      proxy: { auth: { jwt: [{ issuer: "https://a.example", audience: "a", jwks_uri: "https://me:you@a.example" }] } },
    },
    'proxy.auth.jwt[0].jwks_uri: expected an https URL such as "https://login.example.com/keys" without a user name or password, found a string',
  ],
  [
    { proxy: { auth: { tokens: ["", "  ", "a b", 5, {}, { token: "x y" }] } } },
    "proxy.auth.tokens[0]: expected a string, found a blank one",
    "proxy.auth.tokens[1]: expected a string, found a blank one",
    "proxy.auth.tokens[2]: has a space, a control or a non-ASCII character at position 2, which a key must not contain",
    "proxy.auth.tokens[3]: expected a string, found a number: put it in quotes",
    "proxy.auth.tokens[4].name: missing: this key is required",
    'proxy.auth.tokens[4].token: missing: this key is required, or "token_hash"',
    "proxy.auth.tokens[5].name: missing: this key is required",
    "proxy.auth.tokens[5].token: has a space, a control or a non-ASCII character at position 2, which a key must not contain",
  ],
  [
    {
      proxy: {
        auth: {
          tokens: [
            { token: "a-token-long-enough", name: "app", pools: ["chatt", "chat-completion"], rpm: 0 },
            { token: "another-token-long-enough", name: "app", pools: [], budget: { daily: 1 } },
          ],
        },
      },
    },
    "proxy.auth.tokens[0].rpm: expected an integer of 1 or more, found 0",
    "proxy.auth.tokens[1].pools: expected at least one item, found an empty list",
    'proxy.auth.tokens[1].budget.daily: unknown key, did you mean "daily_limit"? (allowed: "daily_limit", "monthly_limit", "alert_at")',
    'proxy.auth.tokens[0].pools[0]: no pool "chatt"; none are known',
    'proxy.auth.tokens[1].name: another client is called "app": limits are counted by name',
  ],
  [{ proxy: { auth: { tokens: "secret-token" } } }, "proxy.auth.tokens: expected a list, found a string"],
  [
    { proxy: { cors: { origins: ["https://a.example/", "null", "*"], max_age: 600, methods: ["TRACE"] } } },
    'proxy.cors.origins[0]: expected "*" or an origin such as "https://app.example.com", in lower case and without a path, found "https://a.example/"',
    'proxy.cors.origins[1]: expected "*" or an origin such as "https://app.example.com", in lower case and without a path, found "null"',
    'proxy.cors.max_age: expected a duration such as "500ms" or "1h30m", found 600: write "600s" or "600ms"',
    'proxy.cors.methods[0]: unknown value "TRACE"; allowed: "GET", "POST", "DELETE", "OPTIONS"',
  ],
  [
    { proxy: { allowed_hosts: ["https://x"] } },
    'proxy.allowed_hosts[0]: expected a host name or an IP address without scheme, port or path, such as "127.0.0.1", found "https://x"',
  ],
  [
    { proxy: { body_limit: 1000 } },
    'proxy.body_limit: expected a size such as "512MB" or "64KiB", found 1000: write "1000B" or "1000KiB"',
  ],
  [{ proxy: { max_concurrent: 0 } }, "proxy.max_concurrent: expected an integer of 1 or more, found 0"],
];

Deno.test("validate() says what is wrong with a document and its other sections", () => {
  for (const [document, ...problems] of malformed) {
    assertEquals(catchProblems(() => validate(document, { knownConnectors: known })), problems);
  }
});
