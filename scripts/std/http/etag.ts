// @ts-types="./etag.d.ts"
export * from "npm:deno-std@1.4.0/http/etag.js";
