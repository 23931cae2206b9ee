/**
 * Coding agents at a proxy in a process of its own: each reads two files, writes a third one and answers, over models of
 * several vendors that reject what these reject.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { afterAll, describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Agent,
  type AgentEnd,
  agents,
  codexBySocket,
  conclusion,
  installAgents,
  sources,
  written,
} from "../support/_agents.ts";
import { after, before, conclusion as finished, page, playTask, prompt as task } from "../support/_agent_tasks.ts";
import { playVendor, type Vendor, vendorConfig, vendors } from "../support/_agent_vendors.ts";
import { spawnCommand } from "../support/_cli.ts";
import type { Reply } from "../support/_dialects.ts";
import { makeFolder } from "../support/_library.ts";
import { startRelay } from "../support/_request_relay.ts";
import { type Play, readTurn, type Turn } from "../support/_tool_loop.ts";
import { json, type Script, startUpstream, status } from "../support/upstream.ts";

/** Each of them fails midway once, and the next one goes on. */
const changing = ["gpt-4o of OpenAI", "Claude Haiku 4.5", "a Gemini 3", "a model of Mistral"];

const prompt = "Read a.txt and b.txt, and write both words into out.txt.";

/** What an agent did. */
interface Done {
  /** Its output, and that of the proxy. */
  readonly log: string;
  readonly end: AgentEnd;
  /** Content of the file that it was asked to write. */
  readonly words: string;
  /** Requests with tools, as each provider received them. */
  readonly turns: readonly (readonly Turn[])[];
  /** Method and path of each of its requests for responses. */
  readonly sent: readonly string[];
}

/** A model of the pool. */
interface Member {
  readonly vendor: Vendor;
  readonly play?: Play;
  /** Number of results with which a request finds the provider out of service. */
  readonly failsAt?: number;
}

function toScript({ vendor, failsAt }: Member, play: Play): Script {
  const script = playVendor(vendor, play);
  return (request) =>
    failsAt !== undefined && readTurn(vendor.dialect, request).results.length === failsAt
      ? status(503)
      : script(request);
}

/** Lets an agent work in a folder of its own, over a pool. */
async function work(agent: Agent, ...members: readonly Member[]): Promise<Done> {
  await using folder = await makeFolder();
  for (const [name, text] of Object.entries(sources)) await folder.write(name, text);
  const scripts = members.map((member) => toScript(member, member.play ?? agent.play(folder.path)));
  const upstreams = await Promise.all(scripts.map((script) => startUpstream(script)));
  await using _ = { [Symbol.asyncDispose]: async () => void await Promise.all(upstreams.map((one) => one.close())) };
  await using home = await makeFolder();
  const config = vendorConfig(...members.map(({ vendor }, index) => ({ vendor, url: upstreams[index]!.url })));
  const path = await home.write("mesh.json", JSON.stringify(config));
  await using proxy = spawnCommand(["proxy", "--config", path, "--port", "0"]);
  await using relay = await startRelay(await proxy.url());
  const end = await installed!.run(agent, folder.path, { url: relay.url, model: "chat", prompt });
  const words = await readFile(join(folder.path, "out.txt"), "utf8").catch(() => "nothing");
  const turns = upstreams.map(({ requests }, index) =>
    requests.filter(({ method }) => method === "POST").map((request) =>
      readTurn(members[index]!.vendor.dialect, request)
    )
      .filter(({ tools }) => tools.length > 1)
  );
  const sent = relay.requests.filter((request) => request.endsWith("/responses"));
  return { log: [end.out, end.err, proxy.err].join("\n"), end, words, turns, sent };
}

/** A search engine, and the configuration of the pool that has it. */
const searchConfig = (base_url: string) => ({
  providers: { engine: { connector: "openai.compatible.v1", base_url, api_key: "key-of-engine-0123456789" } },
  models: { engine: { provider: "engine", capabilities: ["web-search"] } },
  pools: { search: { models: ["engine"] } },
  aliases: { [knownModel]: "chat", "gemini-3-flash-preview": "chat" },
});

/** A name that Codex knows, so that it has all of its tools; the other one is what Gemini CLI asks for searches. */
const knownModel = "gpt-5.5";

/** Lets an agent run a command, search the web and change a file, over one model. */
async function workWithTools(agent: Agent, vendor: Vendor): Promise<void> {
  await using folder = await makeFolder();
  await folder.write("a.txt", sources["a.txt"]!);
  await folder.write("out.txt", before);
  await using upstream = await startUpstream(playVendor(vendor, playTask(agent, folder.path)));
  await using engine = await startUpstream(json({ object: "search", model: "m", results: [page] }));
  const config = vendorConfig({ vendor, url: upstream.url });
  const added: Readonly<Record<string, object>> = searchConfig(engine.url);
  const joined = Object.entries(added).map(([key, more]) => [key, { ...config[key] as object, ...more }]);
  await using home = await makeFolder();
  const all = { ...config, ...Object.fromEntries(joined), proxy: { tools: { web_search: { pool: "search" } } } };
  const path = await home.write("mesh.json", JSON.stringify(all));
  await using proxy = spawnCommand(["proxy", "--config", path, "--port", "0"]);
  const assignment = { url: await proxy.url(), model: agent.program === "codex" ? knownModel : "chat", prompt: task };
  const { code, out, err, outbound } = await installed!.run(agent, folder.path, assignment);
  const words = await readFile(join(folder.path, "out.txt"), "utf8");
  const log = [out, err, proxy.err, ...upstream.requests.map(({ body }) => body.slice(-2_000))].join("\n");
  assertEquals(
    { code, words, outbound, searches: engine.calls },
    { code: 0, words: after, outbound: [], searches: 1 },
    log,
  );
  assertStringIncludes(out, finished);
}

/** Asserts that an agent has done its task, with these numbers of results at each provider. */
function assertDone({ end: { code, out, outbound }, words, turns, log }: Done, results: number[][]): void {
  assertEquals({ code, words, outbound }, { code: 0, words: written, outbound: [] }, log);
  assertStringIncludes(out, conclusion);
  assertEquals(turns.map((all) => all.map(({ results }) => results.length)), results);
}

const installed = await installAgents();
if (installed === undefined) {
  describe.skip("coding agents: npm cannot install them", () => {});
} else {
  describe("Coding agents in a loop of tools", () => {
    afterAll(async () => await installed[Symbol.asyncDispose]());

    for (const agent of agents) {
      for (const [name, vendor] of Object.entries(vendors)) {
        it(`${agent.name} works over ${name}`, async () => assertDone(await work(agent, { vendor }), [[0, 2, 3]]));
      }
      for (const [index, name] of changing.entries()) {
        const other = changing[(index + 1) % changing.length]!;
        it(`${agent.name} goes on over ${other} when ${name} fails midway`, async () => {
          const members = [{ vendor: vendors[name]!, failsAt: 2 }, { vendor: vendors[other]! }];
          assertDone(await work(agent, ...members), [[0, 2, 3], [2]]);
        });
      }
    }

    for (const name of ["gpt-4o of OpenAI", "Claude Haiku 4.5", "a Gemini 3"]) {
      it(`Codex works over a WebSocket and ${name}`, async () => {
        const done = await work(codexBySocket, { vendor: vendors[name]! });
        assertDone(done, [[0, 2, 3]]);
        assertEquals(done.sent, ["GET /v1/responses"]);
      });
    }

    for (const name of ["gpt-4o of OpenAI", "Claude Haiku 4.5", "Gemini 2.5 Flash"]) {
      for (const agent of agents) {
        it(`${agent.name} runs a command, searches the web and changes a file over ${name}`, () =>
          workWithTools(agent, vendors[name]!));
      }

      it(`Claude Code goes on after a search for tools over ${name}`, async () => {
        const search = { id: "toolu_a", name: "ToolSearch", input: { query: "select:WebFetch", max_results: 1 } };
        const play = ({ tools, results }: Turn): Reply =>
          results.length === 0 && tools.includes("ToolSearch")
            ? { id: "turn_1", calls: [search] }
            : { pieces: [conclusion] };
        const { end: { code, out }, turns, log } = await work(agents[0]!, { vendor: vendors[name]!, play });
        assertEquals([code, out.includes(conclusion)], [0, true], log);
        // where the model does not support references to tools, Claude Code describes all of its tools instead
        assertEquals(turns[0]!.at(-1)!.tools.includes("WebFetch"), true);
      });
    }
  });
}
