/**
 * Other gateways, started as their documentation recommends.
 * @module
 */
import type { Contestant } from "../kit/contestant.ts";
import { nodeFlags, toTrustEnvironment } from "../kit/contestant.ts";
import { installed, installedLiteLlm } from "../kit/packages.ts";
import { nodePath } from "../kit/runtimes.ts";

/** Portkey's gateway from npm. Provider and URL are sent with each request. */
export const portkey = (version: string): Contestant => ({
  name: `portkey${version}`,
  title: `Portkey's gateway on Node ${version}`,
  model: "mock-model",
  async start(stage) {
    const script = `${await installed("portkey")}/node_modules/@portkey-ai/gateway/build/start-server.js`;
    const options = ["--headless", `--port=${stage.port}`];
    return {
      command: [await nodePath(version), ...nodeFlags(stage), script, ...options],
      env: toTrustEnvironment(stage),
    };
  },
  headers: ({ upstream }) => ({ "x-portkey-provider": "openai", "x-portkey-custom-host": upstream }),
});

/** Master key of LiteLLM, which does not start without one; generated per run. */
const masterKey = `sk-${crypto.randomUUID()}`;

/** LiteLLM's proxy from PyPI, with one worker and without telemetry. */
export const liteLlm: Contestant = {
  name: "litellm",
  title: "LiteLLM's proxy, one worker",
  model: "bench",
  isSlow: true,
  startMs: 90_000,
  async start(stage) {
    const path = `${stage.folder}/litellm.json`; // JSON is YAML
    const model = { model: "openai/mock-model", api_base: stage.upstream, api_key: "key" };
    const settings = { telemetry: false, ...(stage.certificate ? { ssl_verify: stage.certificate } : {}) };
    const document = { model_list: [{ model_name: "bench", litellm_params: model }], litellm_settings: settings };
    await Deno.writeTextFile(path, JSON.stringify(document));
    const options = ["--config", path, "--host", "127.0.0.1", "--port", String(stage.port), "--num_workers", "1"];
    return {
      command: [`${await installedLiteLlm()}/litellm`, ...options],
      env: {
        ...toTrustEnvironment(stage),
        LITELLM_MASTER_KEY: masterKey,
        LITELLM_LOCAL_MODEL_COST_MAP: "True",
        LITELLM_LOG: "ERROR",
      },
    };
  },
  headers: () => ({ authorization: `Bearer ${masterKey}` }),
};
