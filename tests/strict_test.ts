import { assertEquals, assertStringIncludes } from "@std/assert";

const root = new URL("../", import.meta.url);

Deno.test("a rejection that no code handles fails a test run, although a proxy serves in its process", async () => {
  const path = await Deno.makeTempFile({ suffix: "_test.ts" });
  await Deno.writeTextFile(
    path,
    `import { serve } from ${JSON.stringify(new URL("proxy.ts", root).href)};
    Deno.test("serves", async () => {
      const config = { providers: { "openai.llm.v1": { api_key: "key-0123456789" } }, pools: { chat: { capability: "chat-completion" } } };
      const proxy = await serve({ port: 0, config });
      Promise.reject(new Error("lost on the way"));
      await (await fetch(proxy.url + "/live")).text();
      await proxy.stop();
    });`,
  );
  const args = [
    "test",
    "-A",
    "--no-check",
    "--no-npm",
    "--config=deno.json",
    "--preload=tests/support/strict.ts",
    path,
  ];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: root }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  await Deno.remove(path);
  assertEquals(code, 1, `${out}${err}`);
  assertStringIncludes(out!, "(uncaught error)");
  assertStringIncludes(out!, "Error: lost on the way");
});
