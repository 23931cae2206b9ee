/** What installing the npm package brings with it: nothing. */
import { assert, assertEquals } from "@std/assert";
import { makeFolder } from "../support/_library.ts";
import { findPackage } from "../support/_package.ts";

// the bundler says that it has stopped a moment before its process is gone
Deno.test("the npm package", { sanitizeOps: false, sanitizeResources: false }, async (test) => {
  await using folder = await makeFolder();
  const path = await findPackage(folder.path);
  const manifest = JSON.parse(await Deno.readTextFile(`${path}/package.json`));

  await test.step("installs no other package: those that it can use are optional", () => {
    const kinds = ["dependencies", "optionalDependencies", "bundleDependencies", "bundledDependencies"];
    assertEquals(kinds.filter((kind) => kind in manifest), []);
    const optional = Object.entries<{ optional?: boolean }>(manifest.peerDependenciesMeta)
      .filter(([, { optional }]) => optional).map(([name]) => name);
    assertEquals(optional.toSorted(), Object.keys(manifest.peerDependencies).toSorted());
  });

  await test.step("runs nothing when it is installed", () => {
    assertEquals(["scripts", "gypfile"].filter((key) => key in manifest), []);
  });

  await test.step("imports at once only its own files and what Node has", async () => {
    const foreign: string[] = [];
    let count = 0;
    for (const script of await scriptsIn(`${path}/dist`)) {
      const text = await Deno.readTextFile(script);
      for (const [, specifier = ""] of text.matchAll(/^(?:import|export)\b[^;"'()]*["']([^"']+)["']/gm)) {
        count++;
        if (!/^(?:\.{1,2}\/|node:)/.test(specifier)) foreign.push(`${script}: ${specifier}`);
      }
    }
    assertEquals(foreign, []);
    assert(count > 100, `only ${count} imports are seen`);
  });
});

async function scriptsIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...await scriptsIn(`${folder}/${name}`));
    else if (name.endsWith(".js")) found.push(`${folder}/${name}`);
  }
  return found;
}
