/**
 * What a mesh says of its states and what its events have said agree.
 * @module
 */
import type { PoolStatus } from "../../mod.ts";
import type { FakeClock } from "../../src/runtime/test.ts";
import type { Referee } from "./referee.ts";
import { hour } from "./_times.ts";

/**
 * Compares.
 *
 * @param status What the mesh says.
 * @param referee What its events said.
 * @param clock For the time.
 * @returns What is wrong.
 */
export function statusRule(
  status: Readonly<Record<string, PoolStatus>>,
  { book }: Referee,
  clock: FakeClock,
): string[] {
  const wrong: string[] = [];
  for (const [pool, { models, active, standby }] of Object.entries(status)) {
    for (const { name: model, provider, status, reason, retryAt } of models) {
      const reported = book.standby({ pool, model, provider });
      const where = `${model} in ${pool}`;
      if ((status === "standby") !== reported.length > 0) {
        wrong.push(
          `${where} is ${status}, expected otherwise: ${reported.map(({ key }) => key).join() || "no event"} holds`,
        );
      } else if (status === "standby" && !reported.some((one) => one.reason === reason)) {
        wrong.push(`${where} rests for ${reason}, expected ${reported.map((one) => one.reason).join(" or ")}`);
      }
      if (retryAt !== undefined && Date.parse(retryAt) < clock.now() - 1) {
        wrong.push(`${where} was to be back at ${retryAt}, expected it to be`);
      }
    }
    if (active + standby !== models.length) wrong.push(`${pool} counts ${active} + ${standby} of ${models.length}`);
  }
  return wrong;
}

/** Reasons of standbys that end with a UTC day. */
const daily: ReadonlySet<string> = new Set(["provider_budget", "quota_window"]);

/**
 * Standbys for what is spent of a day end with a day, wherever the clocks have been.
 *
 * @param status What the mesh says.
 * @returns What is wrong.
 */
export function dateRule(status: Readonly<Record<string, PoolStatus>>): string[] {
  return Object.entries(status).flatMap(([pool, { models }]) =>
    models.flatMap(({ name, reason = "", retryAt }) => {
      if (!daily.has(reason) || retryAt === undefined || Date.parse(retryAt) % (24 * hour) === 0) return [];
      return `${name} in ${pool} is to be back at ${retryAt} (${reason}), expected at a midnight`;
    })
  );
}
