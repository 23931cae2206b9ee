/** Tests of Python packages are skipped without an interpreter, and fail where CI's own lacks a package. */
import { assertEquals, assertThrows } from "@std/assert";
import { makeFolder } from "./support/_library.ts";
import { findPython } from "./support/_python.ts";

Deno.test("a package is looked for in the interpreter that OPENAI_PYTHON names; with CI, it has to be there", async () => {
  await using folder = await makeFolder();
  const interpreter = async (name: string, code: number) => {
    const path = await folder.write(name, `#!/bin/sh\nexit ${code}\n`);
    await Deno.chmod(path, 0o700);
    return path;
  };
  const [having, lacking] = await Promise.all([interpreter("having", 0), interpreter("lacking", 1)]);
  const absent = `${folder.path}/absent`;
  for (const CI of [undefined, "true"]) {
    assertEquals(findPython("openai", { OPENAI_PYTHON: having, CI }), having);
    assertEquals(findPython("openai", { OPENAI_PYTHON: absent, CI }), undefined);
    assertEquals(findPython("no_such_package", { CI }), undefined);
  }
  assertEquals(findPython("openai", { OPENAI_PYTHON: lacking }), undefined);
  const error = () => findPython("openai", { OPENAI_PYTHON: lacking, CI: "true" });
  assertThrows(error, Error, `${lacking} has no package "openai", and CI runs every test`);
});
