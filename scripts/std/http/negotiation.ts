// A copy of npm's deno-std@1.4.0/http/negotiation.js (MIT, its notice kept), not a re-export: the demo's proxy serves
// its dashboard without a download.
// @ts-types="./negotiation.d.ts"
export * from "./negotiation.js";
