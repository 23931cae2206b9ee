/**
 * The state of the whole mesh: in the first key figure, and in the title of the tab while other tabs are in front.
 * @module
 */
import { counted } from "./format.ts";
import type { MeshStatus } from "./records.ts";
import { countStates } from "./summary.ts";
import { showTiles } from "./tiles.ts";

/** Shows it. */
export function showHealth(status: Pick<MeshStatus, "pools">): void {
  const { pools, down, models, standby } = countStates(status);
  const [first, ...others] = down;
  const detail = first === undefined
    ? `${pools === 1 ? "the pool is" : `all ${pools} pools are`} up`
    : others.length > 0
    ? `${down.length} of ${pools} pools are down`
    : `pool ${first} is down`;
  showTiles({
    "Models active": {
      value: `${models - standby} of ${models}`,
      detail: pools === 0 ? "no pool" : detail,
      tone: first !== undefined ? "bad" : standby > 0 ? "warn" : "good",
    },
  });
  showTitle(first !== undefined ? detail : standby > 0 ? `${counted(standby, "model")} in standby` : "");
}

/** Shows a state in the title of the tab. */
export function showTitle(state: string): void {
  const title = [state, "ModelMesh"].filter(Boolean).join(" · ");
  if (document.title !== title) document.title = title;
}
