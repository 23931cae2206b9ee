import { assertEquals } from "@std/assert";
import { buildPage } from "../../scripts/build_ui.ts";
import { stop } from "../../scripts/npm/esbuild.ts";
import { hashes, packedPage } from "../../src/proxy/_ui_page.ts";

// the bundler says that it has stopped a moment before its process is gone
Deno.test(
  "the dashboard that is served is what its sources build",
  { sanitizeOps: false, sanitizeResources: false },
  async () => {
    const { html, scriptHash, styleHash } = await buildPage().finally(stop);
    const packed = new Blob([Uint8Array.fromBase64(packedPage)]).stream();
    const served = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text();
    assertEquals({ html: served, ...hashes }, { html, script: scriptHash, style: styleHash });
  },
);
