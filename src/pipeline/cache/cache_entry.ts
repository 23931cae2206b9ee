/**
 * Entries of the cache: responses with their origin, as bytes with a version and a checksum.
 * @module
 */
import type { ServedBy } from "../../contracts/provider.ts";
import { isObject } from "../../util/is_object.ts";
import { hash } from "./cache_key.ts";

/** A response that is not JSON. */
export interface EntryContent {
  readonly type: string;
  readonly base64: string;
}

/** A response, in the form in which it was received. */
export type EntryForm =
  | {
    readonly kind: "complete";
    /** The JSON of the response. */
    readonly text: string;
    readonly content?: EntryContent | undefined;
  }
  | {
    readonly kind: "stream";
    /** The JSON of each event; the last one has the usage. */
    readonly events: readonly string[];
  }
  | { readonly kind: "content"; readonly content: EntryContent };

/** A response in the cache. */
export interface CacheEntry {
  /** Time of the response, ms since the Unix epoch. */
  readonly createdAt: number;
  /** The model that it is of. */
  readonly model: string;
  /** The entry id of its provider. */
  readonly provider: string;
  readonly servedBy?: ServedBy | undefined;
  /** Parameters that the model did not take. */
  readonly dropped?: readonly string[] | undefined;
  /** What it cost, USD; undefined if that is unknown. */
  readonly costUsd?: number | undefined;
  readonly form: EntryForm;
}

/** Changes with the form of entries: those of another version do not exist. */
const version = "MESHCACHE1";

/** Length of a checksum, hexadecimal digits. */
const checksumChars = 64;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Returns the number of characters of a response: its entry has more bytes. */
export function measureForm(form: EntryForm): number {
  if (form.kind === "content") return form.content.base64.length;
  if (form.kind === "stream") return form.events.reduce((sum, { length }) => sum + length, 0);
  return form.text.length + (form.content?.base64.length ?? 0);
}

/** Returns the bytes of an entry: version, checksum of the key and the JSON, and the JSON. */
export async function encodeEntry(key: string, entry: CacheEntry): Promise<Uint8Array> {
  const text = JSON.stringify(entry);
  return encoder.encode(`${version}${await hash(key + text)}${text}`);
}

/** Reads an entry. Undefined if it is damaged, of another key or of another version. */
export async function decodeEntry(key: string, bytes: Uint8Array): Promise<CacheEntry | undefined> {
  try {
    const text = decoder.decode(bytes);
    const start = version.length + checksumChars;
    const json = text.slice(start);
    if (!text.startsWith(version) || await hash(key + json) !== text.slice(version.length, start)) return undefined;
    const entry: unknown = JSON.parse(json);
    return isObject(entry) && isObject(entry.form) ? entry as unknown as CacheEntry : undefined;
  } catch {
    return undefined; // not UTF-8
  }
}
