import { send } from "../../src/runtime/deno.ts";
import { describeSend } from "./_send.ts";

describeSend("The upstream client over Deno's fetch", send);
