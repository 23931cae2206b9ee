/**
 * Step 4: the models that may be asked now.
 * @module
 */
import type { Member } from "../registry/registry.ts";

/**
 * Leaves out models in standby. One on trial takes a request at a time; only when nobody else is left do further
 * requests go to it all the same, since answering comes first.
 *
 * @param members Candidates so far.
 * @param now Monotonic ms.
 */
export function filterByState(members: readonly Member[], now: number): readonly Member[] {
  const free: Member[] = [];
  let onTrial: Member[] | undefined;
  for (const member of members) {
    const { state } = member;
    state.settle(now);
    if (state.status === "standby") continue;
    if (state.trialUnderWay) (onTrial ??= []).push(member);
    else free.push(member);
  }
  return free.length === 0 && onTrial !== undefined ? onTrial : free;
}
