/**
 * Summaries of conversations that clients keep in place of them. They are signed, so that a client cannot put words into
 * a conversation that this mesh would take for its own, and belong to one client.
 * @module
 */
import type { RequestClient } from "../pipeline/request.ts";
import { isObject } from "../util/is_object.ts";
import { fromBase64Json, toBase64Json } from "../util/json_base64.ts";
import { getObjectOwner, type InfrastructureMesh } from "./mesh.ts";
import { ObjectRecords } from "./object_records.ts";
import { isSigned, signatureChars, signText } from "./signature.ts";

/** Distinguishes a summary of any mesh from the state of other models. */
const prefix = "mesh-summary:";

const purpose = "summary";

/** The owner of a summary. */
interface SummaryOwner {
  readonly client: RequestClient | undefined;
}

/** Whether a mesh has created a content; not necessarily this one. */
export function isSealedSummary(content: unknown): content is string {
  return typeof content === "string" && content.startsWith(prefix);
}

/** Signs a summary. */
export async function sealSummary(summary: string, owner: SummaryOwner, mesh: InfrastructureMesh): Promise<string> {
  const signed = prefix + toBase64Json({ summary, owner: getObjectOwner(owner) });
  const [secret] = await listSecrets(mesh);
  return signed + await signText(signed, { secret: secret!, purpose });
}

/**
 * Returns a summary.
 *
 * @returns Undefined if this mesh has not created it, for this client, or if it was changed.
 */
export async function openSummary(
  content: string,
  owner: SummaryOwner,
  mesh: InfrastructureMesh,
): Promise<string | undefined> {
  const signed = content.slice(0, -signatureChars);
  const signature = content.slice(-signatureChars);
  for (const secret of await listSecrets(mesh)) {
    if (!await isSigned(signed, signature, { secret, purpose })) continue;
    const facts = fromBase64Json(signed.slice(prefix.length));
    const isOwn = isObject(facts) && facts.owner === getObjectOwner(owner);
    return isOwn && typeof facts.summary === "string" ? facts.summary : undefined;
  }
}

/**
 * The secrets by which summaries are signed: the first one signs. Without a configured one, these are the API keys, so that
 * a restart does not make the summaries of clients invalid.
 */
async function listSecrets({ settings, registry, state, objects }: InfrastructureMesh): Promise<readonly string[]> {
  const { idSecret } = settings.proxy ?? {};
  if (idSecret !== undefined) return [idSecret];
  const keys: string[] = [];
  for (const { ready, entry, credential } of registry.instances) {
    await ready;
    for (const { value } of state.keyPools.get(entry.id)?.keys ?? []) keys.push(value);
    if (credential !== undefined) keys.push(credential);
  }
  return [...keys, (objects.records ??= new ObjectRecords()).processSecret];
}
