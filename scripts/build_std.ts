/**
 * Builds the copies of the standard library for programs that import a checkout by path: `scripts/std/…/checkout.mjs`.
 * @module
 */
import { collectNotices } from "./npm/bundle.ts";
import { build, stop } from "./npm/esbuild.ts";
import { fromFileUrl, root } from "./npm/files.ts";
import { std } from "./npm/std.ts";

/** Names of imports, by the package that they belong to. */
export const copies: Readonly<Record<string, readonly string[]>> = {
  yaml: ["@std/yaml"],
  http: ["@std/http/etag", "@std/http/negotiation"],
  dotenv: ["@std/dotenv/stringify"],
};

/** Returns where the copy of a package is. */
export function toCopyUrl(name: string): URL {
  return new URL(`scripts/std/${name}/checkout.mjs`, root);
}

/** Returns the text of a copy: the code, below the notices of its authors. */
export async function bundleStd(name: string): Promise<string> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: fromFileUrl(root),
    stdin: {
      contents: copies[name]!.map((part) => `export * from "${part}";`).join("\n"),
      resolveDir: fromFileUrl(root),
    },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    metafile: true,
    write: false,
    legalComments: "none",
    plugins: [std],
    logLevel: "silent", // a failure is thrown
  });
  const notices = await collectNotices(Object.keys(metafile.inputs));
  const head = `Written by \`deno task std\` from @std/${name}: not to be edited. License: MIT.\n\n${notices}`;
  const comment = head.trim().split("\n").map((line) => `// ${line}`.trimEnd()).join("\n");
  return `${comment}\n${outputFiles[0]!.text.trim()}\n`;
}

if (import.meta.main) {
  try {
    for (const name of Object.keys(copies)) await Deno.writeTextFile(toCopyUrl(name), await bundleStd(name));
  } finally {
    await stop();
  }
}
