import { assert, assertEquals } from "@std/assert";
import type { CatalogueEntry } from "../../connectors/providers/_catalogue.ts";
import { knownModels } from "../../connectors/providers/_catalogue.ts";
import { vendorLists } from "../../scripts/catalogue/vendors.ts";
import { serverConnectors } from "../../connectors/server.ts";
import { servesOperation } from "../../src/capability/operations.ts";
import { capabilityTree } from "../../src/capability/tree.ts";
import { isProvider } from "../../src/config/settings/known.ts";
import type { DatedPricing, OperationName } from "../../src/contracts/provider.ts";
import { findRowProblems } from "../../src/config/schema/prices.ts";

const tree = capabilityTree();
const providers = serverConnectors.filter(isProvider);

/** Every list of the catalogue by vendor: a long list has several files, and a file may have several lists. */
const lists = new Map<string, readonly CatalogueEntry[]>();
for (const { vendor, entries } of await vendorLists()) {
  lists.set(vendor, [...lists.get(vendor) ?? [], ...entries]);
}

/** The day on which the newest facts were read. */
const newest = [...lists.values()].flat().map(({ source: [, date] }) => date).toSorted().at(-1)!;

/** Whether a model retires within 60 days of it. */
function isSoon(retires = "9999-12-31"): boolean {
  return Date.parse(retires) <= Date.parse(newest) + 60 * 86_400_000;
}

/** What is asked of a model is written in tokens that it reads, and a request must fit. */
const withWindow: readonly OperationName[] = ["chat", "embeddings"];

/** The operations whose pools a model can be in. */
function listOperations(leaves: readonly string[]): OperationName[] {
  const all: readonly OperationName[] = [
    "chat",
    "embeddings",
    "speech",
    "transcription",
    "image",
    "image-edit",
    "moderation",
    "rerank",
    "search",
    "documents",
  ];
  return all.filter((operation) => leaves.some((leaf) => servesOperation(leaf, operation)));
}

function eachEntry(check: (entry: CatalogueEntry, where: string) => void): void {
  for (const [file, entries] of lists) for (const entry of entries) check(entry, `${file}: ${entry.id}`);
}

Deno.test("the catalogue's lists are those of providers that exist, each of one", () => {
  const fromLists = [...lists.values()].map((entries) => entries.map(({ id }) => id).join());
  const declared = providers.flatMap(({ models }) => models.length === 0 ? [] : models.map(({ id }) => id).join());
  assertEquals(fromLists.toSorted(), declared.toSorted());
});

Deno.test("the catalogue's models have leaves of the tree", () => {
  eachEntry((entry, where) => {
    const { capabilities = [] } = knownModels([entry])[0]!;
    assert(capabilities.length > 0, where);
    for (const path of capabilities) assert(tree.isLeaf(path), `${where}: ${path}`);
    assert(listOperations(capabilities).length > 0, where);
  });
});

Deno.test("the catalogue's models of chat and embeddings have a context window, and no response is larger than it", () => {
  eachEntry((entry, where) => {
    const { window = 0, maxOutput = 1 } = entry;
    const { capabilities = [] } = knownModels([entry])[0]!;
    if (listOperations(capabilities).some((operation) => withWindow.includes(operation))) assert(window > 0, where);
    assert(Number.isInteger(window) && window >= 0, where);
    assert(maxOutput > 0 && (window === 0 || maxOutput <= window), where);
  });
});

Deno.test("the catalogue's models have a source, and the day on which it was read", () => {
  eachEntry(({ source: [name, date] }, where) => {
    assert(name.trim() !== "", where);
    assertEquals(new Date(date).toISOString().slice(0, 10), date, where);
  });
});

Deno.test("the catalogue's prices are a list or null, of amounts, in the order of their conditions", () => {
  eachEntry(({ pricing }, where) => {
    assert(pricing === null || pricing.length > 0, where);
    assertEquals(findRowProblems(pricing ?? []), [], where);
    for (const row of pricing ?? []) {
      const { from, above_tokens, tier: _tier, hours: _hours, region: _region, multipliers: _factors, ...prices } = row;
      assert(from === undefined || new Date(from).toISOString().startsWith(from), where);
      assert(above_tokens === undefined || above_tokens > 0, where);
      const amounts = Object.values(prices);
      assert(amounts.length > 0 && amounts.every((amount) => Number.isFinite(amount) && amount >= 0), where);
    }
  });
});

Deno.test("a price of a day has the sizes that the price before it has", () => {
  eachEntry(({ pricing }, where) => {
    const conditionsOf = ({ tier, region, hours }: DatedPricing) => [tier, region, hours].join(" ");
    const days = [...new Set((pricing ?? []).map(({ from = "" }) => from))];
    for (const [conditions, rows] of Map.groupBy(pricing ?? [], conditionsOf)) {
      const sizes = Map.groupBy(rows, ({ from = "" }) => from);
      const first = days.indexOf(rows[0]!.from ?? "");
      // a row of an earlier day would go on beside the new price
      assertEquals([...sizes.keys()], days.slice(first), `${where}: a day without a price of "${conditions}"`);
      const seen = [...sizes.values()].map((prices) => prices.map(({ above_tokens = 0 }) => above_tokens));
      for (const list of seen) assertEquals(list[0], 0, `${where}: no price of small prompts`);
      for (const [index, list] of seen.entries()) {
        for (const size of seen[index - 1] ?? []) assert(list.includes(size), `${where}: nothing above ${size}`);
      }
    }
  });
});

Deno.test("a provider has one or two defaults for chat, and one for everything else that it serves", () => {
  for (const [file, entries] of lists) {
    const models = knownModels(entries);
    for (const operation of new Set(models.flatMap(({ capabilities = [] }) => listOperations(capabilities)))) {
      const defaults = models.filter(({ defaultFor = [] }) =>
        listOperations(defaultFor.map((name) => tree.resolve(name)!)).includes(operation)
      );
      const most = operation === "chat" ? 2 : 1;
      const serving = models.filter(({ capabilities = [] }) => listOperations(capabilities).includes(operation));
      const least = serving.every(({ retires }) => isSoon(retires)) ? 0 : 1;
      assert(
        defaults.length >= least && defaults.length <= most,
        `${file}, ${operation}: ${defaults.map(({ id }) => id)}`,
      );
    }
  }
});

Deno.test("a model that retires does so on a day, and after its facts were read", () => {
  eachEntry(({ retires, source: [, date] }, where) => {
    if (retires === undefined) return;
    assertEquals(new Date(retires).toISOString().slice(0, 10), retires, where);
    assert(retires > date, where);
  });
});

Deno.test("no default retires within 60 days of the day on which the newest facts were read", () => {
  eachEntry(({ isDefault = false, retires }, where) => assert(!isDefault || !isSoon(retires), `${where}: ${retires}`));
});

Deno.test("no model has retired when the newest facts were read", () => {
  eachEntry(({ retires = "9999-12-31" }, where) => assert(retires > newest, `${where} retired on ${retires}`));
});

Deno.test("models of embeddings say how large these are, and which space they are in", () => {
  eachEntry((entry, where) => {
    const { dimensions = 0, embedding_space, capabilities = [] } = knownModels([entry])[0]!;
    const embeds = listOperations(capabilities).includes("embeddings");
    assertEquals([dimensions > 0, embedding_space !== undefined], [embeds, embeds], where);
  });
});

Deno.test("models of speech map voices, one of them for every other; models of sound list their formats once", () => {
  eachEntry((entry, where) => {
    const { voices = {}, response_formats = [], capabilities = [] } = knownModels([entry])[0]!;
    const speaks = listOperations(capabilities).includes("speech");
    assertEquals(Object.values(voices).includes(voices.default!), speaks, where);
    assertEquals(new Set(response_formats).size, response_formats.length, where);
  });
});

Deno.test("knownModels() fills in what an entry leaves out", () => {
  const base = { pricing: null, source: ["acme.example", "2026-11-22"] } as const;
  const [chat, embed, speech] = knownModels([
    { ...base, id: "chat", can: "TS", also: ["retrieval.search.web-search"], window: 8_000 },
    { ...base, id: "embed", serves: ["representation.embeddings.text-embeddings"], hasFixedSize: true, dimensions: 3 },
    { ...base, id: "speech", serves: ["generation.audio.text-to-speech"], voices: "ann bob", formats: "mp3 wav" },
  ], { features: { logprobs: false }, findRules: ({ id }) => id === "chat" ? { drop: ["top_k"] } : undefined });
  assertEquals(chat!.capabilities?.at(-1), "retrieval.search.web-search");
  assertEquals([chat!.features?.tool_calling, chat!.features?.vision, chat!.features?.logprobs], [true, false, false]);
  assertEquals([chat!.parameters, chat!.pricing, chat!.defaultFor], [
    { drop: ["top_k"] },
    undefined,
    undefined,
  ]);
  assertEquals([embed!.embedding_space, embed!.dimensions], ["embed", 3]);
  assertEquals(embed!.parameters, { refuse: ["dimensions"] });
  assertEquals(speech!.voices, { ann: "ann", bob: "bob", default: "ann" });
  assertEquals([speech!.response_formats, speech!.source, speech!.asOf], [
    ["mp3", "wav"],
    "acme.example",
    "2026-11-22",
  ]);
});
