/**
 * Catalogue documents: signed lists of models, which replace those of the built-in catalogue.
 * @module
 */
import { servedOperations } from "../capability/operations.ts";
import { capabilityTree } from "../capability/tree.ts";
import type { Given } from "../config/schema/field.ts";
import { model } from "../config/schema/models.ts";
import { parse } from "../config/schema/parse.ts";
import { Report, under } from "../config/schema/report.ts";
import { inspectTree } from "../config/schema/tree.ts";
import type { ModelInfo } from "../contracts/provider.ts";
import { type ConfigProblem, MeshError } from "../errors.ts";
import { isSigned, readPublicKey } from "../util/ed25519.ts";
import { isObject } from "../util/is_object.ts";
import { findRowProblems, priceRow } from "../config/schema/prices.ts";

/** Maximum size of a document, bytes. */
export const maxDocumentBytes: number = 8 * 1024 * 1024;

/** Maximum number of models. */
const maxModels = 5000;

/** Maximum number of problems that a message lists. */
const maxListed = 20;

/** The contents of a document. */
export interface CatalogueDocument {
  /** ISO date of its facts. */
  readonly date: string;
  /** The models by connector id. */
  readonly models: ReadonlyMap<string, readonly ModelInfo[]>;
}

const day = { type: "text", isLiteral: true, format: "day" } as const;
const names = { type: "list", item: { type: "text", isLiteral: true } } as const;

/** An entry of a model: the facts of the catalogue. */
const entry = {
  type: "object",
  required: ["id", "source", "as_of"],
  fields: {
    id: { type: "text", isLiteral: true },
    capabilities: model.fields.capabilities,
    features: model.fields.features,
    constraints: {
      type: "object",
      fields: { ...model.fields.constraints.fields, max_file_size: { type: "integer", min: 0 } },
    },
    pricing: { type: "list", min: 1, item: priceRow as typeof priceRow },
    parameters: model.fields.parameters,
    default_for: names,
    dimensions: { type: "integer", min: 1 },
    response_formats: model.fields.response_formats,
    embedding_space: model.fields.embedding_space,
    voices: { type: "record", item: { type: "text" } },
    lacks: { type: "list", item: { type: "choice", values: servedOperations } },
    retires: day,
    source: { type: "text", isLiteral: true },
    as_of: day,
  },
} as const;

const payloadField = {
  type: "object",
  required: ["format", "date", "providers"],
  fields: {
    format: { type: "integer", min: 1, max: 1 },
    date: day,
    providers: { type: "map", item: { type: "list", item: entry } },
  },
} as const;

/**
 * Verifies and reads a document: JSON with a `payload`, which is the JSON text of the contents, and its `signature`.
 *
 * @param text The document.
 * @param signer The signer's public key, and the document's name in messages.
 * @throws {MeshError} `invalid_catalogue` if the signature or the contents are wrong; lists every problem with its path.
 */
export async function readCatalogueDocument(
  text: string,
  { publicKey, name }: { readonly publicKey: string; readonly name: string },
): Promise<CatalogueDocument> {
  const refuse = (problems: readonly ConfigProblem[]) => refuseDocument(name, problems);
  const envelope = findJson(text);
  const { payload, signature } = isObject(envelope) ? envelope : {};
  if (typeof payload !== "string" || typeof signature !== "string") {
    throw refuse([{ path: "", message: 'expected JSON with the strings "payload" and "signature"' }]);
  }
  const key = readPublicKey(publicKey);
  if (key === undefined) throw refuse([{ path: "public_key", message: "is not an Ed25519 public key" }]);
  if (!await isSigned({ text: payload, signature }, key)) {
    throw refuse([{ path: "signature", message: "does not match the payload and the public key" }]);
  }
  const report = new Report();
  const contents = readContents(findJson(payload), report);
  if (contents === undefined || report.problems.length > 0) throw refuse(report.problems);
  return contents;
}

/** Creates the error of a document that is not used. */
export function refuseDocument(name: string, problems: readonly ConfigProblem[]): MeshError {
  const lines = problems.map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
  const listed = lines.length > maxListed
    ? [...lines.slice(0, maxListed), `and ${lines.length - maxListed} more`]
    : lines;
  const reason = lines.length === 1
    ? lines[0]
    : `${lines.length} problems\n${listed.map((line) => `  ${line}`).join("\n")}`;
  return new MeshError(`The catalogue ${name} is not used: ${reason}`, { code: "invalid_catalogue" });
}

function findJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readContents(value: unknown, report: Report): CatalogueDocument | undefined {
  if (!isObject(value)) return report.problem("payload", "expected the JSON text of an object");
  const { providers } = value;
  const count = isObject(providers)
    ? Object.values(providers).reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0)
    : 0;
  if (count > maxModels) return report.problem("providers", `has ${count} models; at most ${maxModels} are allowed`);
  if (!inspectTree(value, report)) return undefined;
  const contents = parse(payloadField, value, { path: "", report });
  if (contents?.date === undefined || contents.providers === undefined || report.problems.length > 0) return undefined;
  for (const [id, entries] of contents.providers) checkEntries(entries, `${under("providers", id)}`, report);
  const models = [...contents.providers].map(([id, entries]) => [id, entries.map(toDocumentModel)] as const);
  return { date: contents.date, models: new Map(models) };
}

type DocumentEntry = Given<typeof entry>;

function checkEntries(entries: readonly DocumentEntry[], path: string, report: Report): void {
  const tree = capabilityTree();
  const ids = new Set<string>();
  for (const [position, { id = "", capabilities = [], pricing = [] }] of entries.entries()) {
    const at = `${path}[${position}]`;
    if (ids.has(id)) report.problem(`${at}.id`, `${JSON.stringify(id)} is listed twice`);
    ids.add(id);
    for (const [index, name] of capabilities.entries()) {
      if (tree.resolve(name) !== undefined) continue;
      report.problem(`${at}.capabilities[${index}]`, `${JSON.stringify(name)} is not a capability`);
    }
    for (const { index, message } of findRowProblems(pricing)) report.problem(`${at}.pricing[${index}]`, message);
  }
}

function toDocumentModel(values: DocumentEntry): ModelInfo {
  const { id = "", default_for: defaultFor, as_of: asOf, ...facts }: DocumentEntry = JSON.parse(JSON.stringify(values));
  return { ...facts, id, ...(defaultFor && { defaultFor }), ...(asOf && { asOf }) };
}
