/** How processes on one port start, stop and end: `modelmesh proxy --workers`. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { spawnCommand } from "../support/_cli.ts";
import { listChildren } from "../support/_children.ts";
import { makeFolder } from "../support/_library.ts";
import { happens, until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { sendBytes } from "../support/_surface.ts";
import { names, tlsClient, tlsText } from "../support/_tls.ts";
import { Gate, startUpstream } from "../support/upstream.ts";
import { atOnce, isLinux, killOne, withWorkers, workerResponse } from "../support/_workers.ts";

(isLinux ? describe : describe.skip)("Workers on one port", () => {
  it("keep what they have spent in a file, over restarts of all", async () => {
    await using upstream = await startUpstream(workerResponse);
    await using kept = await makeFolder();
    const storage = { connector: "mesh.local-file.v1", path: `${kept.path}/state.json` };
    const config = { budget: { daily_limit: 30 }, storage };
    for (const before of [0, 10, 20]) {
      await withWorkers({ upstream, config }, async (workers) => {
        const [{ spent_usd }] = JSON.parse(await workers.ask("GET /mesh/status")).budgets;
        assertEquals(spent_usd, before);
        if (before === 10) await killOne(workers); // the next one begins with what all have, not with the file
        assertEquals(await atOnce(10, () => workers.chat()), { 200: 10 });
        if (before === 20) assertEquals(await atOnce(4, () => workers.chat()), { budget_exceeded: 4 });
      });
    }
  });

  it("have clients made at runtime in common, and their tokens within a second", async () => {
    await using upstream = await startUpstream(workerResponse);
    await using kept = await makeFolder();
    const storage = { connector: "mesh.local-file.v1", path: `${kept.path}/state.json` };
    await withWorkers({ upstream, config: { storage } }, async (workers) => {
      const made = JSON.parse(await workers.ask("POST /mesh/clients", '{"name":"app","rpm":7}'));
      const areAll = async (status: number) =>
        (await Promise.all(Array.from({ length: 8 }, () => workers.ask("GET /v1/models", "", made.token)))).every((
          body,
        ) => body.includes(status === 200 ? '"list"' : "invalid_api_key"));
      await until(() => areAll(200), "all know the client");
      assertEquals(await atOnce(20, () => workers.chat(made.token)), { 200: 7, rate_limit_exceeded: 13 });
      await workers.ask(`DELETE /mesh/clients/${made.id}`);
      await until(() => areAll(401), "all know that it is gone");
    });
  });

  it("all serve another certificate when its files change, and keep it when they come to hold rubbish", async () => {
    await using upstream = await startUpstream(workerResponse);
    await using files = await makeFolder();
    const write = async (pem: string, key: string) => ({
      cert: await files.write("own.pem", pem),
      key: await files.write("own.key", key),
    });
    const tls = await write(tlsText("server.pem"), tlsText("server.key"));
    await withWorkers({ upstream, config: { proxy: { tls } } }, async ({ child, port }) => {
      const haveAll = async (expected: string) =>
        (await Promise.all(Array.from({ length: 8 }, async () => {
          const { socket, name } = await tlsClient(port);
          socket.destroy();
          return name;
        }))).every((name) => name === expected);
      assert(await haveAll(names["server.pem"]));
      await write(tlsText("other.pem"), tlsText("other.key"));
      // connections show one worker or the other, so that both must say it before the next change
      await until(() => child.err.split("has changed: new connections get it").length > 2, "both take the other one");
      assert(await haveAll(names["other.pem"]));
      await write("rubbish", tlsText("other.key"));
      await until(() => child.err.split("has no certificate").length > 2, "both report the rubbish");
      assert(await haveAll(names["other.pem"]));
    });
  });

  it("finish open answers on SIGTERM, and are gone then", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream({
      play: (exchange) => gate.pass().then(() => workerResponse.play(exchange)),
    });
    await withWorkers({ upstream }, async ({ child, chat, pids, port }) => {
      const open = Promise.all([chat(), chat(), chat()]);
      await until(() => upstream.calls === 3);
      child.kill("SIGTERM");
      await child.says("finishing responses in flight");
      await until(
        async () => (await sendBytes(port, "GET /live HTTP/1.1\r\n\r\n").catch(() => "")) === "",
        "no new ones",
      );
      gate.openAll();
      assertEquals((await open).map(({ status }) => status), [200, 200, 200]);
      assertEquals(await happens("it stops", child.code), 0);
      await until(() => pids().length === 0);
    });
  });

  it("are replaced without end: sockets and files of the one above them stay as many", async () => {
    await using upstream = await startUpstream(workerResponse);
    await withWorkers({ upstream }, async (workers) => {
      const files = () => readdirSync(`/proc/${workers.child.pid}/fd`).length;
      await killOne(workers);
      const before = files();
      for (let kills = 0; kills < 3; kills++) await killOne(workers);
      await until(() => files() <= before + 2, () => `${files()} files are open, ${before} were`);
      assertMatch(workers.child.err, /Worker \d exited by a signal: restarting in 0 ms/);
    });
  });

  it("end with the one above them", async () => {
    await using upstream = await startUpstream(workerResponse);
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", JSON.stringify(testConfig({ upstreams: { a: upstream.url } })));
    const child = spawnCommand(["proxy", "--port", "0", "--config", path, "--workers", "2"]);
    await child.says("workers: 2");
    await until(() => listChildren(child.pid).length === 2);
    const all = listChildren(child.pid);
    process.kill(child.pid, "SIGKILL");
    await child.code;
    await until(() => all.every((pid) => !isAlive(pid)), "no worker is left");
  });

  it("say once why none can start, and end with 1", async () => {
    const busy = createServer();
    await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
    const port = String((busy.address() as AddressInfo).port);
    await using folder = await makeFolder();
    const good = await folder.write(
      "mesh.json",
      JSON.stringify(testConfig({ upstreams: { a: "http://127.0.0.1:9/v1" } })),
    );
    const rows: readonly [args: readonly string[], expected: string][] = [
      [["--config", good, "--port", port], "the port is in use"],
      [["--config", "absent.json"], "does not exist"],
    ];
    for (const [args, expected] of rows) {
      await using child = spawnCommand(["proxy", ...args, "--workers", "3"]);
      assertEquals(await happens("it ends", child.code), 1);
      assertEquals(child.err.split(expected).length, 2, child.err);
    }
    await new Promise((resolve) => busy.close(resolve));
  });

  it("take another configuration on SIGHUP, and say so once", async () => {
    await using upstream = await startUpstream(workerResponse);
    await withWorkers({ upstream }, async ({ child, chat }) => {
      child.kill("SIGHUP");
      await child.says("Reloaded");
      assertEquals(await atOnce(8, () => chat()), { 200: 8 });
      assertStringIncludes(child.err, "Reloaded");
      assertEquals(child.err.split("Reloaded").length, 2);
    });
  });
});

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
