/**
 * A state on the real disk, while processes are killed and while they compete. `deno task crash` does the same with 200
 * kills and 1 000 updates.
 */
import { assertEquals, assertGreater } from "@std/assert";
import { makeFolder } from "../support/_library.ts";
import { killAgainAndAgain, spentAt, StateProcess } from "../support/_crash.ts";

Deno.test("a process that is killed while it writes leaves the old state or the new one, and nothing else", async () => {
  await using folder = await makeFolder();
  const { corrupt, lost, updates } = await killAgainAndAgain(`${folder.path}/state.json`, 12);
  assertEquals({ corrupt, lost }, { corrupt: 0, lost: 0 });
  assertGreater(updates, 0);
});

Deno.test("two processes on one file lose no update", async () => {
  await using folder = await makeFolder();
  const path = `${folder.path}/new/state.json`;
  const processes = [new StateProcess(path, "60", "locked"), new StateProcess(path, "60", "locked")];
  assertEquals(await Promise.all(processes.map((one) => one.end())), [0, 0]);
  assertEquals(await spentAt(path), 120);
});
