/**
 * In place of `tests/support/_breathe.ts` in a page, whose sockets are in other processes.
 * @module
 */
import { sendToNetwork } from "./proxy.ts";
import { relay } from "./relay.ts";

/** Lets what is on its way through sockets arrive: what is sent now comes after it. */
export async function breathe(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    await relay({ do: "pass" });
    await (await sendToNetwork("/")).text();
  }
}
