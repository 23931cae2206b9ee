// @ts-types="./negotiation.d.ts"
export * from "npm:deno-std@1.4.0/http/negotiation.js";
