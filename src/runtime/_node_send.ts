/**
 * The upstream client on Node.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import { nodeNetwork } from "./_node_network.ts";
import { http1Client } from "./http1/client.ts";

/** The upstream client over our own connections. */
export const send: Runtime["send"] = http1Client(nodeNetwork());
