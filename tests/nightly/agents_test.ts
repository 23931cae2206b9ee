/**
 * Coding agents at a proxy in a process of its own: each reads two files, writes a third one and answers, over models of
 * several vendors that reject what these reject.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { afterAll, describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Agent, type AgentEnd, agents, conclusion, installAgents, sources, written } from "../support/_agents.ts";
import { playVendor, type Vendor, vendorConfig, vendors } from "../support/_agent_vendors.ts";
import { spawnCommand } from "../support/_cli.ts";
import type { Reply } from "../support/_dialects.ts";
import { makeFolder } from "../support/_library.ts";
import { type Play, readTurn, type Turn } from "../support/_tool_loop.ts";
import { startUpstream } from "../support/upstream.ts";

const prompt = "Read a.txt and b.txt, and write both words into out.txt.";

/** What an agent did over a model. */
interface Done {
  /** Its output, and that of the proxy. */
  readonly log: string;
  readonly end: AgentEnd;
  /** Content of the file that it was asked to write. */
  readonly words: string;
  /** Requests with tools, as the model received them. */
  readonly turns: readonly Turn[];
}

/** Lets an agent work in a folder of its own. */
async function work(agent: Agent, vendor: Vendor, play: (folder: string) => Play = agent.play): Promise<Done> {
  await using folder = await makeFolder();
  for (const [name, text] of Object.entries(sources)) await folder.write(name, text);
  await using upstream = await startUpstream(playVendor(vendor, play(folder.path)));
  await using home = await makeFolder();
  const path = await home.write("mesh.json", JSON.stringify(vendorConfig(vendor, upstream.url)));
  await using proxy = spawnCommand(["proxy", "--config", path, "--port", "0"]);
  const url = await proxy.url();
  const end = await installed!.run(agent, folder.path, { url, model: "chat", prompt });
  const words = await readFile(join(folder.path, "out.txt"), "utf8").catch(() => "nothing");
  const asked = upstream.requests.filter(({ method }) => method === "POST").map((request) =>
    readTurn(vendor.dialect, request)
  );
  const turns = asked.filter(({ tools }) => tools.length > 1);
  return { log: [end.out, end.err, proxy.err].join("\n"), end, words, turns };
}

const installed = await installAgents();
if (installed === undefined) {
  describe.skip("coding agents: npm cannot install them", () => {});
} else {
  describe("Coding agents in a loop of tools", () => {
    afterAll(async () => await installed[Symbol.asyncDispose]());

    for (const agent of agents) {
      for (const [name, vendor] of Object.entries(vendors)) {
        it(`${agent.name} works over ${name}`, async () => {
          const { end: { code, out, outbound }, words, turns, log } = await work(agent, vendor);
          assertEquals({ code, words, outbound }, { code: 0, words: written, outbound: [] }, log);
          assertStringIncludes(out, conclusion);
          assertEquals(turns.map(({ results }) => results.length), [0, 2, 3]);
        });
      }
    }

    for (const name of ["gpt-4o of OpenAI", "Claude Haiku 4.5", "Gemini 2.5 Flash"]) {
      it(`Claude Code goes on after a search for tools over ${name}`, async () => {
        const search = { id: "toolu_a", name: "ToolSearch", input: { query: "select:WebFetch", max_results: 1 } };
        const play = () => ({ tools, results }: Turn): Reply =>
          results.length === 0 && tools.includes("ToolSearch")
            ? { id: "turn_1", calls: [search] }
            : { pieces: [conclusion] };
        const { end: { code, out }, turns, log } = await work(agents[0]!, vendors[name]!, play);
        assertEquals([code, out.includes(conclusion)], [0, true], log);
        // where the model does not support references to tools, Claude Code describes all of its tools instead
        assertEquals(turns.at(-1)!.tools.includes("WebFetch"), true);
      });
    }
  });
}
