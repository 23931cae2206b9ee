import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { CatalogueModel } from "../../src/cli/catalogue_table.ts";
import { catalogueTable } from "../../src/cli/catalogue_table.ts";
import { runCommand } from "../support/_cli.ts";

/** What the catalogue has, as JSON. */
async function listed(...args: string[]): Promise<CatalogueModel[]> {
  const { code, out, err } = await runCommand(["models", "--catalogue", "--json", ...args]);
  assertEquals([code, err], [0, ""]);
  assertMatch(out, /^[^\n]+\n$/, "one line");
  return JSON.parse(out);
}

const model: CatalogueModel = {
  name: "acme.small",
  provider: "acme.llm.v1",
  id: "small",
  capabilities: ["generation.text-generation.chat-completion", "interaction.tool-calling"],
  features: { tool_calling: true, vision: false },
  constraints: { context_window: 1_048_576, max_output_tokens: 65_536 },
  default_for: ["chat-completion"],
  pricing: [
    { input: 1, output: 2 },
    { input: 2, output: 4, above_tokens: 200_000 },
    { input: 0.3 * 3, output: 3, cached_input: 0.05, per_request: 0.01, from: "2026-07-01" },
    { input: 5, output: 6, above_tokens: 200_000, from: "2026-07-01" },
  ],
  source: "acme.example",
  as_of: "2026-07-02",
};

describe("modelmesh models --catalogue", () => {
  it("prints a table of every provider's models, defaults marked, prices with units", async () => {
    const { code, out, err, served } = await runCommand(["models", "--catalogue"]);
    assertEquals([code, err, served], [0, "", []]);
    const lines = out.trimEnd().split("\n");
    assertMatch(lines[0]!, /^ {2}MODEL +SERVES +CONTEXT +ANSWER +IN +OUT +CACHED +OTHER PRICES +AS OF$/);
    assertEquals(lines[1], "openai.llm.v1");
    assert(lines.some((line) => /^\* text-embedding-3-small +text-embeddings +8k +0\.02 +\d{4}-\d\d-\d\d$/.test(line)));
    assert(lines.some((line) => / tts-1 +text-to-speech +15 per 1M characters +\d{4}-\d\d-\d\d$/.test(line)));
    assert(lines.some((line) => / openrouter\/auto +chat-completion +2M +unknown +\d{4}-\d\d-\d\d$/.test(line)));
    assertEquals(lines.filter((line) => line === "anthropic.claude.v1").length, 1);
  });

  it("filters by provider, connector or vendor, and by capability", async () => {
    const google = await listed("--provider", "google");
    assertEquals(new Set(google.map(({ provider }) => provider)), new Set(["google.gemini.v1"]));
    assertEquals(await listed("--provider", "google.gemini.v1"), google);
    for (const name of ["text-embeddings", "embeddings", "representation.embeddings"]) {
      const found = await listed("--capability", name);
      assert(found.some(({ name }) => name === "openai.text-embedding-3-small"));
      assert(found.every(({ capabilities }) => capabilities.some((path) => path.includes(".embeddings."))));
    }
    const both = await listed("--provider", "cohere", "--capability", "reranking");
    assert(both.length > 0 && both.every(({ id }) => id.startsWith("rerank")));
  });

  it("prints as JSON what is known, an unknown price as null", async () => {
    const all = await listed();
    for (const { name, provider, id, capabilities, source, as_of, pricing } of all) {
      assert(name.endsWith(`.${id}`) && provider.endsWith(".v1"), name);
      assert(capabilities.every((path) => path.includes(".")), name);
      assert(source !== undefined && as_of !== undefined && pricing !== undefined, name);
    }
    assertEquals(all.find(({ id }) => id === "openrouter/auto")?.pricing, null);
  });

  it("says on standard error that nothing was found", async () => {
    const { code, out, err } = await runCommand(["models", "--catalogue", "--capability", "music-generation"]);
    assertEquals([code, out, err], [0, "", "No such model in the catalogue\n"]);
    assertEquals(await listed("--capability", "music-generation"), []);
  });

  it("names the nearest of an unknown provider or capability, and exits 2", async () => {
    const rows = [
      [["--catalogue", "--provider", "opnai"], '"openai"'],
      [["--catalogue", "--capability", "text-embedings"], '"text-embeddings"'],
      [["--catalogue", "--capability", "audio"], "generation.audio, understanding.audio"],
    ] as const;
    for (const [args, expected] of rows) {
      const { code, out, err } = await runCommand(["models", ...args]);
      assertEquals([code, out], [2, ""]);
      assertStringIncludes(err, expected);
    }
  });
});

describe("catalogueTable()", () => {
  it("prints the prices of the day, those of large prompts below", () => {
    const [, , first, second] = catalogueTable([model], Date.parse("2026-06-30")).split("\n");
    assertMatch(first!, /^\* small +chat-completion \(tools\) +1\.05M +66k +1 +2 +2026-07-02$/);
    assertMatch(second!, /^ +over 200k tokens +2 +4$/);
    const [, , later, larger] = catalogueTable([model], Date.parse("2026-07-01")).split("\n");
    assertMatch(later!, / 0\.9 +3 +0\.05 +0\.01 per request +2026-07-02$/);
    assertMatch(larger!, /^ +over 200k tokens +5 +6$/);
  });

  it("says on which day a model retires", () => {
    const [, , , line] = catalogueTable([{ ...model, retires: "2027-01-14" }], Date.parse("2026-07-01")).split("\n");
    assertMatch(line!, /^ +retires on 2027-01-14$/);
  });

  it("has a heading for each provider, and the columns of all below one another", () => {
    const other = { ...model, provider: "other.llm.v1", id: "a-much-longer-name", pricing: null };
    const lines = catalogueTable([model, { ...model, id: "large" }, other], 0).trimEnd().split("\n");
    assertEquals(lines.filter((line) => line.endsWith(".v1")), ["acme.llm.v1", "other.llm.v1"]);
    const columns = lines.flatMap((line) => line.includes("chat-completion") ? line.indexOf("chat-completion") : []);
    assertEquals(new Set(columns).size, 1);
    assertMatch(lines.at(-1)!, / unknown +2026-07-02$/);
  });
});
