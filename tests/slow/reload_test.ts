/** Real processes, real signals, real files: another configuration while requests come in without a pause. */
import { assertEquals, assertGreater, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ChildCommand, spawnCommand, startCommand } from "../support/_cli.ts";
import { makeFolder } from "../support/_library.ts";
import { goodBody } from "../support/_surface.ts";
import { until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { respond, startUpstream, type Upstream } from "../support/upstream.ts";

function textFor(upstream: Upstream, config: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify(testConfig({ upstreams: { a: upstream.url }, config }));
}

async function ask(url: string, isStream = false): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...goodBody, stream: isStream }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  if (!isStream) return JSON.parse(text).choices[0].message.content;
  if (!text.endsWith("data: [DONE]\n\n")) throw new Error(`cut short: ${text}`);
  const lines = text.split("\n\n").filter((line) => line.startsWith("data: {"));
  return lines.map((line) => JSON.parse(line.slice(6)).choices[0]?.delta.content ?? "").join("");
}

/** Resolves once standard error has said this so many times. */
async function saidTimes(child: ChildCommand, text: string, times: number): Promise<void> {
  await until(() => child.err.split(text).length > times, () => `"${text}" ${times} times; it said: ${child.err}`);
}

/** Requests without a pause, until they are stopped; throws what any of them came to but a response. */
function load(url: string, workers: number) {
  const texts = new Map<string, number>();
  let isOver = false;
  const work = async (isStream: boolean) => {
    while (!isOver) {
      const text = await ask(url, isStream);
      texts.set(text, (texts.get(text) ?? 0) + 1);
    }
  };
  const ended = Promise.all(Array.from({ length: workers }, (_, place) => work(place % 2 === 0)));
  ended.catch(() => {}); // its caller gets the error
  return {
    async stop() {
      isOver = true;
      await ended;
      return texts;
    },
  };
}

describe("SIGHUP", () => {
  it("takes over 12 times under load, 4 of them in vain, and costs no request", async () => {
    await using one = await startUpstream(respond({ text: "one" }));
    await using two = await startUpstream(respond({ text: "two" }));
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", textFor(one));
    await using child = spawnCommand(["proxy", "--config", path, "--port", "0", "--log-level", "error"]);
    const url = await child.url();
    const loaded = load(url, 8);
    for (let round = 1; round <= 4; round++) {
      for (const upstream of [two, one]) {
        await writeFile(path, textFor(upstream));
        child.kill("SIGHUP");
        await saidTimes(child, "Reloaded ", round * 2 - (upstream === two ? 1 : 0));
        assertEquals(await ask(url), upstream === two ? "two" : "one", "at once");
      }
      await writeFile(path, textFor(two, { pols: {} }));
      child.kill("SIGHUP");
      await saidTimes(child, "Not reloaded, the current configuration is kept", round);
      assertStringIncludes(child.err, 'pols: unknown key, did you mean "pools"?');
      assertEquals(await ask(url), "one");
    }
    const texts = await loaded.stop();
    assertEquals([...texts.keys()].sort(), ["one", "two"]);
    assertGreater(texts.get("one")! + texts.get("two")!, 100);
    child.kill("SIGTERM");
    assertEquals(await child.code, 0, child.err);
  });
});

describe("modelmesh proxy --watch", () => {
  it("applies what is written in place, put in place, or linked to, and only what is valid", async () => {
    await using one = await startUpstream(respond({ text: "one" }));
    await using two = await startUpstream(respond({ text: "two" }));
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", textFor(one));
    await using child = spawnCommand(["proxy", "--config", path, "--port", "0", "--watch", "--log-level", "error"]);
    const url = await child.url();
    let reloads = 0;
    const reloaded = async (text: string) => {
      await saidTimes(child, "Reloaded ", ++reloads);
      assertEquals(await ask(url), text);
    };
    await writeFile(path, textFor(two));
    await reloaded("two");

    await folder.write("new.json", textFor(one));
    await rename(join(folder.path, "new.json"), path);
    await reloaded("one");

    await writeFile(path, textFor(two).slice(0, -20));
    await saidTimes(child, "Not reloaded", 1);
    assertEquals(await ask(url), "one");
    await rm(path);
    const target = await folder.write("target.json", textFor(two));
    await symlink(target, path);
    await reloaded("two");
    assertEquals(child.err.match(/Not reloaded/g)?.length, 1, child.err);
  });

  it("needs a file", async () => {
    const { shell, code } = startCommand(["proxy", "--watch"], { listens: false });
    assertEquals(await code, 2);
    assertMatch(shell.err, /"--watch" needs "--config": the file to watch/);
  });
});

describe("A reload", () => {
  it("says what asks for a restart", async () => {
    await using upstream = await startUpstream(respond());
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", textFor(upstream));
    await using child = spawnCommand(["proxy", "--config", path, "--port", "0", "--log-level", "error"]);
    await child.url();
    await writeFile(path, textFor(upstream, { proxy: { host: "127.0.0.2" } }));
    child.kill("SIGHUP");
    await child.says("Reloaded");
    assertStringIncludes(child.err, "Warning: proxy.host has changed: it takes effect after a restart");
  });
});
