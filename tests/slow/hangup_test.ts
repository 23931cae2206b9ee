/** SIGHUP: another configuration where no terminal is standard input, the end where one is. */
import { assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { kill } from "node:process";
import { spawnCommand, withProxyCommand } from "../support/_cli.ts";
import { makeFolder } from "../support/_library.ts";
import { happens, until } from "../support/patience.ts";
import { entryCommand } from "../support/_programs.ts";
import { testConfig } from "../support/proxy.ts";

const text = JSON.stringify(testConfig({ upstreams: { a: "http://127.0.0.1:9/v1" } }));

/** Whether a process runs. */
function isAlive(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch {
    return false;
  }
}

describe("SIGHUP", () => {
  it("ends a proxy whose terminal is closed", async () => {
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", text);
    const line = [...entryCommand("cli"), "proxy", "--config", path, "--port", "0"].map((word) => `'${word}'`).join(
      " ",
    );
    // a window: `script` holds the other end of the terminal
    const window = spawn("script", ["-qefc", `echo pid=$$; exec ${line}`, "/dev/null"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    let shown = "";
    const listens = new Promise<void>((resolve) =>
      window.stdout.on("data", (data: Uint8Array) => {
        shown += new TextDecoder().decode(data);
        if (shown.includes("pools:")) resolve();
      })
    );
    await happens(() => `the proxy says where it listens: ${shown}`, listens);
    const pid = Number(/pid=(\d+)/.exec(shown)![1]);
    try {
      const closed = new Promise<void>((resolve) => window.on("close", () => resolve()));
      window.kill("SIGKILL");
      await happens("the window is closed", closed);
      await until(() => !isAlive(pid), "the proxy ends with its window");
    } finally {
      if (isAlive(pid)) kill(pid, "SIGKILL");
    }
  });

  it("at a terminal stops as SIGTERM does; that it comes twice hurries nothing", async () => {
    const setup = { isInteractive: true, files: { "mesh.json": text } };
    const { code, err } = await withProxyCommand(["--config", "mesh.json"], setup, (_, shell) => {
      shell.signal("SIGHUP");
      shell.signal("SIGHUP");
      assertEquals(shell.exits, []);
      return shell.says("SIGHUP: finishing responses in flight");
    });
    assertEquals(code, 0);
    assertNotMatch(err, /reloaded/i);
  });

  it("reloads without a terminal, and where there is no file says so and goes on", async () => {
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", text);
    await using child = spawnCommand(["proxy", "--config", path, "--port", "0"]);
    await using detected = spawnCommand(["proxy", "--port", "0"], { env: { OPENAI_API_KEY: "sk-child-0123456789" } });
    const urls = [await child.url(), await detected.url()];
    child.kill("SIGHUP");
    await child.says("Reloaded");
    detected.kill("SIGHUP");
    await detected.says("Not reloaded");
    assertStringIncludes(detected.err, "There is no configuration file to read again");
    for (const url of urls) assertEquals((await (await fetch(`${url}/live`)).json()).status, "ok");
  });
});
