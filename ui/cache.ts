/**
 * The figure of the cache: how often it had the response, what that saved, and how much it keeps.
 * @module
 */
import { type Connection, ResponseError } from "./connection.ts";
import { count, none, percent, usd } from "./format.ts";
import type { MeshStatus } from "./records.ts";
import { showTiles } from "./tiles.ts";

/** How often the counts are read while the page is seen, ms: the storage goes through all entries. */
const intervalMs = 10_000;

/** The response of `/mesh/cache`. */
interface CacheCounts {
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
  readonly saved_usd: number;
}

/** The tile of the cache. */
export class Cache {
  readonly #connection: Connection;
  /** Whether this proxy has a cache, and this token may read its counts. */
  #isShown = false;
  /** Undefined while the storage is out of reach. */
  #counts: CacheCounts | undefined;

  constructor(connection: Connection, redraw: () => void) {
    this.#connection = connection;
    setInterval(() => {
      if (!this.#isShown || document.hidden) return;
      this.#read().then(redraw, () => {}); // a lost connection ends the stream, too, and is shown then
    }, intervalMs);
  }

  /** Reads the counts, if there are any. */
  async read({ role, cache = false }: MeshStatus): Promise<void> {
    this.#isShown = role !== "client" && cache;
    if (this.#isShown) await this.#read();
  }

  /** Shows the figure, once there is a cache. */
  draw(): void {
    if (!this.#isShown) return;
    if (this.#counts === undefined) {
      return showTiles({ "Cache hits": { value: none, detail: "out of reach", tone: "bad" } });
    }
    const { entries, hits, misses, saved_usd } = this.#counts;
    const asked = hits + misses;
    const kept = `${count(entries)} ${entries === 1 ? "entry" : "entries"}`;
    showTiles({
      "Cache hits": {
        value: asked === 0 ? none : percent(hits / asked),
        detail: `${usd(saved_usd)} saved, ${kept}`,
      },
    });
  }

  async #read(): Promise<void> {
    try {
      this.#counts = await (await this.#connection.request("/mesh/cache")).json();
    } catch (error) {
      if (!(error instanceof ResponseError)) throw error;
      this.#counts = undefined;
    }
  }
}
