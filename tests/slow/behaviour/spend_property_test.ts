/**
 * Sums of random traffic: over non-streaming and streaming requests, failovers, empty responses, interruptions,
 * cancellations and tiers, the records, the budgets, the usage of clients, the rows per day and the metrics have one sum;
 * and no call of a known tier costs more than it had reserved.
 */
import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../../mod.ts";
import type { DatedPricing } from "../../../src/contracts/provider.ts";
import { priceUsage, type Quantities } from "../../../src/util/cost.ts";
import { maxCostInNanoUsd } from "../../../src/util/max_cost.ts";
import { billedResponse } from "../../support/_billed.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { readSums } from "../../support/_spend.ts";
import { type Behaviour, hang, respond, respondEmpty, startUpstream, status } from "../../support/upstream.ts";

/** A generator of numbers from 0 to 1 (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)]!;
}

const pricing = [
  { input: 2, output: 12, cached_input: 0.2, cache_write: 2.5, audio_input: 40, per_search: 0.01 },
  { tier: "priority", input: 4, output: 24, cached_input: 0.4, per_search: 0.01 },
  { tier: "flex", input: 1, output: 6, per_search: 0.01 },
];

const clients = ["token-of-the-web-0123456789", "token-of-the-app-0123456789"];
const adminToken = "token-of-the-operator-0123456789";

function randomAnswer(random: () => number): Behaviour {
  const count = (most: number) => Math.floor(random() * most);
  const [prompt, completion] = [1 + count(5_000), 1 + count(500)];
  const usage = {
    ...{ prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    prompt_tokens_details: { cached_tokens: count(prompt), audio_tokens: count(prompt / 2) },
    completion_tokens_details: { reasoning_tokens: count(completion) },
  };
  const more = pick([{}, { service_tier: "priority" }, { service_tier: "flex" }, { service_tier: "scale" }], random);
  return pick([
    billedResponse("chat", { usage, more }),
    billedResponse("chat", { usage, more }),
    billedResponse("chat", { usage, more }),
    respond({ usage: { prompt_tokens: "odd" } as never }),
    respondEmpty(),
    status(500),
    status(503),
    respond({ usage, cut: { after: 2, how: "reset" } }),
    hang(),
  ], random);
}

async function send(
  { url, isStreamed, key, tier }: { url: string; isStreamed: boolean; key: string; tier: string | undefined },
  leavesAfterMs: number | undefined,
): Promise<void> {
  const controller = new AbortController();
  const timer = leavesAfterMs === undefined ? undefined : setTimeout(() => controller.abort(), leavesAfterMs);
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({
        ...{ model: "p", stream: isStreamed, messages: [{ role: "user", content: "Hi" }], max_tokens: 500 },
        ...(tier === undefined ? {} : { service_tier: tier }),
      }),
      signal: controller.signal,
    });
    await response.text();
  } catch {
    /* the client left, or the stream was cut */
  } finally {
    clearTimeout(timer);
  }
}

/** What a check receives after the traffic: the proxy's address, and the sum and the number of its records. */
interface Traffic {
  readonly url: string;
  readonly nanoUsd: number;
  readonly requests: number;
}

/** Two models of two providers, and two clients, all under budgets. */
function createConfig(addresses: Readonly<Record<"a" | "b", string>>): Record<string, unknown> {
  const entry = (base_url: string) => ({ connector: "openai.llm.v1", base_url, api_key: "key-of-a-0123456789" });
  const budget = { daily_limit: 1e6 };
  const model = (provider: string) => ({ provider, capabilities: ["chat-completion"], pricing });
  return {
    providers: { a: entry(addresses.a), b: entry(addresses.b) },
    models: { a: model("a"), b: model("b") },
    pools: {
      p: {
        models: ["a", "b"],
        strategy: "round-robin",
        deactivation: { retry_limit: 1000 },
        retry: { max_attempts: 0 },
      },
    },
    budget,
    storage: { connector: "mesh.memory.v1" },
    proxy: {
      auth: { tokens: [adminToken, ...clients.map((token, index) => ({ token, name: `c${index}`, budget }))] },
    },
  };
}

/** Sends random traffic through a proxy. */
async function sendTraffic(seed: number, check: (traffic: Traffic) => Promise<void>): Promise<void> {
  const random = randomFrom(seed);
  const script = () => randomAnswer(random);
  await using one = await startUpstream(script);
  await using other = await startUpstream(script);
  await using proxy = await startTestProxy({
    upstreams: {},
    config: createConfig({ a: one.url, b: other.url }),
  });
  const requests = 36;
  for (let sent = 0; sent < requests; sent += 6) {
    await Promise.all(Array.from({ length: 6 }, () => {
      const request = {
        url: proxy.url,
        isStreamed: random() < 0.5,
        key: pick(clients, random),
        tier: pick([undefined, "auto", "flex", "priority", "default"], random),
      };
      return send(request, random() < 0.3 ? random() * 20 : 150);
    }));
  }
  const { in_flight } = await becomesIdle(proxy.url);
  assertEquals(in_flight, 0);
  const records = proxy.records.filter((record): record is RoutingRecord => record.type === "routing");
  const nanoUsd = records.reduce((total, { cost_usd = 0 }) => total + Math.round(cost_usd * 1e9), 0);
  assert(nanoUsd > 0);
  await check({ url: proxy.url, nanoUsd, requests: records.length });
}

for (const seed of [1, 2, 3]) {
  it(`records, budgets, usage by client and metrics have one sum (seed ${seed})`, async () => {
    await sendTraffic(seed, async ({ url, nanoUsd: sum }) => {
      assertEquals(await readSums({ url }), { budget: sum, client: sum, usage: sum, metrics: sum });
    });
  });
}

for (const seed of [4, 5]) {
  it(`the rows of usage per day have the sum of the records (seed ${seed})`, async () => {
    await sendTraffic(seed, async ({ url, nanoUsd, requests }) => {
      for (const by of ["day", "client", "day,client,pool,model", "model"]) {
        assertEquals(await sumRows(url, by), { nanoUsd, requests }, by);
      }
    });
  });
}

/** Sums the rows of the usage by day. */
async function sumRows(url: string, by: string): Promise<{ nanoUsd: number; requests: number }> {
  const headers = { authorization: `Bearer ${adminToken}` };
  const { data } = await (await fetch(`${url}/mesh/usage?by=${by}`, { headers })).json();
  const rows: readonly { cost_usd: number; requests: number }[] = data;
  return {
    nanoUsd: rows.reduce((sum, { cost_usd }) => sum + Math.round(cost_usd * 1e9), 0),
    requests: rows.reduce((sum, { requests }) => sum + requests, 0),
  };
}

async function becomesIdle(url: string): Promise<{ in_flight: number }> {
  for (let tries = 0;; tries++) {
    const headers = { authorization: `Bearer ${adminToken}` };
    const status = await (await fetch(`${url}/mesh/status`, { headers })).json();
    if (status.in_flight === 0 || tries > 200) return status;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const rowSets: readonly (readonly DatedPricing[])[] = [
  [{ input: 1, output: 2 }],
  [{ input: 1, output: 2, cached_input: 0.1, cache_write: 1.25, cache_write_1h: 2 }],
  [
    { input: 1, output: 2, audio_input: 9, audio_output: 30, image_input: 3, image_output: 40, reasoning: 5 },
    { input: 2, output: 3, above_tokens: 1_000, audio_input: 9 },
    { tier: "priority", input: 2, output: 4, audio_input: 20 },
    { tier: "flex", input: 0.5, output: 1 },
    { tier: "batch", input: 0.5, output: 1 },
    { tier: "fast", input: 6, output: 12 },
  ],
  [
    { input: 1, output: 2, multipliers: { inference_geo: { us: 1.1, eu: 1.2 } } },
    { input: 0.5, output: 1, hours: "16:30-00:30", multipliers: { inference_geo: { us: 1.1 } } },
    { input: 3, output: 6, region: "eu" },
    { input: 3, output: 6, from: "2026-11-27" },
    { tier: "priority", input: 2, output: 5, per_search: 0.01, per_request: 0.001 },
  ],
];

it("no call of a known tier costs more than it had reserved", () => {
  const random = randomFrom(7);
  const now = Date.parse("2026-11-26T12:00:00Z");
  const count = (most: number) => Math.floor(random() * (most + 1));
  for (let run = 0; run < 20_000; run++) {
    const pricing = pick(rowSets, random);
    const [input, output] = [count(3_000), count(3_000)];
    const kinds = {
      ...(random() < 0.5 && { audioInput: count(input) }),
      ...(random() < 0.5 && { imageInput: count(input) }),
      ...(random() < 0.5 && { audioOutput: count(output) }),
      ...(random() < 0.5 && { imageOutput: count(output) }),
      ...(random() < 0.5 && { cacheWrite1h: count(input) }),
      ...(random() < 0.5 && { searches: count(3) }),
    };
    const requested = pick([undefined, "auto", "default", "flex", "priority", "fast", "batch"], random);
    const expected: Quantities = { ...kinds, input, output, tier: requested, hasFees: true };
    const bound = maxCostInNanoUsd(expected, pricing, now);
    assert(bound !== undefined);
    const known = new Set(pricing.map(({ tier }) => tier));
    const isAuto = requested === undefined || requested === "auto";
    const served = isAuto
      ? pick([...known].filter((tier) => tier !== "batch" && tier !== "fast"), random)
      : pick(requested === "batch" ? ["batch"] : ["default", requested], random);
    if (served !== undefined && served !== "default" && !known.has(served as DatedPricing["tier"])) continue;
    const used: Quantities = {
      ...kinds,
      ...{ input: count(input), output: count(output), tier: served, hasFees: true },
      ...{ cached: count(input), cacheWrite: count(input), reasoning: count(output) },
      region: pick([undefined, "us", "eu"], random),
    };
    const charge = priceUsage(used, pricing, now + random() * 86_400_000);
    if (charge === undefined || charge.unpriced !== undefined) continue;
    assert(charge.nanoUsd <= bound + 1, JSON.stringify({ pricing, expected, used, charge, bound }));
  }
});
