/**
 * The key figures at the top of the page.
 * @module
 */
import { byId, el, setText } from "./dom.ts";

/** What one tile shows. */
interface Tile {
  readonly value: string;
  readonly detail: string;
  readonly tone?: "good" | "warn" | "bad" | undefined;
}

/** Values of more characters are written smaller. */
const longLength = 7;

const shown = new Map<string, HTMLElement>();

/** Shows figures by their titles; the order is that of the first calls. */
export function showTiles(tiles: Readonly<Record<string, Tile>>, id = "tiles"): void {
  for (const [title, { value, detail, tone = "" }] of Object.entries(tiles)) {
    let tile = shown.get(`${id} ${title}`);
    if (tile === undefined) {
      tile = el("div", { class: "tile" }, el("h3", {}, title), el("strong"), el("small"));
      shown.set(`${id} ${title}`, tile);
      byId(id).append(tile);
    }
    tile.dataset.tone = tone;
    setText(tile.children[1]!, value);
    tile.children[1]!.toggleAttribute("data-long", value.length > longLength);
    setText(tile.children[2]!, detail);
  }
}
