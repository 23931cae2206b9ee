import { assertEquals } from "@std/assert";

Deno.test("the configurations for nginx repeat no POST, which may have been billed", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/scaling.md", import.meta.url));
  const blocks = [...page.matchAll(/```nginx\n([^]*?)```/g)].map(([, block]) => block!.replace(/#.*$/gm, ""));
  assertEquals([blocks.length > 0, blocks.filter((block) => block.includes("non_idempotent"))], [true, []]);
});
