/**
 * Ids of files, batches and fine-tuning jobs. An id says where its object is: the provider, the account's key, the
 * provider's own ids, and whose it is. It is signed, so that any process with the same secret serves it, and none that
 * was made up.
 * @module
 */
import { fromBase64, toBase64 } from "../util/base64.ts";

/** What ids stand for. */
export type ObjectKind = "file" | "batch" | "fine-tuning job";

const prefixes: Readonly<Record<ObjectKind, string>> = {
  "file": "file-",
  "batch": "batch_",
  "fine-tuning job": "ftjob-",
};

/** What is known of a file of requests. */
export interface BatchFacts {
  /** The pool that its lines name. */
  readonly pool: string;
  /** The model that was chosen for them. */
  readonly model: string;
  /** What they ask for, such as `/v1/chat/completions`. */
  readonly endpoint: string;
  /** How many there are. */
  readonly items: number;
  /** What they cost by estimate as single requests, nano-dollars; null where no price is known. */
  readonly costNano: number | null;
}

/** What an id says. */
export interface ObjectRef {
  readonly kind: ObjectKind;
  /** Entry id. */
  readonly provider: string;
  /** Fingerprint of the account's key; empty for an account without one. */
  readonly account: string;
  /** Name of the client that owns it; empty where clients have none. */
  readonly owner: string;
  /** When it was made here, ms since 1970. */
  readonly madeAt: number;
  /** The provider's own: several where one object of ours is several of the provider's. */
  readonly ids: readonly string[];
  /** Of a file of requests, and of a batch. */
  readonly batch?: BatchFacts | undefined;
}

/** An id as it was read: who made it is not known yet. */
interface UnprovenRef {
  readonly ref: ObjectRef;
  readonly signed: string;
  readonly signature: string;
}

/** Bytes of a signature. */
const signatureBytes = 16;
/** The same in base64url. */
const signatureChars = 22;
/** Far more than the ids of the largest batch take. */
const maxChars = 16 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * The id of an object.
 *
 * @param ref What it says.
 * @param secret Signs it.
 */
export async function idOf(ref: ObjectRef, secret: string): Promise<string> {
  const { provider, account, owner, madeAt, ids, batch } = ref;
  const members = [provider, account, owner, madeAt, ids];
  const { pool, model, endpoint, items, costNano } = batch ?? {};
  if (batch !== undefined) members.push([pool, model, endpoint, items, costNano] as string[]);
  const signed = prefixes[ref.kind] + url(encoder.encode(JSON.stringify(members)));
  return signed + await signatureOf(signed, secret);
}

/**
 * Reads an id; undefined for what is none of ours.
 *
 * @param id As it came.
 * @param kind What it has to stand for.
 */
export function readId(id: string, kind: ObjectKind): UnprovenRef | undefined {
  const prefix = prefixes[kind];
  if (!id.startsWith(prefix) || id.length < prefix.length + signatureChars || id.length > maxChars) return undefined;
  const signed = id.slice(0, -signatureChars);
  try {
    const text = decoder.decode(fromBase64(signed.slice(prefix.length).replace(/-/g, "+").replace(/_/g, "/")));
    const [provider, account, owner, madeAt, ids, batch] = JSON.parse(text);
    const texts = [provider, account, owner, ...ids];
    if (ids.length === 0 || texts.some((one) => typeof one !== "string") || typeof madeAt !== "number") {
      return undefined;
    }
    const [pool, model, endpoint, items, costNano] = batch ?? [];
    const facts = batch === undefined ? undefined : { pool, model, endpoint, items, costNano };
    const ref: ObjectRef = { kind, provider, account, owner, madeAt, ids, batch: facts };
    return { ref, signed, signature: id.slice(-signatureChars) };
  } catch {
    return undefined; // no id of ours
  }
}

/** Whether an id was signed with a secret. Takes as long for any signature. */
export async function isSignedBy({ signed, signature }: UnprovenRef, secret: string): Promise<boolean> {
  const right = await signatureOf(signed, secret);
  let difference = right.length ^ signature.length;
  for (let at = 0; at < right.length; at++) difference |= right.charCodeAt(at) ^ signature.charCodeAt(at);
  return difference === 0;
}

/** What a key is recognised by, without showing it. */
export async function fingerprintOf(key: string | undefined): Promise<string> {
  if (key === undefined) return "";
  return url(new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(key))).subarray(0, 6));
}

async function signatureOf(text: string, secret: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  // what else is signed with the same secret has no such beginning
  const signature = await crypto.subtle.sign("HMAC", key, encoder.encode(`modelmesh object id\n${text}`));
  return url(new Uint8Array(signature).subarray(0, signatureBytes));
}

function url(bytes: Uint8Array): string {
  return toBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
