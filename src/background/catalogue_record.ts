/**
 * The catalogue document that a storage keeps, and the download of a new one.
 * @module
 */
import type { CatalogueSettings } from "../config/settings/settings.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Storage } from "../contracts/storage.ts";
import { type CatalogueDocument, maxDocumentBytes, readCatalogueDocument } from "../registry/catalogue_document.ts";
import { downloadBytes } from "../registry/download.ts";
import { isObject } from "../util/is_object.ts";

/** Key of the record. */
const catalogueKey = "catalogue";

/** A document that has been downloaded. */
export interface FetchedCatalogue {
  /** Its text, with the signature. */
  readonly text: string;
  /** Time of the download, wall-clock ms. */
  readonly fetchedAt: number;
  readonly document: CatalogueDocument;
}

/**
 * Downloads a document and verifies it.
 *
 * @throws {MeshError} When it cannot be had, or is not valid.
 */
export async function fetchCatalogue(
  { url, publicKey }: Pick<CatalogueSettings, "url" | "publicKey">,
  runtime: Pick<Runtime, "send" | "clock">,
): Promise<FetchedCatalogue> {
  const bytes = await downloadBytes(url, { name: `The catalogue ${url}`, maxBytes: maxDocumentBytes, runtime });
  const text = new TextDecoder().decode(bytes);
  const document = await readCatalogueDocument(text, { publicKey, name: url });
  return { text, fetchedAt: runtime.clock.now(), document };
}

/**
 * Loads the document of a storage, and verifies it.
 *
 * @returns Undefined if there is none.
 * @throws {MeshError} When the storage fails, or the document is not valid.
 */
export async function loadCatalogue(
  storage: Pick<Storage, "load">,
  { publicKey }: Pick<CatalogueSettings, "publicKey">,
): Promise<FetchedCatalogue | undefined> {
  const bytes = await storage.load(catalogueKey);
  if (bytes === undefined) return undefined;
  const record: unknown = JSON.parse(new TextDecoder().decode(bytes));
  const { document: text, fetched_at: time } = isObject(record) ? record : {};
  if (typeof text !== "string" || typeof time !== "string") return undefined;
  const document = await readCatalogueDocument(text, { publicKey, name: "in the storage" });
  return { text, fetchedAt: Date.parse(time) || 0, document };
}

/** Keeps a document in a storage. */
export async function keepCatalogue(
  storage: Pick<Storage, "save">,
  { text, fetchedAt }: Pick<FetchedCatalogue, "text" | "fetchedAt">,
): Promise<void> {
  const record = { fetched_at: new Date(fetchedAt).toISOString(), document: text };
  await storage.save(catalogueKey, new TextEncoder().encode(JSON.stringify(record)));
}
