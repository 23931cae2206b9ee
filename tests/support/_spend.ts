/**
 * A proxy with one model under a budget, whose responses state a usage, and what is recorded of their cost.
 * @module
 */
import { assertEquals } from "@std/assert";
import type { RoutingRecord } from "../../mod.ts";
import { type Billed, type BilledDialect, billedResponse } from "./_billed.ts";
import { becomes } from "./patience.ts";
import { startTestProxy, type TestProxy } from "./proxy.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { startUpstream } from "./upstream.ts";

/** A usage as a vendor states it. */
export interface Entry extends Billed {
  readonly connector: string;
  /** The upstream model id. */
  readonly model: string;
  /** Prices, in place of those of the catalogue. */
  readonly pricing?: unknown;
  readonly capability?: string;
  /** The connector's own attributes. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The endpoints, by the dialect of the upstream response, that receive requests. */
  readonly dialects?: readonly BilledDialect[];
  /** Members of the requests. */
  readonly asks?: Readonly<Record<string, unknown>>;
  /** The day and the time of the calls. */
  readonly at?: string;
}

const token = "token-of-the-web-0123456789";
const adminToken = "token-of-the-operator-0123456789";
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

/** Asks in a dialect, streaming or not; the upstream response is in the same dialect or the vendor's own. */
const requests: Readonly<Record<BilledDialect, (isStreamed: boolean) => readonly [path: string, body: object]>> = {
  chat: (stream) => ["/v1/chat/completions", { model: "m", stream, messages: [{ role: "user", content: "Hi" }] }],
  messages: (stream) => [
    "/v1/messages",
    { model: "m", max_tokens: 9, stream, messages: [{ role: "user", content: "Hi" }] },
  ],
  responses: (stream) => ["/v1/responses", { model: "m", input: "Hi", stream }],
  gemini: (isStreamed) => [
    `/v1beta/models/m:${isStreamed ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
  ],
};

/** What is recorded of the calls of a usage. */
export interface Spend {
  /** Cost headers of the non-streaming responses, nano-dollars. */
  readonly headers: readonly (number | null)[];
  /** Costs in the records, nano-dollars. */
  readonly records: readonly number[];
  readonly estimated: readonly (boolean | undefined)[];
  /** Sums of the budget of all, of the client's usage, and of the metrics, nano-dollars. */
  readonly sums: Readonly<Record<"budget" | "client" | "usage" | "metrics", number>>;
  /** Warnings about prices. */
  readonly warnings: readonly string[];
}

/** Asks a proxy in each dialect, non-streaming and streaming, and reads what it has recorded. */
export async function readSpend(entry: Entry): Promise<Spend> {
  const { connector, model, pricing, dialects = ["chat"], asks = {}, capability = "chat-completion", config } = entry;
  const answers = vendorDialects(connector);
  await using upstream = await startUpstream((request) =>
    billedResponse(request.path.endsWith("/responses") ? "responses" : answers, entry)
  );
  const warnings: string[] = [];
  const sink = {
    emit: () => {},
    stats: () => {},
    trace: () => {},
    flush: () => Promise.resolve(),
    log: (record: object) => void ("message" in record && warnings.push(String(record.message))),
  };
  await using proxy = await startTestProxy({
    upstreams: {},
    clock: fakeClock({ skipSleeps: true, now: Date.parse(entry.at ?? "2026-11-26T12:00:00Z") }),
    sinks: { "own.sink.v1": sink },
    config: {
      providers: {
        a: {
          connector,
          base_url: upstream.url,
          api_key: "key-of-a-0123456789",
          ...(config !== undefined && { config }),
          ...(dialects.includes("responses") && { config: { responses: true } }),
        },
      },
      models: { m: { provider: "a", model, capabilities: [capability], ...(pricing !== undefined && { pricing }) } },
      pools: { p: { models: ["m"] } },
      budget: { daily_limit: 1e6 },
      proxy: { auth: { tokens: [adminToken, { token, name: "web", budget: { daily_limit: 1e6 } }] } },
      observability: { logging: { connector: "own.sink.v1" } },
    },
  });
  const seen: (number | null)[] = [];
  for (const dialect of dialects) {
    for (const isStreamed of [false, true]) {
      const [path, body] = requests[dialect](isStreamed);
      const response = await fetch(`${proxy.url}${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify({ ...body, ...asks }),
      });
      const text = await response.text();
      assertEquals(response.status, 200, text);
      const cost = response.headers.get("x-mesh-cost-usd");
      if (!isStreamed) seen.push(cost === null ? null : toNanoUsd(Number(cost)));
    }
  }
  const records = () => proxy.records.filter((record): record is RoutingRecord => record.type === "routing");
  await becomes(() => records().length, dialects.length * 2);
  return {
    headers: seen,
    records: records().map(({ cost_usd }) => toNanoUsd(cost_usd ?? NaN)),
    estimated: records().map(({ estimated }) => estimated),
    sums: await readSums(proxy),
    warnings: warnings.filter((message) => message.startsWith("No price")),
  };
}

/** Reads the sums of a proxy: of its budgets, of its clients, of its metrics; nano-dollars. */
export async function readSums({ url }: Pick<TestProxy, "url">): Promise<Spend["sums"]> {
  const get = async (path: string) =>
    await (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${adminToken}` } })).text();
  const { budgets, clients = [] } = JSON.parse(await get("/mesh/status"));
  const spent = (scope: string) => {
    const found = budgets.filter((budget: { scope: string }) => budget.scope === scope);
    return found.reduce((sum: number, budget: { spent_usd: number }) => sum + toNanoUsd(budget.spent_usd), 0);
  };
  const lines = (await get("/metrics")).split("\n").filter((line) => line.startsWith("modelmesh_cost_usd_total{"));
  return {
    budget: spent("all"),
    client: spent("client"),
    usage: clients.reduce((sum: number, budget: { cost_usd: number }) => sum + toNanoUsd(budget.cost_usd), 0),
    metrics: lines.reduce((sum, line) => sum + toNanoUsd(Number(line.split(" ").at(-1))), 0),
  };
}

function toNanoUsd(usd: number): number {
  return Math.round(usd * 1e9);
}

function vendorDialects(connector: string): BilledDialect {
  if (connector.startsWith("anthropic.")) return "messages";
  return connector.startsWith("google.") ? "gemini" : "chat";
}
