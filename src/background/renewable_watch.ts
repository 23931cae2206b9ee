/**
 * What goes on in the background, under settings that change while the mesh runs.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { startWatch, Watch, WatchParts } from "./watch.ts";

/** Starts a watch, and starts it anew. */
export class RenewableWatch {
  readonly #start: typeof startWatch;
  #parts: WatchParts | undefined;
  #current: Watch | undefined;

  /** @param start Starts one. */
  constructor(start: typeof startWatch) {
    this.#start = start;
  }

  /**
   * Starts one that can be renewed until it is stopped.
   *
   * @param parts What watching needs.
   */
  start(parts: WatchParts): Watch {
    this.#parts = parts;
    const current = this.#current = this.#start(parts);
    return {
      begin: () => current.begin(),
      stop: () => {
        this.#parts = undefined;
        this.#current?.stop();
      },
    };
  }

  /**
   * Ends it, and starts it with other settings.
   *
   * @param settings The present ones.
   */
  async renew(settings: Settings): Promise<void> {
    if (this.#parts === undefined) return; // the mesh was closed meanwhile
    this.#current?.stop();
    this.#current = this.#start({ ...this.#parts, settings });
    await this.#current.begin();
  }
}
