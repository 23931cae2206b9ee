/** The picture of README, as browsers draw it. */
import { assert, assertEquals } from "@std/assert";
import { testInChromium } from "./_chromium.ts";

const picture = await Deno.readTextFile(new URL("../../docs/mesh.svg", import.meta.url));

testInChromium("The picture's text stays in its boxes, in light and dark", async (browser) => {
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await browser.newPage({ colorScheme });
    await page.setContent(picture);
    const texts = await page.evaluate<number>("document.querySelectorAll('text').length");
    assert(texts > 10, "the picture has no text");
    const outside = await page.evaluate<string[]>(`{
      const boxes = [...document.querySelectorAll("rect")].map((rect) => rect.getBBox());
      const isInside = ({ x, y, width, height }) => boxes.some((box) => box.x <= x && x + width <= box.x + box.width &&
        box.y <= y && y + height <= box.y + box.height);
      [...document.querySelectorAll("text")].filter((text) => !isInside(text.getBBox())).map((text) => text.textContent);
    }`);
    assertEquals(outside, []);
    await page.close();
  }
});
