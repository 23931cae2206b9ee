/**
 * Restores clients that a storage without persistence has lost, from what a process knows.
 * @module
 */
import type { ClientsDocument, StoredClient } from "./client_record.ts";

/** What a process knows of the record. */
interface KnownClients {
  readonly known: ClientsDocument;
  /** Revocations are known from then on, ISO 8601. */
  readonly since: string;
}

/**
 * Adds what the record lacks. A client that was revoked stays revoked, whichever of both has it; of two versions of a
 * client the one with more changes counts, so that a replaced token does not come back either.
 *
 * @returns The same record if it lacks nothing.
 */
export function restoreClients(stored: ClientsDocument, { known, since }: KnownClients): ClientsDocument {
  const revokedIds = new Set(stored.revoked.map(({ id }) => id));
  const lost = known.revoked.filter(({ id, revoked_at }) => revoked_at >= since && !revokedIds.has(id));
  for (const { id } of lost) revokedIds.add(id);
  const versions = new Map(stored.clients.map((client) => [client.id, client]));
  for (const client of known.clients) {
    const other = versions.get(client.id);
    if (other === undefined || countChanges(client) > countChanges(other)) versions.set(client.id, client);
  }
  const clients = [...versions.values()].filter(({ id }) => !revokedIds.has(id));
  const isSame = lost.length === 0 && clients.length === stored.clients.length &&
    clients.every((client, index) => client === stored.clients[index]);
  return isSame ? stored : { ...stored, clients, revoked: [...stored.revoked, ...lost] };
}

/** Number of changes since the client was created. */
function countChanges({ revision = 0 }: StoredClient): number {
  return revision;
}
