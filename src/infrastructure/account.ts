/**
 * Accounts at providers: which one stores an object, and which ones can store new objects.
 * @module
 */
import { findConfiguredService } from "../config/settings/offers.ts";
import type { Infrastructure } from "../contracts/infrastructure.ts";
import { ObjectNotFoundError, UnsupportedRequestError } from "../errors.ts";
import type { ModelEntry, ProviderInstance } from "../registry/registry.ts";
import { getObjectOwner, getObjectRecords, type InfrastructureMesh, type ObjectCall } from "./mesh.ts";
import { encodeObjectId, hashApiKey, isSignedBy, type ObjectKind, type ObjectRef, readId } from "./object_id.ts";

/** A provider with one of its API keys. */
export interface Account {
  readonly instance: ProviderInstance;
  /** The API key; undefined if the provider has none. */
  readonly key: string | undefined;
  /** Hash that identifies the API key. */
  readonly fingerprint: string;
}

/** A service that an account may provide. */
export type Ability = "files" | "batch" | "fineTuning";

/**
 * Whether an account provides a service, according to its configuration and connector. Objects outlast the keys of
 * callers, so a provider that callers authorize has none.
 */
export function hasAbility(instance: ProviderInstance, ability: Ability): boolean {
  const { provider, entry } = instance;
  if (provider?.infrastructure === undefined || entry.credentials === "header") return false;
  return findConfiguredService(entry, ability) ?? provider.infrastructure.facts[ability] !== undefined;
}

/** Maximum file size of an account, bytes. */
export function maxFileBytes({ provider, entry }: ProviderInstance): number {
  return entry.files?.maxSize ?? provider?.infrastructure?.facts.files?.maxBytes ?? Infinity;
}

/** Returns the limits of a batch. */
export function batchLimits(
  { instance, batch }: Pick<ModelEntry, "instance" | "batch">,
): { readonly maxItems: number; readonly maxBytes: number } {
  const facts = instance.provider?.infrastructure?.facts.batch;
  const provider = instance.entry.batch?.maxItems ?? facts?.maxItems ?? Infinity;
  return {
    maxItems: Math.min(batch?.maxItems ?? Infinity, provider),
    maxBytes: Math.min(batch?.maxPayload ?? Infinity, facts?.maxBytes ?? Infinity, maxFileBytes(instance)),
  };
}

/** Returns the account for a new object: the provider with its first API key that is not rejected. */
export async function newAccount(instance: ProviderInstance, { state, runtime }: InfrastructureMesh): Promise<Account> {
  await instance.ready;
  const key = state.keyPools.get(instance.entry.id)?.usable(runtime.clock.monotonic()) ?? instance.credential;
  return { instance, key, fingerprint: await hashApiKey(key) };
}

/** Returns the infrastructure methods of an account's connector. */
export function getInfrastructure({ instance }: Pick<Account, "instance">, ability: Ability): Infrastructure {
  const { infrastructure } = instance.provider ?? {};
  if (infrastructure !== undefined && hasAbility(instance, ability)) return infrastructure;
  const what = { files: "files", batch: "batches", fineTuning: "fine-tuning" }[ability];
  throw new UnsupportedRequestError(`The provider "${instance.entry.id}" has no ${what}`, {
    code: "unsupported_by_pool",
  });
}

/** Creates the id of an object at an account. */
export async function mintId(
  ref: Omit<ObjectRef, "provider" | "account">,
  { instance, key, fingerprint }: Account,
  mesh: InfrastructureMesh,
): Promise<{ readonly id: string; readonly ref: ObjectRef }> {
  const reference = { ...ref, provider: instance.entry.id, account: fingerprint };
  return { id: await encodeObjectId(reference, secretFor(key, mesh)), ref: reference };
}

/** An object with a valid id, and the account that stores it. */
export interface Located {
  readonly ref: ObjectRef;
  readonly account: Account;
}

/**
 * Finds the account that stores an object.
 *
 * @param id The id as received.
 * @param context The expected kind, and the caller: a client, or the mesh itself (`isOurs`).
 * @throws {ObjectNotFoundError} When the id is invalid, belongs to another client, or its provider or API key is no
 * longer configured.
 */
export async function locate(
  id: string,
  context: { readonly kind: ObjectKind; readonly call: Pick<ObjectCall, "client">; readonly isOurs?: boolean },
  mesh: InfrastructureMesh,
): Promise<Located> {
  const { kind, call, isOurs = false } = context;
  const read = readId(id, kind);
  if (read === undefined) throw notFound(id, kind);
  const { ref } = read;
  const instance = mesh.registry.instances.find(({ entry }) => entry.id === ref.provider);
  if (instance === undefined) {
    throw new ObjectNotFoundError(`The provider "${shown(ref.provider)}" of this ${kind} is no longer configured`);
  }
  const account = await findAccount(ref, instance, mesh);
  const { proxy } = mesh.settings;
  if (account === undefined && proxy?.idSecret === undefined) throw keyGone(ref);
  if (!await isSignedBy(read, secretFor(account?.key, mesh))) throw notFound(id, kind);
  if (account === undefined) throw keyGone(ref);
  if (!isOurs && ref.owner !== getObjectOwner(call)) throw notFound(id, kind);
  return { ref, account };
}

/**
 * Returns the account. If ids are signed with a secret, the provider's only API key may have been replaced: it belongs
 * to the same account.
 */
async function findAccount(
  { account }: ObjectRef,
  instance: ProviderInstance,
  { state, settings }: InfrastructureMesh,
): Promise<Account | undefined> {
  await instance.ready;
  const pool = state.keyPools.get(instance.entry.id)?.keys.map(({ value }) => value);
  const keys = pool ?? [instance.credential];
  for (const key of keys) {
    const fingerprint = await hashApiKey(key);
    if (fingerprint === account || keys.length === 1 && settings.proxy?.idSecret !== undefined) {
      return { instance, key, fingerprint };
    }
  }
}

function secretFor(key: string | undefined, { settings, objects }: InfrastructureMesh): string {
  return settings.proxy?.idSecret ?? key ?? getObjectRecords({ objects }).processSecret;
}

function keyGone({ provider, kind }: ObjectRef): ObjectNotFoundError {
  return new ObjectNotFoundError(
    `The API key of the provider "${shown(provider)}" that created this ${kind} is no longer configured`,
  );
}

function notFound(id: string, kind: ObjectKind): ObjectNotFoundError {
  return new ObjectNotFoundError(`There is no ${kind} ${JSON.stringify(shown(id))}`);
}

function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
