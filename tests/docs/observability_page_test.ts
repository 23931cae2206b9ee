/** `docs/observability.md` names what there is: every header and every metric, with its labels. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { formatTableDefinition } from "../../connectors/observability/_clickhouse_table.ts";
import type { RoutingRecord } from "../../mod.ts";
import type { TokenCount } from "../../src/pipeline/count_tokens.ts";
import { addCountHeaders, addRoutingHeaders } from "../../src/proxy/routing_headers.ts";
import { behind } from "../support/_failover.ts";
import { until } from "../support/patience.ts";
import { readPrometheus } from "../support/prometheus.ts";
import { startTestProxy } from "../support/proxy.ts";
import { recorder } from "../support/sinks.ts";
import { Gate, hang, ok, startUpstream, status, stream } from "../support/upstream.ts";

const page = await Deno.readTextFile(new URL("../../docs/observability.md", import.meta.url));

/** Cells of the table under a heading. */
function listRows(header: string): string[][] {
  const lines = page.slice(page.indexOf(`| ${header} |`)).split("\n");
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(2, end).map((line) => line.slice(1, -1).split(" | ").map((cell) => cell.trim()));
}

const namesIn = (text = "") => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

Deno.test("docs/observability.md has every header of a response", () => {
  const headers: Record<string, string> = { "x-request-id": "r1" };
  const routing = {
    ...{ pool: "p", model: "m", provider: "a", attempts: 1, fallback_chain: [], routing_latency_ms: 1 },
  } as unknown as RoutingRecord;
  addRoutingHeaders(headers, { routing, dropped: ["seed"], costNanoUsd: 1, cacheStatus: "MISS" });
  addCountHeaders(headers, { pool: "p", isEstimated: true } as TokenCount);
  const documented = listRows("Header | Meaning").flatMap(([names]) => namesIn(names));
  assertEquals(documented.toSorted(), Object.keys(headers).toSorted());
});

Deno.test("docs/observability.md has every header that a web page can read", async () => {
  await using upstream = await startUpstream(status(429, { headers: { "retry-after": "90" } }));
  await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
  const response = await fetch(`${proxy.url}/v1/models`, { headers: { origin: "http://localhost:3000" } });
  await response.body?.cancel();
  const exposed = response.headers.get("access-control-expose-headers")!.split(", ");
  const ofErrors = listRows("Header of an error | Meaning").flatMap(([names]) => namesIn(names));
  const documented = [...listRows("Header | Meaning").flatMap(([names]) => namesIn(names)), ...ofErrors];
  assertEquals(documented.toSorted(), exposed.toSorted());
  const failed = await proxy.chat({});
  assertEquals(failed.status, 429);
  assertEquals(ofErrors.filter((name) => !failed.headers.has(name)), ["www-authenticate"]); // of 401 and 403
  await failed.body?.cancel();
});

Deno.test("docs/observability.md has every metric, with its labels", async () => {
  await using a = await startUpstream([status(500), hang()]);
  const gate = new Gate();
  await using b = await startUpstream(({ json }) => {
    const { stream: isStream, user } = json();
    return isStream === true ? stream({}) : user === "held" ? behind(gate, ok()) : ok();
  });
  const broken = {
    ...recorder(),
    emit() {
      throw new Error("broken");
    },
  };
  await using c = await startUpstream(ok());
  await using proxy = await startTestProxy({
    upstreams: { a: a.url, b: b.url, c: c.url },
    provider: (name) => name === "c" ? { credentials: "header", api_key: undefined } : {},
    pool: {
      models: ["a", "b"],
      retry: { max_attempts: 0 },
      deactivation: { retry_limit: 9 },
      strategy: "priority",
      model_priority: ["a"],
      hedge: { after: "1s", max_share: 1 },
      queue: {},
      guards: ["pii"],
    },
    config: {
      guards: { pii: { connector: "mesh.guard.pii.v1" } },
      models: {
        a: { provider: "a", pricing: { input: 1, output: 1 } },
        b: { provider: "b", pricing: { input: 1, output: 1 }, limits: { concurrent: 1 } },
        c: { provider: "c", pricing: { input: 1, output: 1 } },
      },
      budget: { daily_limit: 9 },
      cache: {},
    },
  });
  proxy.mesh.addSink(broken);
  for (let sent = 0; sent < 2; sent++) { // the second one is repeated
    await (await proxy.chat({ messages: [{ role: "user", content: "a@example.com" }], temperature: 0 })).text();
  }
  const own = { "content-type": "application/json", "x-provider-key": "key-of-a-caller-0123456789" };
  await (await proxy.chat({ model: "c" }, { headers: own })).text();
  const hedged = proxy.chat({ stream: true });
  await a.received(2);
  await proxy.clock.advance(1_000);
  await (await hedged).text();
  const held = proxy.chat({ user: "held", mesh: { only: ["b"] } });
  await b.received(3);
  const waiting = proxy.chat({ mesh: { only: ["b"] } });
  await until(() => proxy.mesh.poolStatus().chat!.waiting === 1, "a request waits");
  gate.openAll();
  for (const response of [held, waiting]) await (await response).text();
  const scraped = readPrometheus(await (await fetch(`${proxy.url}/metrics`)).text());
  const found = [...scraped].map(([name, { samples }]) => {
    const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
    return [name, [...labels].filter((label) => label !== "le")] as const;
  });
  const documented = listRows("Metric | Labels").flatMap(([names, labels]) =>
    namesIn(names).map((name) => [name, namesIn(labels?.split(";")[0])] as const)
  );
  const byName = (one: readonly [string, unknown], other: readonly [string, unknown]) => one[0] < other[0] ? -1 : 1;
  assertEquals(documented.toSorted(byName), found.toSorted(byName));
});

Deno.test("docs/observability.md has the definition of the table in ClickHouse", () => {
  assertStringIncludes(page, `\`\`\`sql\n${formatTableDefinition("`default`.`modelmesh`", undefined)}\n\`\`\``);
});
