/** The first command of the README on a machine that has downloaded nothing yet. */
import { assertEquals } from "@std/assert";
import { spawnCommand } from "../support/_cli.ts";

Deno.test("deno task demo downloads the standard library, and nothing else", async () => {
  const cache = await Deno.makeTempDir({ prefix: "modelmesh-demo-" });
  try {
    await using demo = spawnCommand(["--port", "0"], {
      command: [Deno.execPath(), "task", "demo"],
      env: { ...Deno.env.toObject(), DENO_DIR: cache, NO_COLOR: "1" },
      cwd: new URL("../../", import.meta.url).pathname,
    });
    const page = await fetch(`${await demo.url()}/ui`, { headers: { accept: "text/html" } });
    await page.body?.cancel();
    demo.kill("SIGTERM");
    assertEquals([page.status, await demo.code], [200, 0], demo.err);
    const downloads = [...demo.err.matchAll(/^Download \w+:\/\/[^/]+\/(.*)$/gm)].map(([, path]) => path);
    assertEquals(downloads, ["deno-std", "deno-std/-/deno-std-1.4.0.tgz"]);
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
});
