/**
 * Ids of files, batches and fine-tuning jobs. An id is self-contained: it encodes the provider, the account's API key,
 * the provider's own ids and the owner. It is signed, so any process with the same secret accepts it, and forged ids
 * are rejected.
 * @module
 */
import { fromBase64, toBase64Url } from "../util/base64.ts";
import { isSigned, signatureChars, signText } from "./signature.ts";

/** Kind of object that an id stands for. */
export type ObjectKind = "file" | "batch" | "fine-tuning job";

const prefixes: Readonly<Record<ObjectKind, string>> = {
  "file": "file-",
  "batch": "batch_",
  "fine-tuning job": "ftjob-",
};

/** Metadata of a file of batch requests. */
export interface BatchFacts {
  /** The pool that its lines name. */
  readonly pool: string;
  /** The model selected for them. */
  readonly model: string;
  /** Endpoint of its lines, such as `/v1/chat/completions`. */
  readonly endpoint: string;
  /** Number of lines. */
  readonly items: number;
  /** Estimated cost as single requests, nano-dollars; null if unknown. */
  readonly costNanoUsd: number | null;
}

/** The content of an id. */
export interface ObjectRef {
  readonly kind: ObjectKind;
  /** The provider's id in the configuration. */
  readonly provider: string;
  /** Fingerprint of the account's API key; empty for an account without one. */
  readonly account: string;
  /** Identity of the client that owns it; empty if clients have no names. */
  readonly owner: string;
  /** Creation time, ms since 1970. */
  readonly madeAt: number;
  /** The provider's ids; several when the object is split at the provider. */
  readonly ids: readonly string[];
  /** Metadata, of a file of batch requests and of a batch. */
  readonly batch?: BatchFacts | undefined;
}

/** A decoded id whose signature has not been verified. */
interface UnprovenRef {
  readonly ref: ObjectRef;
  readonly signed: string;
  readonly signature: string;
}

/** What is signed. */
const purpose = "object id";
/** Maximum length of an id; far longer than those of the largest batches. */
const maxChars = 16 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Encodes and signs an id.
 *
 * @param secret Signing secret.
 */
export async function encodeObjectId(ref: ObjectRef, secret: string): Promise<string> {
  const { provider, account, owner, madeAt, ids, batch } = ref;
  const members = [provider, account, owner, madeAt, ids];
  const { pool, model, endpoint, items, costNanoUsd } = batch ?? {};
  if (batch !== undefined) members.push([pool, model, endpoint, items, costNanoUsd] as string[]);
  const signed = prefixes[ref.kind] + toBase64Url(encoder.encode(JSON.stringify(members)));
  return signed + await signText(signed, { secret, purpose });
}

/**
 * Decodes an id without verifying its signature.
 *
 * @param id The id as received.
 * @param kind The expected kind.
 * @returns Undefined when it is not an id of this kind.
 */
export function readId(id: string, kind: ObjectKind): UnprovenRef | undefined {
  const prefix = prefixes[kind];
  if (!id.startsWith(prefix) || id.length < prefix.length + signatureChars || id.length > maxChars) return undefined;
  const signed = id.slice(0, -signatureChars);
  try {
    const text = decoder.decode(fromBase64(signed.slice(prefix.length).replace(/-/g, "+").replace(/_/g, "/")));
    const [provider, account, owner, madeAt, ids, batch] = JSON.parse(text);
    const strings = [provider, account, owner, ...ids];
    if (ids.length === 0 || strings.some((string) => typeof string !== "string") || typeof madeAt !== "number") {
      return undefined;
    }
    const [pool, model, endpoint, items, costNanoUsd] = batch ?? [];
    const facts = batch === undefined ? undefined : { pool, model, endpoint, items, costNanoUsd };
    const ref: ObjectRef = { kind, provider, account, owner, madeAt, ids, batch: facts };
    return { ref, signed, signature: id.slice(-signatureChars) };
  } catch {
    return undefined; // not an id of this mesh
  }
}

/** Verifies the signature of an id, in constant time. */
export async function isSignedBy({ signed, signature }: UnprovenRef, secret: string): Promise<boolean> {
  return await isSigned(signed, signature, { secret, purpose });
}

/** Returns a hash that identifies an API key without revealing it. */
export async function hashApiKey(key: string | undefined): Promise<string> {
  if (key === undefined) return "";
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(key))).subarray(0, 6));
}
