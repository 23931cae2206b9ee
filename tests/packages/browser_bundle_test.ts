import { assertEquals } from "@std/assert";
import { bundleForPage, completeEntry, firstCall, oneProvider, serverTraces } from "../../scripts/npm/browser_size.ts";
import { stop } from "../../scripts/npm/esbuild.ts";
import { ok, startUpstream } from "../support/upstream.ts";

// the bundler says that it has stopped a moment before its process is gone
Deno.test("a page's bundle", { sanitizeOps: false, sanitizeResources: false }, async (test) => {
  await test.step("reaches nothing of Node's and nothing of Deno's, not even unused", async () => {
    const { allText } = await bundleForPage(completeEntry, { isShaken: false });
    assertEquals(serverTraces(allText), []);
  });

  await test.step("loads with its first chat call what is counted for it", async () => {
    await using upstream = await startUpstream(ok());
    const { files, modules } = await bundleForPage(oneProvider.replace("https://api.example.com/v1", upstream.url));
    const folder = await Deno.makeTempDir();
    const loaded: string[] = [];
    const noted = globalThis as { noteLoaded?: (path: string) => string };
    noted.noteLoaded = (path) => {
      loaded.push(path.replace("./", "page/"));
      return path;
    };
    try {
      await Deno.mkdir(`${folder}/page`);
      for (const [path, text] of files) { // each import that waits until it is needed notes itself
        await Deno.writeTextFile(
          `${folder}/${path}`,
          text.replace(/\bimport\(("\.\/[^"]+")\)/g, "import(noteLoaded($1))"),
        );
      }
      const [entry] = [...modules].find(([, module]) => module === "page.ts")!;
      const { client } = await import(`file://${folder}/${entry}`);
      assertEquals(loaded, []);
      const { choices } = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
      await client.close();
      assertEquals(choices.length, 1);
      assertEquals(loaded.map((path) => modules.get(path)).sort(), [...firstCall].sort()); // some load at once
    } finally {
      delete noted.noteLoaded;
      await Deno.remove(folder, { recursive: true });
    }
  });

  await test.step("shows what only servers have, where it is reached", async () => {
    const { allText } = await bundleForPage(`import "./mod.ts";`, { isShaken: false });
    const found = serverTraces(allText).map((trace) => trace.split(":")[0]);
    assertEquals(found, ["Deno", "a module of Node", "process"]);
  });

  await stop();
});

Deno.test("serverTraces() knows code of servers from words that look like it", () => {
  const code = ["Deno.args", `import"node:fs"`, "process.env.KEY", "let{process:e}=globalThis", `require("fs")`];
  for (const text of code) assertEquals(serverTraces(text).length, 1, text);
  const words = [
    "a denoted node",
    `"the process ended"`,
    "processed.env",
    "nodes:1",
    `"compose node: alias"`,
    "isRequired(x)",
  ];
  for (const text of words) assertEquals(serverTraces(text), [], text);
});
