/** Prices of the catalogue that depend on the hour, or that are per page. */
import { assertEquals } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import type { Provider } from "../../src/contracts/provider.ts";
import { openAiCompatible } from "../../connectors/providers/_openai_compatible.ts";
import { openai } from "../../connectors/providers/openai.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import { isProvider } from "../../src/config/settings/known.ts";
import { costInNanoUsd, type Quantities } from "../../src/util/cost.ts";
import { maxCostInNanoUsd } from "../../src/util/max_cost.ts";

function pricesOf(connector: string, model: string) {
  return serverConnectors.filter(isProvider).find(({ id }) => id === connector)!
    .models.find(({ id }) => id === model)!.pricing!;
}

/** A million tokens in and out, a tenth of the input from the cache. */
const million: Quantities = { input: 1_000_000, output: 1_000_000, cached: 100_000 } as Quantities;

Deno.test("DeepSeek costs twice as much from 01:00 to 04:00 and from 06:00 to 10:00 UTC, from Monday to Friday", () => {
  const pricing = pricesOf("deepseek.api.v1", "deepseek-v4-pro");
  const costAt = (time: string) => costInNanoUsd(million, pricing, Date.parse(`2026-11-26T${time}Z`))! / 1e9;
  // off-peak: 0.9 × 0.66 + 0.1 × 0.022 + 1.98
  const [offPeak, peak] = [2.5762, 5.1524];
  const costs = { "00:59:59": offPeak, "01:00:00": peak, "03:59:59": peak, "04:00:00": offPeak, "05:59:59": offPeak };
  for (const [time, cost] of Object.entries({ ...costs, "06:00:00": peak, "09:59:59": peak, "10:00:00": offPeak })) {
    assertEquals(costAt(time), cost, time);
  }
  const days = { "2026-11-27": peak, "2026-11-28": offPeak, "2026-11-29": offPeak, "2026-11-30": peak };
  for (const [day, cost] of Object.entries(days)) {
    assertEquals(costInNanoUsd(million, pricing, Date.parse(`${day}T02:00:00Z`))! / 1e9, cost, day);
  }
  const reserved = maxCostInNanoUsd(million, pricing, Date.parse("2026-11-26T12:00:00Z"))!;
  assertEquals(reserved >= peak * 1e9, true, "a response may take until the peak");
});

Deno.test("Mistral's document parsing costs 0.004 per page", () => {
  const pricing = pricesOf("mistral.api.v1", "mistral-ocr-latest");
  assertEquals(costInNanoUsd({ input: 0, output: 0, pages: 10 } as Quantities, pricing, 0), 40_000_000);
});

Deno.test("the price of OpenAI's models depends on the region of the address, that of earlier ones does not", () => {
  const readRegion = (baseUrl: string) =>
    (openAiCompatible(openai).create({ id: "a", baseUrl }, testRuntime()) as Provider).region;
  const addresses: Readonly<Record<string, string | undefined>> = {
    "https://api.openai.com/v1": undefined,
    "https://eu.api.openai.com/v1": "eu",
    "https://us.api.openai.com/v1/": "us",
    "https://eu.api.openai.com.example/v1": undefined,
    "http://127.0.0.1:8080/v1": undefined,
  };
  for (const [address, region] of Object.entries(addresses)) assertEquals(readRegion(address), region, address);
  const usage: Quantities = { input: 1_000_000, output: 0, region: "eu" };
  assertEquals(costInNanoUsd(usage, pricesOf("openai.llm.v1", "gpt-5.4-mini"), 0), 0.825e9);
  assertEquals(costInNanoUsd(usage, pricesOf("openai.llm.v1", "gpt-4.1"), 0), 2e9);
});
