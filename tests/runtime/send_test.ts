import { send } from "../../src/runtime/_node_client.ts";
import { sendByConnection, sendByFetch } from "../../src/runtime/deno.ts";
import { describeSend } from "./_send.ts";

describeSend("The upstream client over Deno's fetch", sendByFetch);
describeSend("The upstream client over connections of its own on Deno", sendByConnection);
describeSend("The upstream client over node:http on Deno", send);
