/** Catalogue documents: what is read of them, and what is refused. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { serverConnectors } from "../../connectors/server.ts";
import { isProvider } from "../../src/config/settings/known.ts";
import { MeshError } from "../../src/errors.ts";
import { readCatalogueDocument } from "../../src/registry/catalogue_document.ts";
import { checkAge, compareModels, findBuiltInDate } from "../../src/registry/renewed_models.ts";
import { builtInContents, type Contents, createSigner } from "../support/_catalogue_documents.ts";

const signer = await createSigner();
const name = "https://example.com/catalogue.json";

function read(text: string, publicKey = signer.publicKey) {
  return readCatalogueDocument(text, { publicKey, name });
}

async function refusal(text: string, publicKey?: string): Promise<string> {
  const error = await assertRejects(() => read(text, publicKey), MeshError);
  assertEquals(error.code, "invalid_catalogue");
  return error.message;
}

const entry = { id: "m", source: "example.com", as_of: "2027-01-01" };
const of = (...entries: unknown[]) => ({ format: 1, date: "2027-01-01", providers: { "acme.llm.v1": entries } });

/** Contents, and the path and the beginning of the problem. */
const refused: readonly [contents: unknown, problem: string][] = [
  [null, "payload: expected the JSON text of an object"],
  [{ ...of(), format: 2 }, "format: "],
  [{ format: 1, providers: {} }, "date: missing"],
  [{ ...of(), date: "2027-02-30" }, "date: expected a date"],
  [{ ...of(), vendors: {} }, "vendors: unknown key"],
  [of({ id: "m" }), "providers.acme.llm.v1[0].source: missing"],
  [of(entry, entry), 'providers.acme.llm.v1[1].id: "m" is listed twice'],
  [of({ ...entry, window: 1 }), "providers.acme.llm.v1[0].window: unknown key"],
  [of({ ...entry, capabilities: ["chatting"] }), 'providers.acme.llm.v1[0].capabilities[0]: "chatting" is not'],
  [of({ ...entry, constraints: { context_window: 0 } }), "providers.acme.llm.v1[0].constraints.context_window: "],
  [of({ ...entry, retires: "soon" }), "providers.acme.llm.v1[0].retires: expected a date"],
  [of({ ...entry, lacks: ["chatting"] }), "providers.acme.llm.v1[0].lacks[0]: unknown value"],
  [of({ ...entry, pricing: [{ input: -1 }] }), "providers.acme.llm.v1[0].pricing[0].input: "],
  [of({ ...entry, pricing: [{ per_parsec: 1 }] }), "providers.acme.llm.v1[0].pricing[0].per_parsec: unknown key"],
  [of({ ...entry, pricing: [{ input: 1, tier: "fasst" }] }), "providers.acme.llm.v1[0].pricing[0].tier: unknown"],
  [of({ ...entry, pricing: [{ input: 1, hours: "late" }] }), "providers.acme.llm.v1[0].pricing[0].hours: expected two"],
  [
    of({ ...entry, pricing: [{ input: 1 }, { input: 2, hours: "01:00-04:00" }, { input: 3, hours: "03:00-05:00" }] }),
    "providers.acme.llm.v1[0].pricing[2]: applies to the same calls",
  ],
  [of({ ...entry, pricing: [{ from: "2027-01-01" }] }), "providers.acme.llm.v1[0].pricing[0]: has no price"],
  [
    of({ ...entry, pricing: [{ input: 1, from: "2027-02-01" }, { input: 2, from: "2027-01-01" }] }),
    "providers.acme.llm.v1[0].pricing[1]: applies before",
  ],
  [of({ ...entry, pricing: [{ input: 1 }, { input: 2 }] }), "providers.acme.llm.v1[0].pricing[1]: applies "],
  [
    of(...Array.from({ length: 10_000 }, (_, index) => ({ ...entry, id: `m${index}` }))),
    "providers: has 10000 models; at most 5000 are allowed",
  ],
];

describe("A catalogue document", () => {
  it("has every fact of the built-in catalogue", async () => {
    const { models, date } = await read(await signer.sign(builtInContents("2027-01-01")));
    assertEquals(date, "2027-01-01");
    const providers = serverConnectors.filter(isProvider).filter((one) => one.models.length > 0);
    assertEquals([...models.keys()], providers.map(({ id }) => id));
    for (const { id, models: builtIn } of providers) assertEquals(models.get(id), builtIn, id);
    assertEquals(compareModels(providers, { models }), { added: [], changed: [], removed: [] });
  });

  it("is refused with every problem and its path", async () => {
    for (const [contents, problem] of refused) {
      assertStringIncludes(await refusal(await signer.sign(contents)), problem);
    }
    const message = await refusal(await signer.sign(of({ ...entry, pricing: [{ input: -1 }] }, { id: "n" })));
    assertStringIncludes(message, `The catalogue ${name} is not used: 3 problems\n`);
  });

  it("is refused when its signature is that of another key or text, or no signature", async () => {
    const text = await signer.sign(of(entry));
    const other = await createSigner();
    const wrong = "signature: does not match the payload and the public key";
    assertStringIncludes(await refusal(text, other.publicKey), wrong);
    assertStringIncludes(await refusal(text.replace("2027-01-01", "2027-01-02")), wrong);
    assertStringIncludes(await refusal(JSON.stringify({ ...JSON.parse(text), signature: "?" })), wrong);
    assertStringIncludes(await refusal(JSON.stringify({ ...JSON.parse(text), signature: "AAAA" })), wrong);
    assertStringIncludes(await refusal(JSON.stringify(of(entry))), 'the strings "payload" and "signature"');
    assertStringIncludes(await refusal("<html>"), 'the strings "payload" and "signature"');
    assertStringIncludes(await refusal(text, "AAAA"), "public_key: is not an Ed25519 public key");
  });

  it("is not older than the built-in one, nor than the one in use", () => {
    const catalogue = { all: serverConnectors };
    const builtIn = findBuiltInDate(catalogue);
    assert(builtIn >= "2026-11-20");
    checkAge({ date: builtIn, name }, catalogue, undefined);
    checkAge({ date: "2027-02-01", name }, catalogue, "2027-02-01");
    for (
      const [date, used, least] of [["2025-01-01", undefined, builtIn], ["2027-01-01", "2027-02-01", "2027-02-01"]]
    ) {
      const error = (() => {
        try {
          checkAge({ date: date!, name }, catalogue, used);
        } catch (error) {
          return error as Error;
        }
      })();
      assertStringIncludes(error!.message, `date: ${date} is before ${least}`);
    }
  });
});

Deno.test("the differences of a document are those of facts", async () => {
  const contents: Contents = builtInContents("2027-01-01", "xai.grok.v1");
  const [first, second, ...others] = contents.providers["xai.grok.v1"]!;
  contents.providers["xai.grok.v1"] = [
    { ...second, source: "elsewhere", as_of: "2027-01-01" },
    { ...first, constraints: { context_window: 7 } },
    ...others.slice(1),
    { ...entry, id: "grok-new" },
  ];
  const document = await read(await signer.sign(contents));
  const changes = compareModels(serverConnectors.filter(isProvider), document);
  assertEquals(changes, {
    added: ["xai.grok.v1 grok-new"],
    changed: [`xai.grok.v1 ${first!.id}`],
    removed: [`xai.grok.v1 ${others[0]!.id}`],
  });
});
