/**
 * Step 6, within one attempt: if a provider rejects a member that ModelMesh has added to the request, the request is
 * repeated without it.
 * @module
 */
import { adaptRequest } from "./adapt_request.ts";
import { readmit } from "./admission.ts";
import { findBlamedMember } from "./blamed_member.ts";
import { type RefusedTry, tryKeys } from "./try_keys.ts";
import { type AttemptScope, type ServedTry, tryOnce } from "./try_once.ts";

/**
 * Calls one model, at once without a member that it rejects and the client has not sent. This is not a retry: it does
 * not use the retry budget, has no delay, and does not count as a failure of the model. What it rejects is remembered
 * once it has served the request without it.
 *
 * @throws The client's abort reason or the deadline. A failure of the model is returned.
 */
export async function tryAdapted<T>(scope: AttemptScope<T>): Promise<ServedTry<T> | RefusedTry> {
  const { context, member: { model, state }, added = [] } = scope;
  let end = await tryModel(scope);
  const rejected: string[] = [];
  for (let left = added; !("served" in end);) {
    const blamed = findBlamedMember(end.failure, left);
    if (blamed === undefined || !await readmit(scope)) return end;
    rejected.push(blamed);
    left = left.filter((name) => name !== blamed);
    const adapted = adaptRequest(context.plan.request, model, new Set([...state.rejectedMembers, ...rejected]));
    end = await tryModel({ ...scope, ...adapted });
  }
  for (const name of rejected) state.rejectedMembers.add(name);
  return end;
}

function tryModel<T>(scope: AttemptScope<T>): Promise<ServedTry<T> | RefusedTry> {
  return scope.member.state.keys === undefined ? tryOnce(scope) : tryKeys(scope);
}
