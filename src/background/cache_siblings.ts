/**
 * The cache of several worker processes, each of which has entries in its own memory.
 * @module
 */
import type { Shared } from "../contracts/storage.ts";
import type { Hub } from "../observe/hub.ts";
import { followWork } from "../util/failure.ts";
import { newId } from "../util/request_id.ts";

const channel = "cache";

/**
 * Deletes the entries of this process when another one has deleted all of its own.
 *
 * @param shared Messages among the processes.
 * @param clear Deletes the entries of this process.
 */
export async function openSiblings(
  shared: Pick<Shared, "publish" | "subscribe">,
  { clear, hub }: { readonly clear: () => Promise<unknown>; readonly hub: Hub },
): Promise<{
  /** Lets them delete their entries. */
  clear(): Promise<void>;
  /** Ends the subscription. */
  close(): Promise<void>;
}> {
  const id = newId();
  const follow = async () => {
    await clear();
    hub.trace({ severity: "info", component: "cache", message: "Another process has emptied the cache" });
  };
  const close = await shared.subscribe(channel, (sender) => {
    if (sender !== id) followWork(follow(), { hub, component: "cache", task: "Deleting the entries of this process" });
  });
  return { clear: () => shared.publish(channel, id), close };
}
