import { describeSend } from "./_send.ts";
import { send } from "../../src/runtime/deno.ts";
import { send as sendByNode } from "../../src/runtime/_node_client.ts";

describeSend("the upstream client over Deno's fetch", send);
describeSend("the upstream client over node:http", sendByNode);
