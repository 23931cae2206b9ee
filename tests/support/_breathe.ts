/**
 * Turns of the event loop, for work that takes no time of a fake clock.
 * @module
 */

/** Lets data in flight on sockets arrive. */
export async function breathe(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}
