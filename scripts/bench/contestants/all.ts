/**
 * All contestants of the benchmark.
 * @module
 */
import type { Contestant } from "../kit/contestant.ts";
import { denoPass, direct, nodePass } from "./bare.ts";
import { ownDeno, ownDenoNode, ownGuarded, ownNode } from "./ours.ts";
import { liteLlm, portkey } from "./peers.ts";

/** All contestants, in the order of tables. */
export const all: readonly Contestant[] = [
  direct,
  denoPass,
  ownDeno,
  ownDenoNode,
  nodePass("20"),
  ownNode("20"),
  portkey("20"),
  nodePass("24"),
  ownNode("24"),
  portkey("24"),
  liteLlm,
  ownGuarded,
];

/** Those that figures compare, by name. */
export const names: readonly string[] = all.filter((contestant) => contestant !== ownGuarded).map(({ name }) => name);
