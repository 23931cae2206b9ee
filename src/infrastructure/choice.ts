/**
 * Selects where a new object is created: the pool's strategy selects among members whose provider supports it.
 * @module
 */
import { NoActiveModelError, UnsupportedRequestError } from "../errors.ts";
import { applyStrategy, selectionContext } from "../pipeline/apply_strategy.ts";
import { listOwnPools, poolFor } from "../pipeline/select_pool.ts";
import type { Member, Pool } from "../registry/registry.ts";
import { type Ability, hasAbility } from "./account.ts";
import type { BatchOpening } from "./batch_file.ts";
import type { InfrastructureMesh, ObjectCall } from "./mesh.ts";

const words: Readonly<Record<Ability, string>> = { files: "files", batch: "batches", fineTuning: "fine-tuning" };

/**
 * Returns the pool that a request names.
 *
 * @throws {ModelNotFoundError} When it does not exist or the client may not use it.
 */
export function namedPool(
  name: string | undefined,
  call: ObjectCall,
  { registry }: InfrastructureMesh,
): Pool | undefined {
  return name === undefined ? undefined : poolFor(name, call, registry);
}

/**
 * Refuses files where texts are guarded: providers read them as they are.
 *
 * @throws {UnsupportedRequestError} If the pool or the call has guards.
 */
export function checkUnguarded({ name, routing }: Pool, { client, guards }: ObjectCall): void {
  const [guard] = [...guards ?? [], ...client?.guards ?? [], ...routing.guards ?? []];
  if (guard === undefined) return;
  const message =
    `The requests to the pool "${name}" pass the guard "${guard}", which cannot see into files: send them one by one`;
  throw new UnsupportedRequestError(message, { code: "unsupported_by_pool" });
}

/** Returns the client's first pool that supports it, in configured order. */
export function firstPoolFor(ability: Ability, { client }: ObjectCall, { registry }: InfrastructureMesh): Pool {
  const pool = listOwnPools(client, registry).find(({ members }) =>
    members.some(({ model }) => hasAbility(model.instance, ability))
  );
  if (pool !== undefined) return pool;
  throw new UnsupportedRequestError(`No pool has a provider that supports ${words[ability]}${advice[ability]}`, {
    code: "unsupported_by_pool",
  });
}

const advice: Readonly<Record<Ability, string>> = {
  files: ": add a provider that stores files, or declare that an OpenAI-compatible server does (files.upload: true)",
  batch: ": add a provider with batches, or declare that an OpenAI-compatible server has them (batch.supported: true)",
  fineTuning: ": add a provider with fine-tuning, or declare it for a server (fine_tuning.supported: true)",
};

/**
 * Returns the members of a pool whose provider supports it.
 *
 * @param opening Of a file of batch requests: what its models must support.
 * @throws {UnsupportedRequestError} When there is none.
 */
export function membersFor(ability: Ability, pool: Pool, opening?: BatchOpening): readonly Member[] {
  const members = pool.members.filter(({ model }) =>
    hasAbility(model.instance, ability) && (ability !== "fineTuning" || model.info.features?.fine_tunable !== false) &&
    (opening === undefined || servesBatch(model, opening))
  );
  if (members.length > 0) return members;
  const what = opening === undefined ? words[ability] : `batches of ${opening.operation.endpoint}`;
  throw new UnsupportedRequestError(
    `No model of the pool "${pool.name}" has a provider that supports ${what}${advice[ability]}`,
    {
      code: "unsupported_by_pool",
    },
  );
}

function servesBatch(model: Member["model"], { operation: { operation }, needs }: BatchOpening): boolean {
  const { instance: { provider }, leaves, info } = model;
  const performs = operation.name === "chat" || provider?.operations?.includes(operation.name);
  return model.delivers("batch") && performs === true && leaves.some((leaf) => operation.serves(leaf)) &&
    needs.findLack(info) === undefined;
}

/**
 * Selects an active member by the pool's strategy.
 *
 * @param members At least one member.
 * @param target The pool, and providers that could not be reached.
 * @throws {NoActiveModelError} When none is active.
 */
export function chooseMember(
  members: readonly Member[],
  { pool, unreached }: { readonly pool: Pool; readonly unreached: ReadonlySet<string> },
  { runtime, hub }: InfrastructureMesh,
): Member {
  const now = runtime.clock.monotonic();
  const open = members.filter(({ model, state }) => {
    state.refresh(now);
    return state.status === "active" && !unreached.has(model.instance.entry.id);
  });
  if (open.length === 0) {
    const reasons = Object.fromEntries(members.map(({ state }) => [state.name, state.reason ?? "unreachable"]));
    const list = Object.entries(reasons).map(([name, reason]) => `${name} (${reason})`).join(", ");
    throw new NoActiveModelError(`No provider of the pool "${pool.name}" is available: ${list}`, { reasons });
  }
  const load = { input: 0, output: 0 };
  const context = selectionContext({ pool, load, isConstrained: true }, runtime);
  return applyStrategy(open, pool, { context, hub });
}
