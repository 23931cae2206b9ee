import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { CatalogueModel } from "../../src/cli/catalogue_table.ts";
import { catalogueTable } from "../../src/cli/catalogue_table.ts";
import { table } from "../../src/cli/table.ts";
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
    assertMatch(lines[0]!, /^ {2}MODEL +CONTEXT +ANSWER +IN +OUT +CACHED +SERVES$/);
    assertEquals(lines[1], "openai.llm.v1");
    const day = String.raw`as of \d{4}-\d\d-\d\d`;
    assertMatch(out, new RegExp(String.raw`\n\* text-embedding-3-small +8k +0\.02 +text-embeddings\n {4}${day}\n`));
    assertMatch(
      out,
      new RegExp(String.raw`\n  tts-1 +text-to-speech\n {4}15 per 1M characters; (?:retires on [^;]+; )?${day}\n`),
    );
    assertMatch(
      out,
      new RegExp(String.raw`\n. openrouter/auto +2M +chat-completion\n {4}(?:[^\n;]+; )?price unknown; ${day}\n`),
    );
    assertEquals(lines.filter((line) => line === "anthropic.claude.v1").length, 1);
  });

  it("fits 100 columns, and cuts no name", async () => {
    const { out } = await runCommand(["models", "--catalogue"]);
    assertEquals(out.split("\n").filter((line) => [...line].length > 100), []);
    const names = new Set([...out.matchAll(/^[ *] (\S+)/gm)].map(([, name]) => name));
    for (const { id } of await listed()) assert(names.has(id), id);
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
    const before = catalogueTable([model], Date.parse("2026-06-30")).trimEnd().split("\n").slice(2);
    assertMatch(before[0]!, /^\* small +1\.05M +66k +1 +2 +chat-completion$/);
    assertEquals(before[1], "    tools; as of 2026-07-02");
    assertMatch(before[2]!, /^ {4}over 200k tokens +2 +4$/);
    const after = catalogueTable([model], Date.parse("2026-07-01")).trimEnd().split("\n").slice(2);
    assertMatch(after[0]!, / 0\.9 +3 +0\.05 +chat-completion$/);
    assertEquals(after[1], "    tools; 0.01 per request; as of 2026-07-02");
    assertMatch(after[2]!, /^ {4}over 200k tokens +5 +6$/);
    assertEquals([before.length, after.length], [3, 3]);
  });

  it("prints other prices of large prompts where they differ", () => {
    const pricing = [
      { input: 1, output: 2, cache_write: 3, per_search: 0.01 },
      { input: 2, output: 4, cache_write: 6, per_search: 0.01, above_tokens: 200_000 },
    ];
    const lines = catalogueTable([{ ...model, pricing }], 0).trimEnd().split("\n");
    assertEquals(lines[3], "    tools; 3 cache write, 0.01 per search; as of 2026-07-02");
    assertEquals(lines.at(-1), "      6 cache write");
  });

  it("says on which day a model retires", () => {
    const [, , , line] = catalogueTable([{ ...model, retires: "2027-01-14" }], Date.parse("2026-07-01")).split("\n");
    assertMatch(line!, /; retires on 2027-01-14; /);
  });

  it("has a heading for each provider, and the columns of all below one another", () => {
    const other = { ...model, provider: "other.llm.v1", id: "a-much-longer-name", pricing: null };
    const endless = { ...other, id: `${"long/".repeat(12)}name` };
    const lines = catalogueTable([model, { ...model, id: "large" }, other, endless], 0).trimEnd().split("\n");
    assertEquals(lines.filter((line) => line.endsWith(".v1")), ["acme.llm.v1", "other.llm.v1"]);
    const columns = lines.flatMap((line) => line.includes("chat-completion") ? line.indexOf("chat-completion") : []);
    assertEquals([columns.length, new Set(columns).size], [4, 1]);
    assertEquals(lines.at(-1), "    tools; price unknown; as of 2026-07-02");
    assertEquals(lines.at(-3), `* ${endless.id}`, "a name of any length stays whole, on a line of its own");
  });
});

describe("table()", () => {
  it("wraps the last column where a line would be too long for a terminal", () => {
    const words = Array.from({ length: 40 }, (_, index) => `word-${index},`).join(" ");
    const lines = table([["A", "B", "C"], ["one", "two", words], ["1", "2", "3"]]).trimEnd().split("\n");
    assertEquals(lines.slice(0, 1), ["A    B    C"]);
    assert(lines.length > 4 && lines.every((line) => line.length <= 100), lines.join("\n"));
    assertEquals(lines.slice(1, -1).map((line) => line.slice(10)).join(" "), words);
    assertEquals(lines.slice(2, -1).every((line) => line.startsWith(" ".repeat(10) + "w")), true);
  });
});
