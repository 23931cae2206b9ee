/**
 * The state of the whole mesh: in the first key figure, and in the title of the tab while other tabs are in front.
 * @module
 */
import { counted } from "./format.ts";
import type { MeshStatus } from "./records.ts";
import { countStates } from "./summary.ts";
import { showTiles } from "./tiles.ts";

/** Shows it. */
export function showHealth(status: Pick<MeshStatus, "pools">, now: number): void {
  const { pools, down, paused, models, standby } = countStates(status, now);
  const [first] = down;
  const detail = describe(down, pools, "down") ?? describe(paused, pools, "rate limited") ??
    `${pools === 1 ? "the pool is" : `all ${pools} pools are`} up`;
  showTiles({
    "Models active": {
      value: `${models - standby} of ${models}`,
      detail: pools === 0 ? "no pool" : detail,
      tone: first !== undefined ? "bad" : standby > 0 ? "warn" : "good",
    },
  });
  showTitle(down.length + paused.length > 0 ? detail : standby > 0 ? `${counted(standby, "model")} in standby` : "");
}

function describe([name, ...others]: readonly string[], pools: number, state: string): string | undefined {
  if (name === undefined) return undefined;
  return others.length > 0 ? `${others.length + 1} of ${pools} pools are ${state}` : `pool ${name} is ${state}`;
}

/** Shows a state in the title of the tab. */
export function showTitle(state: string): void {
  const title = [state, "ModelMesh"].filter(Boolean).join(" · ");
  if (document.title !== title) document.title = title;
}
