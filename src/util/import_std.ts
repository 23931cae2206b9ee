/**
 * Imports of the standard library.
 * @module
 */

/**
 * Imports a part of the standard library: the installed one, or that of the import map. A program outside of a checkout
 * that imports its `mod.ts` by path has neither, and gets the copy in the checkout.
 *
 * @param importPart Imports it by its name.
 * @param name Name of its package, without the scope: that of the folder of the copy.
 * @throws The error of the import if there is no copy; that of the runtime if it does not permit to read the copy.
 */
export async function importStd<Part>(importPart: () => Promise<Part>, name: string): Promise<Part> {
  try {
    return await importPart();
  } catch (error) {
    const here = import.meta.url; // bundlers would follow an address that contains it, and have the module twice
    const { href } = new URL(`../../scripts/std/${name}/checkout.mjs`, here);
    return await import(href).catch((failure) => {
      throw /^Requires \w+ access/.test((failure as Error).message) ? failure : error;
    });
  }
}
