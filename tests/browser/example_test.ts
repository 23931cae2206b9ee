/** The page of `examples/browser`, served as its reader serves it, over the package's build. */
import { assertMatch } from "@std/assert";
import { examplePath, startDemoProcess } from "../support/_examples.ts";
import { makeFolder } from "../support/_library.ts";
import { findPackage } from "../support/_package.ts";
import { spawnCommand } from "../support/_cli.ts";
import { until } from "../support/patience.ts";
import { testInChromium } from "./_chromium.ts";

testInChromium("examples/browser asks the proxy, and shows its answer or why there is none", async (browser) => {
  await using folder = await makeFolder();
  const build = `${await findPackage(folder.path)}/dist`;
  await using site = spawnCommand([build, "0"], {
    command: [Deno.execPath(), "run", "-A", "--no-npm", examplePath("browser/serve.ts")],
  });
  const address = /http:\/\/127\.0\.0\.1:\d+/;
  await until(() => address.test(site.out + site.err), () => `the site's address: ${site.out}${site.err}`);
  const [url] = address.exec(site.out + site.err)!;
  const page = await browser.newPage();
  const shown = async (question: string, answer: RegExp) => {
    await page.getByLabel("Question").fill(question);
    await page.getByRole("button", { name: "Ask" }).click();
    const output = page.locator("output", { hasText: answer });
    await output.waitFor();
    return await output.innerText();
  };
  {
    await using demo = await startDemoProcess();
    await page.goto(`${url}/?proxy=${demo.url}`);
    assertMatch(
      await shown("Why?", /—/),
      /^Hello from \w+, a simulated provider\. You said: Why\?\n— .*chat-completion$/,
    );
  }
  assertMatch(await shown("Again?", /\w{3}/), /proxy|connect|reach/i);
  await page.close();
});
