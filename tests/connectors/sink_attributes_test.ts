/** Attributes of sinks that do not fit: each is reported with its path, all at once. */
import { assertEquals, assertThrows } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import type { AttributeType, ConnectorDeclaration } from "../../src/contracts/connector.ts";
import { ConfigError, MeshConfig } from "../../mod.ts";

Deno.test("attributes of sinks of a wrong type, unit, range or name are reported with path and nearest key, all at once", () => {
  const observability = {
    routing: [
      { connector: "mesh.webhook.v1", url: "hooks.example.com" },
      { connector: "mesh.webhook.v1" },
      { connector: "mesh.local-file.v1", path: 7 },
      { connector: "mesh.local-file.v1", path: "a", config: { max_size: 1000, retention: "7 days", max_sise: "1MB" } },
      { connector: "mesh.local-file.v1", path: "a", config: { max_size: "1B", path: "b" } },
      { connector: "mesh.console.v1", config: { color: "yes", format: "xml" } },
      { connector: "mesh.opentelemetry.v1", url: "ftp://x", config: { headers: "a: b", servicename: "x" } },
    ],
    logging: [{ level: "all" }, { redact_secrets: 1 }, { connector: "mesh.webhook.v1", url: "https://x" }],
    statistics: [{ flush_interval: 60 }, { flush_interval: "0s" }, { scopes: ["client"] }, { retension: "7d" }],
    tracing: { min_severity: "warn", connector: "mesh.prometheus.v1", path: "x" },
    events: { filter: "rotation", include_metadata: "no" },
  };
  const { problems } = assertThrows(() => MeshConfig.parse({ observability }), ConfigError);
  const lines = problems.map(({ path, message }) =>
    `${path.slice("observability.".length)}: ${message.split(" (allowed")[0]}`
  );
  assertEquals(lines, expected);
});

const expected: readonly string[] = [
  "routing[2].path: expected a string, found 7: put it in quotes",
  'logging[0].level: unknown value "all", did you mean "full"?',
  "logging[1].redact_secrets: expected true or false, found 1",
  'statistics[0].flush_interval: expected a duration above 0 such as "500ms" or "1h30m", found 60: write "60s" or "60ms"',
  'statistics[1].flush_interval: expected a duration above 0 such as "500ms" or "1h30m", found "0s"',
  'statistics[2].scopes[0]: unknown value "client"; allowed: "model", "provider", "pool"',
  'statistics[3].retension: unknown key, did you mean "retention"?',
  'tracing.min_severity: unknown value "warn", did you mean "warning"?',
  "events.filter: expected a list, found a string",
  'events.include_metadata: expected true or false, found "no"',
  'routing[0].url: expected an http or https URL, found "hooks.example.com"',
  'routing[1].url: missing: "mesh.webhook.v1" requires it',
  'routing[3].config.max_size: expected a size such as "512MB" or "64KiB", found 1000: write "1000B" or "1000KiB"',
  'routing[3].config.retention: expected a duration such as "500ms" or "1h30m", found "7 days"',
  'routing[3].config.max_sise: unknown key: "mesh.local-file.v1" has no such attribute, did you mean "max_size"?',
  'routing[4].config.path: is also set outside of "config"',
  'routing[4].config.max_size: expected a size such as "512MB" or "64KiB" of 1024B or more, found "1B"',
  'routing[5].config.color: expected true or false, found "yes"',
  'routing[5].config.format: expected one of "json", "text", found "xml"',
  'routing[6].config.headers: expected an object, found "a: b"',
  'routing[6].config.servicename: unknown key: "mesh.opentelemetry.v1" has no such attribute, did you mean "service_name"?',
  'routing[6].url: expected an http or https URL, found "ftp://x"',
  'logging[2].connector: "mesh.webhook.v1" has no effect here: it supports "observability.routing"',
  'tracing.connector: "mesh.prometheus.v1" has no effect here: it supports "observability.statistics"',
];

/** Values that do not fit a type: another type, no unit or a wrong one, out of range. */
const misfits: Readonly<Record<AttributeType, readonly unknown[]>> = {
  text: [7, true, ["a"], { a: 1 }],
  flag: ["yes", 1, []],
  integer: ["many", 1.5, true],
  object: ["a: b", 7, ["a"]],
  list: ["a", 7, { a: 1 }],
  duration: [60, "60", "7 days", "-1s", true],
  size: [1024, "1024", "1 potato", "-1MB", false],
  url: ["ftp://x", "hooks.example.com", 7, ""],
};

const examples: Readonly<Record<AttributeType, unknown>> = {
  text: "a",
  flag: true,
  integer: 1,
  object: {},
  list: ["a"],
  duration: "1d",
  size: "1MiB",
  url: "https://x",
};

Deno.test("every attribute of every sink refuses every misfit, and a misspelt name gets the nearest one, all at once", () => {
  const sections: Record<string, unknown[]> = { routing: [], logging: [], statistics: [], tracing: [] };
  const wanted: string[] = [];
  const sinks = serverConnectors.filter(({ kind }) => kind === "observability");
  assertEquals(sinks.length >= 7, true);
  for (
    const { id, attributes = {}, sections: [section] = ["routing"] } of sinks as ConnectorDeclaration<"observability">[]
  ) {
    const entries = sections[section]!;
    const valid = Object.fromEntries(
      Object.entries(attributes).filter(([, { isRequired }]) => isRequired).map(([name, { type }]) => [
        name,
        examples[[type].flat()[0]!],
      ]),
    );
    const add = (key: string, value: unknown, expected: string) => {
      wanted.push(`observability.${section}[${entries.length}].config.${key}: ${expected}`);
      entries.push({ connector: id, config: { ...valid, [key]: value } });
    };
    for (const [name, { type, min, values }] of Object.entries(attributes)) {
      const types = [type].flat();
      const isMisfit = (value: unknown) => types.every((each) => misfits[each].includes(value));
      for (const misfit of misfits[types[0]!].filter(isMisfit)) add(name, misfit, "expected");
      if (type === "size" && min !== undefined) add(name, `${min - 1}B`, "expected");
      if (type === "duration" && min !== undefined) add(name, "0s", "expected");
      if (values !== undefined) add(name, `${values[0]}x`, "expected");
      add(
        `${name}s`,
        examples[[type].flat()[0]!],
        `unknown key: "${id}" has no such attribute, did you mean "${name}"?`,
      );
    }
    add("entirely_unknown", 1, `unknown key: "${id}" has no such attribute`);
  }
  const observability = Object.fromEntries(Object.entries(sections).filter(([, entries]) => entries.length > 0));
  const error = assertThrows(() => MeshConfig.parse({ observability, storage: {} }), ConfigError);
  const found = new Map(error.problems.map(({ path, message }) => [path, message]));
  const missing = wanted.filter((line) => {
    const [path, expected] = [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)];
    return found.get(path)?.startsWith(expected) !== true;
  });
  assertEquals([missing, found.size], [[], wanted.length]);
});
