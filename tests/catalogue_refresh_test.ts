import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import type { CatalogueEntry } from "../connectors/providers/_catalogue.ts";
import { refresh } from "../scripts/catalogue.ts";
import { applied } from "../scripts/catalogue/apply.ts";
import { compare, type Found } from "../scripts/catalogue/compare.ts";
import { withEntries } from "../scripts/catalogue/data_file.ts";
import { genaiPrices } from "../scripts/catalogue/genai_prices.ts";
import { liteLlm } from "../scripts/catalogue/litellm.ts";
import { modelsDev } from "../scripts/catalogue/models_dev.ts";
import { report } from "../scripts/catalogue/report.ts";
import type { SourceModel } from "../scripts/catalogue/source.ts";
import { vendorLists } from "../scripts/catalogue/vendors.ts";

const head = `/**
 * Groq's models.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [];
`;

function entry(id: string, facts: Partial<CatalogueEntry> = {}): CatalogueEntry {
  return {
    id,
    can: "T",
    window: 8_000,
    pricing: [{ input: 1, output: 2 }],
    source: ["models.dev", "2026-01-01"],
    ...facts,
  };
}

/** Compares a list with what sources have, as of 2026-06-01. */
function compared(entries: readonly CatalogueEntry[], sources: Readonly<Record<string, readonly SourceModel[]>>) {
  const found: Found = new Map(Object.entries(sources).map(([name, models]) => [name, new Map([["acme", models]])]));
  const names = { "models.dev": ["acme"], LiteLLM: ["acme"], "genai-prices": ["acme"] };
  const list = { file: "acme", name: "entries", vendor: "acme", url: new URL("file:///acme.ts"), entries, names };
  const comparison = compare(list, found, { date: "2026-06-01" });
  return { ...comparison, entries: applied(list, comparison, "2026-06-01") };
}

Deno.test("the list of models.dev is read: prices with sizes, windows", () => {
  const models = modelsDev.read({
    acme: {
      models: {
        large: {
          cost: { input: 1, output: 2, cache_read: 0.1, tiers: [{ tier: { size: 272_000 }, input: 2, output: 3 }] },
          limit: { context: 1_000_000, output: 64_000 },
        },
        older: { cost: { input: 1, output: 2, context_over_200k: { input: 2, output: 4 } } },
        unknown: { limit: { context: 0, output: 0 } },
      },
    },
  }, "2026-06-01");
  assertEquals(models.get("acme"), [
    {
      id: "large",
      pricing: [{ input: 1, output: 2, cached_input: 0.1 }, { input: 2, output: 3, above_tokens: 272_000 }],
      window: 1_000_000,
      maxOutput: 64_000,
    },
    { id: "older", pricing: [{ input: 1, output: 2 }, { input: 2, output: 4, above_tokens: 200_000 }] },
    { id: "unknown" },
  ]);
});

Deno.test("the list of genai-prices is read: the price of the day, sizes, fees, none by the hour", () => {
  const tiers = { base: 1, tiers: [{ start: 200_000, price: 2 }] };
  const models = genaiPrices.read([{
    id: "acme",
    models: [
      { id: "tiers", context_window: 9_000, prices: { input_mtok: tiers, output_mtok: 3, requests_kcount: 12 } },
      {
        id: "dated",
        prices: [
          { prices: { input_mtok: 1 } },
          { constraint: { start_date: "2026-06-01" }, prices: { input_mtok: 2 } },
          { constraint: { start_date: "2026-06-02" }, prices: { input_mtok: 3 } },
        ],
      },
      { id: "hours", prices: [{ prices: { input_mtok: 1 } }, { constraint: { start_time: "1" }, prices: {} }] },
      { id: "old", deprecated: true, prices: { input_mtok: 1 } },
    ],
  }], "2026-06-01");
  const fee = { per_request: 0.012 };
  assertEquals(models.get("acme"), [
    {
      id: "tiers",
      pricing: [{ input: 1, output: 3, ...fee }, { input: 2, output: 3, ...fee, above_tokens: 200_000 }],
      window: 9_000,
    },
    { id: "dated", pricing: [{ input: 2 }] },
    { id: "hours" },
  ]);
});

Deno.test("the list of LiteLLM is read: units turned into ours, what it mixes left out, days of retirement", () => {
  const models = liteLlm.read({
    sample_spec: {},
    "acme/chat": {
      litellm_provider: "acme",
      mode: "chat",
      input_cost_per_token: 3e-7,
      output_cost_per_token: 1.2e-6,
      input_cost_per_token_above_200k_tokens: 6e-7,
      max_input_tokens: 272_000,
      max_output_tokens: 64_000,
      deprecation_date: "2027-01-01",
    },
    rerank: { litellm_provider: "acme", mode: "rerank", input_cost_per_query: 0.002, input_cost_per_token: 0 },
    listen: { litellm_provider: "acme", mode: "audio_transcription", input_cost_per_second: 0.0001 },
    free: { litellm_provider: "acme", mode: "chat", input_cost_per_token: 0, output_cost_per_token: 0 },
    paint: { litellm_provider: "acme", mode: "image_generation", output_cost_per_token: 1e-5 },
  }, "2026-06-01");
  assertEquals(models.get("acme"), [
    {
      id: "chat",
      pricing: [{ input: 0.3, output: 1.2 }, { input: 0.6, above_tokens: 200_000 }],
      maxOutput: 64_000,
      retires: "2027-01-01",
    },
    { id: "rerank", pricing: [{ per_search: 0.002 }] },
    { id: "listen", pricing: [{ per_minute: 0.006 }] },
    { id: "free", pricing: [{ input: 0, output: 0 }] },
    { id: "paint" },
  ]);
});

Deno.test("what is not such a list is refused", () => {
  for (const source of [modelsDev, genaiPrices, liteLlm]) {
    for (const data of [null, "text", 7, {}, { a: 1 }]) assertThrows(() => source.read(data, "2026-06-01"), TypeError);
  }
});

Deno.test("new and gone models are named, and facts that are newer than the sources left alone", () => {
  const newer = entry("newer", { source: ["acme.example", "2026-06-02"] });
  const elsewhere = entry("elsewhere", { source: ["acme.example", "2026-01-01"] });
  const { added, gone, newer: skipped, changed } = compared([entry("gone"), newer, elsewhere], {
    "models.dev": [{ id: "new" }, { id: "newer", pricing: [{ input: 9 }] }],
    LiteLLM: [{ id: "new" }],
  });
  assertEquals([added, gone], [[{ id: "new", sources: ["models.dev", "LiteLLM"] }], ["gone"]]);
  assertEquals([skipped, changed], [["newer"], []]);
});

Deno.test("a price that all sources have otherwise is written from the day on, beside the old one", () => {
  const pricing = [{ input: 1, output: 2 }, { input: 5, output: 6, from: "2027-01-01" }];
  const { changed, entries } = compared([entry("a", { pricing })], {
    "models.dev": [{ id: "a", pricing: [{ input: 0.5, output: 1 }, { input: 1, output: 2, above_tokens: 200_000 }] }],
    LiteLLM: [{ id: "a", pricing: [{ input: 0.5, output: 1 }, { input: 1, output: 2, above_tokens: 200_000 }] }],
  });
  assertEquals(changed.map(({ id, fact, builtIn }) => [id, fact, builtIn]), [["a", "pricing", [{
    input: 1,
    output: 2,
  }]]]);
  assertEquals(entries[0]!.pricing, [
    { input: 1, output: 2 },
    { input: 0.5, output: 1, from: "2026-06-01" },
    { input: 1, output: 2, above_tokens: 200_000, from: "2026-06-01" },
    { input: 5, output: 6, from: "2027-01-01" },
  ]);
  assertEquals(entries[0]!.source, ["models.dev, LiteLLM", "2026-06-01"]);
});

Deno.test("what sources dispute, or one has that is not the entry's, is printed and not written", () => {
  const list = [entry("a"), entry("b", { source: ["genai-prices", "2026-01-01"] })];
  const { changed, entries } = compared(list, {
    "models.dev": [{ id: "a", pricing: [{ input: 1, output: 2 }] }, { id: "b", pricing: [{ input: 7 }] }],
    LiteLLM: [{ id: "a", pricing: [{ input: 7 }], retires: "2027-01-01" }],
  });
  assertEquals(changed.map(({ id, fact, agreed }) => [id, fact, agreed]), [
    ["a", "pricing", undefined],
    ["a", "retires", undefined],
    ["b", "pricing", undefined],
  ]);
  assertEquals(entries, list);
});

Deno.test("what sources confirm gets their names and their day; a vendor's own page keeps its day", () => {
  const page = entry("page", { source: ["acme.example", "2026-01-01"] });
  const prices = [{ input: 1, output: 2.0001 }];
  const { confirmed, changed, entries } = compared([entry("a"), page], {
    LiteLLM: [{ id: "a", pricing: prices, window: 8_192 }, { id: "page", pricing: prices }],
  });
  assertEquals([confirmed.map(({ id }) => id), changed], [["a", "page"], []]);
  assertEquals(entries.map(({ source }) => source), [["models.dev, LiteLLM", "2026-06-01"], page.source]);
});

Deno.test("an unknown price is taken from a source, and never from one that has 0", () => {
  const { entries } = compared([entry("a", { pricing: null }), entry("b", { pricing: null })], {
    "models.dev": [{ id: "a", pricing: [{ per_minute: 0.1 }] }, { id: "b", pricing: [{ input: 0, output: 0 }] }],
  });
  assertEquals(entries.map(({ pricing }) => pricing), [[{ per_minute: 0.1 }], null]);
});

Deno.test("refresh() reads files, prints what differs, and writes it only when asked to", async () => {
  const top = await Deno.makeTempDir({ prefix: "catalogue-" });
  const folder = `${top}/lists`;
  await Deno.mkdir(folder);
  try {
    const data = `${folder}/groq.ts`;
    const before = withEntries(head, { name: "entries", entries: [entry("a", { voices: "ann bob" }), entry("b")] });
    await Deno.writeTextFile(data, before);
    const list = `${top}/models.json`;
    const models = { a: { cost: { input: 3, output: 4 } }, b: { cost: { input: 1, output: 2 } } };
    await Deno.writeTextFile(list, JSON.stringify({ groq: { models } }));
    const options = {
      locations: { "models-dev": list, "genai-prices": "none", litellm: "none" },
      date: "2026-06-01",
      folder: new URL(`file://${folder}/`),
    };
    const comparisons = await refresh(options);
    assertEquals(await Deno.readTextFile(data), before);
    const text = report(comparisons);
    assertStringIncludes(text, "changed  a: pricing\n             built in: input 1, output 2\n");
    assertStringIncludes(text, "models.dev: input 3, output 4");
    assertStringIncludes(text, "1 facts differ, 0 models are in no list, 1 are confirmed");
    await refresh({ ...options, write: true });
    const pricing = [{ input: 1, output: 2 }, { input: 3, output: 4, from: "2026-06-01" }];
    const source = ["models.dev", "2026-06-01"] as const;
    const entries = [entry("a", { voices: "ann bob", pricing, source }), entry("b", { source })];
    const after = withEntries(head, { name: "entries", entries });
    assertEquals(await Deno.readTextFile(data), after);
    assert(after.startsWith(head.slice(0, 60)));
    await assertRejects(
      () => refresh({ ...options, locations: { ...options.locations, "models-dev": data } }),
      Error,
      `Cannot read models.dev at ${data}: `,
    );
  } finally {
    await Deno.remove(top, { recursive: true });
  }
});

Deno.test("every list is known to the sources, and its file is what would be written", async () => {
  for (const { file, name, vendor, url, entries, names } of await vendorLists()) {
    assert(Object.keys(names).length > 0, `${vendor}: add what the sources call its provider`);
    const text = await Deno.readTextFile(url);
    assertEquals(withEntries(text, { name, entries }), text, file);
  }
});

Deno.test("a file with the lists of several vendors: each is compared with its vendor, and written alone", async () => {
  const top = await Deno.makeTempDir({ prefix: "catalogue-" });
  const folder = `${top}/lists`;
  await Deno.mkdir(folder);
  try {
    const both = `${head.replace("entries", "moonshot")}\n/** More. */\n${head.slice(head.indexOf("export"))}`
      .replace("const entries", "const zai");
    const before = ["moonshot", "zai"].reduce(
      (text, name) => withEntries(text, { name, entries: [entry(`${name}-1`)] }),
      both,
    );
    await Deno.writeTextFile(`${folder}/makers.ts`, before);
    const priced = (id: string, input: number) => ({ models: { [id]: { cost: { input, output: 2 } } } });
    const list = `${top}/models.json`;
    const models = { moonshotai: priced("moonshot-1", 3), zai: priced("zai-1", 4) };
    await Deno.writeTextFile(list, JSON.stringify(models));
    const locations = { "models-dev": list, "genai-prices": "none", litellm: "none" };
    const options = { locations, date: "2026-06-01", folder: new URL(`file://${folder}/`), write: true };
    const [only, ...none] = await refresh({ ...options, files: ["zai"] });
    assertEquals(none, []);
    assertStringIncludes(report([only!]), "makers.ts, zai\n  changed  zai-1: pricing\n");
    const after = await Deno.readTextFile(`${folder}/makers.ts`);
    const [firstBefore, firstAfter] = [before, after].map((text) => text.slice(0, text.indexOf("/** More. */")));
    assertEquals(firstAfter, firstBefore);
    assertStringIncludes(after.slice(firstAfter!.length), "input: 4");
  } finally {
    await Deno.remove(top, { recursive: true });
  }
});

Deno.test("withEntries() keeps to the formatter's lines", () => {
  const entries = [
    entry("a", {
      voices: `${"voice ".repeat(20)}end`,
      pricing: Array.from({ length: 3 }, () => ({ input: 1, output: 2, cached_input: 3 })),
    }),
  ];
  const text = withEntries(head, { name: "entries", entries });
  for (const line of text.split("\n")) assert(line.length <= 120 || line.startsWith('      "voice'), line);
  assertThrows(() => withEntries("export const entries = [];", { name: "entries", entries: [] }), Error, "has no");
});
