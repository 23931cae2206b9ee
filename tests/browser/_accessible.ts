/**
 * What every state of the dashboard has to fulfil: for axe, and for its window.
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { axe } from "./_axe.ts";
import type { Dashboard } from "./_dashboard.ts";

/** axe finds nothing serious. */
export async function assertAccessible({ page }: Dashboard): Promise<void> {
  await page.evaluate(`${axe.source}; 0`);
  const found = await page.evaluate<string[]>(
    `axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`,
  );
  assertEquals(found, []);
}

/** The page is not wider than its window, and cuts no title or figure. */
export async function assertFits({ page }: Dashboard, width: number): Promise<void> {
  assertEquals(await page.evaluate("innerWidth"), width);
  const fits = await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth");
  assert(fits, "the page is wider than its window");
  const parts = ".facts span, .tile > *, .chart h3 > span:first-child";
  const cut = await page.evaluate<string[]>(`[...document.querySelectorAll("${parts}")]
    .filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.textContent)`);
  assertEquals(cut, [], "titles or figures wider than their place");
  const breakdown = await page.evaluate<number>(
    `{ const { scrollWidth, clientWidth } = document.getElementById("table-scroll"); scrollWidth - clientWidth }`,
  );
  assert(width < 1280 || breakdown <= 0, "the breakdown ends inside a column");
}

/** Keeps a picture for people, where a folder for such is given. */
export async function keepPicture({ page }: Dashboard, name: string): Promise<void> {
  const folder = Deno.env.get("MODELMESH_ARTIFACTS");
  if (folder === undefined) return;
  await page.evaluate("scrollTo(0, 0)");
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
