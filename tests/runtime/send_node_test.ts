import { send } from "../../src/runtime/_node_client.ts";
import { onDeno } from "../support/_programs.ts";
import { describeSend } from "./_send.ts";

if (!onDeno) describeSend("The upstream client over node:http", send);
