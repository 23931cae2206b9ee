/**
 * What takes no time of a fake clock takes turns of the event loop.
 * @module
 */

/** Lets what is on its way through sockets arrive. */
export async function breathe(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}
