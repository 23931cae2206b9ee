// A copy of npm's deno-std@1.4.0/cli/parse_args.js (MIT, its notice kept), not a re-export: the command line
// reads its arguments before anything else, and the demo has to start without a download.
// @ts-types="./parse_args.d.ts"
export * from "./parse_args.js";
