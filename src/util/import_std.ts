/**
 * Imports of the standard library.
 * @module
 */

/**
 * Imports a part of the standard library: the installed one, or that of the import map. A program outside of a checkout
 * that imports its `mod.ts` by path has neither, and gets what the checkout itself uses, which is on npm; Node resolves no
 * names of npm packages in addresses, so that there the part has to be installed.
 *
 * @param importPart Imports it by its name.
 * @param path Path of its module in `scripts/std`, such as `yaml/mod.ts`.
 * @throws The error of the import if neither is there; that of the runtime if it does not permit to read the checkout.
 */
export async function importStd<Part>(importPart: () => Promise<Part>, path: string): Promise<Part> {
  try {
    return await importPart();
  } catch (error) {
    const here = import.meta.url; // bundlers would follow an address that contains it, and have the module twice
    const { href } = new URL(`../../scripts/std/${path}`, here);
    return await import(href).catch((failure) => {
      throw /^Requires \w+ access/.test((failure as Error).message) ? failure : error;
    });
  }
}
