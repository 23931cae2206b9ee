/**
 * The project's proxy, started as a user would, with a configuration file.
 * @module
 */
import { denoServingFlags } from "../../../src/runtime/_workers.ts";
import type { Contestant, Stage } from "../kit/contestant.ts";
import { denoFlags, nodeFlags, toTrustEnvironment } from "../kit/contestant.ts";
import { ownPackage } from "../kit/packages.ts";
import { denoCommand, nodePath, root } from "../kit/runtimes.ts";

/**
 * Writes the configuration and returns its path.
 *
 * @param stage Addresses of the proxy and the upstream.
 * @param proxy Additional members of the `proxy` section.
 * @param sections Additional sections.
 */
export async function writeConfiguration(
  stage: Stage,
  proxy: Record<string, unknown> = {},
  sections: Record<string, unknown> = {},
): Promise<string> {
  const path = `${stage.folder}/modelmesh.json`;
  const document = {
    providers: { mock: { connector: "openai.llm.v1", base_url: stage.upstream, api_key: "key" } },
    models: { "mock-model": { provider: "mock", capabilities: ["chat-completion"] } },
    pools: { bench: { models: ["mock-model"] } },
    proxy: { port: stage.port, max_concurrent: 20_000, ...proxy },
    ...sections,
  };
  await Deno.writeTextFile(path, JSON.stringify(document));
  return path;
}

function startOnDeno(stage: Stage, config: string) {
  return {
    command: [...denoCommand(`${root}cli.ts`, denoFlags(stage)), "proxy", "--config", config],
    env: { ...toTrustEnvironment(stage), DENO_V8_FLAGS: denoServingFlags },
  };
}

/** On Deno, from the sources, as the documentation starts a proxy. */
export const ownDeno: Contestant = {
  name: "deno",
  title: "ModelMesh on Deno",
  bare: "pass",
  model: "bench",
  async start(stage) {
    return startOnDeno(stage, await writeConfiguration(stage));
  },
};

/** On Deno with `node:http`. */
export const ownDenoNode: Contestant = {
  ...ownDeno,
  name: "deno-node",
  title: "ModelMesh on Deno, proxy.listener: node",
  async start(stage) {
    return startOnDeno(stage, await writeConfiguration(stage, { listener: "node" }));
  },
};

/** On Deno, with a guard that matches nothing; not among the contestants of other figures. */
export const ownGuarded: Contestant = {
  ...ownDeno,
  name: "deno-guards",
  title: "ModelMesh on Deno, with a guard",
  async start(stage) {
    const guards = { personal: { connector: "mesh.guard.pii.v1", action: "block" } };
    return startOnDeno(stage, await writeConfiguration(stage, { guards: ["personal"] }, { guards }));
  },
};

/** On Node, from the packed package. */
export const ownNode = (version: string): Contestant => ({
  name: `node${version}`,
  title: `ModelMesh on Node ${version}`,
  bare: `pass${version}`,
  model: "bench",
  async start(stage) {
    const config = await writeConfiguration(stage);
    return {
      command: [await nodePath(version), ...nodeFlags(stage), await ownPackage(), "proxy", "--config", config],
      env: toTrustEnvironment(stage),
    };
  },
});
