/**
 * Baselines: no gateway, and minimal pass-through proxies.
 * @module
 */
import type { Contestant } from "../kit/contestant.ts";
import { denoFlags, nodeFlags, toTrustEnvironment } from "../kit/contestant.ts";
import { installed } from "../kit/packages.ts";
import { denoCommand, nodePath, programPath } from "../kit/runtimes.ts";

/** Requests directly to the upstream. */
export const direct: Contestant = {
  name: "direct",
  title: "straight to the upstream",
  model: "mock-model",
  start: () => Promise.resolve({ command: [] }),
};

/** A pass-through with `Deno.serve` and `fetch`. */
export const denoPass: Contestant = {
  name: "pass",
  title: "bare pass-through on Deno",
  model: "bench",
  start: (stage) =>
    Promise.resolve({
      command: [
        ...denoCommand(programPath("deno_pass.ts"), denoFlags(stage)),
        String(stage.port),
        `${stage.upstream}/chat/completions`,
      ],
      env: toTrustEnvironment(stage),
    }),
};

/** A pass-through with `node:http` and `undici.request`. */
export const nodePass = (version: string): Contestant => ({
  name: `pass${version}`,
  title: `bare pass-through on Node ${version}`,
  model: "bench",
  async start(stage) {
    const undici = `${await installed("undici")}/node_modules/undici/index.js`;
    const args = [String(stage.port), `${stage.upstream}/chat/completions`, undici];
    return {
      command: [await nodePath(version), ...nodeFlags(stage), programPath("node_pass.js"), ...args],
      env: toTrustEnvironment(stage),
    };
  },
});
