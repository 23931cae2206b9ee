/** Every key of `discovery` with a value that does not fit: reported with its path, all at once. */
import { assertEquals, assertThrows } from "@std/assert";
import { validate } from "../../src/config/build/validate.ts";
import { ConfigError } from "../../mod.ts";
import { known as shipped } from "./_known.ts";

const known = { ...shipped, discovery: ["mesh.registry-sync.v1", "mesh.health-monitor.v1"] };
const providers = { "acme.llm.v1": {} };

/** Paths of the problems of a section. */
function listProblems(discovery: unknown): string[] {
  const error = assertThrows(() => validate({ providers, discovery }, { knownConnectors: known }), ConfigError);
  return error.problems.map(({ path, message }) => `${path}: ${message}`);
}

Deno.test("discovery says all that does not fit, with its path", () => {
  const wrong = listProblems({
    sync: {
      connector: 1,
      enabled: "yes",
      interval: 60,
      auto_register: "no",
      providers: [],
      on_new_model: "registers",
      on_deprecated_model: "remove",
      intervall: "1h",
    },
    health: { connector: [], enabled: 2, interval: "soon", timeout: -1, failure_threshold: 0, providers: "acme" },
  });
  const paths = wrong.map((line) => line.slice(0, line.indexOf(":")));
  assertEquals(paths.toSorted(), [
    "discovery.health.connector",
    "discovery.health.enabled",
    "discovery.health.failure_threshold",
    "discovery.health.interval",
    "discovery.health.providers",
    "discovery.health.timeout",
    "discovery.sync.auto_register",
    "discovery.sync.connector",
    "discovery.sync.enabled",
    "discovery.sync.interval",
    "discovery.sync.intervall",
    "discovery.sync.on_deprecated_model",
    "discovery.sync.on_new_model",
    "discovery.sync.providers",
  ]);
});

Deno.test("discovery names the nearest connector, provider and value", () => {
  assertEquals(
    listProblems({
      sync: { connector: "mesh.registry-sinc.v1", providers: ["acmee.llm.v1"] },
      health: { connector: "mesh.health-moniter.v1", providers: ["acme.lm.v1"] },
    }).map((line) => /^(.*?): .*did you mean "(.*?)"/.exec(line)?.slice(1)),
    [
      ["discovery.sync.providers[0]", "acme.llm.v1"],
      ["discovery.sync.connector", "mesh.registry-sync.v1"],
      ["discovery.health.providers[0]", "acme.llm.v1"],
      ["discovery.health.connector", "mesh.health-monitor.v1"],
    ],
  );
});

Deno.test("discovery warns of what has no effect", () => {
  const warnings = (document: Record<string, unknown>) =>
    validate({ providers, ...document }, { knownConnectors: known }).warnings.map(({ path }) => path);
  assertEquals(warnings({ discovery: { sync: { on_new_model: "notify" }, health: { timeout: "1s" } } }), [
    "discovery.sync.on_new_model",
    "discovery.health.timeout",
  ]);
  assertEquals(
    warnings({ discovery: { sync: { interval: "1h", auto_register: false, on_new_model: "register" } } }),
    ["discovery.sync.on_new_model"],
  );
  const own = { "acme.llm.v1": { catalogue: { refresh_interval: "1h" } } };
  assertEquals(warnings({ providers: own, discovery: { sync: { on_new_model: "notify" } } }), []);
  assertEquals(warnings({ providers: own, discovery: { sync: { enabled: false } } }), [
    "providers.acme.llm.v1.catalogue.refresh_interval",
  ]);
});
