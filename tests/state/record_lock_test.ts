/** The lock of a record that several processes write. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Lock, LockOptions } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import { fakeClock, settle } from "../../src/runtime/test.ts";
import { RecordLock } from "../../src/state/persistence/record_lock.ts";

function scene({ isReachable = () => true }: { isReachable?: () => boolean } = {}) {
  const clock = fakeClock();
  const seen: string[] = [];
  const storage = {
    acquire: (key: string, { owner, ttlMs, timeoutMs }: LockOptions): Promise<Lock> => {
      seen.push(`acquire ${timeoutMs}`);
      if (!isReachable()) return Promise.reject(new ConnectorError("Away", undefined, "unavailable"));
      return Promise.resolve({ key, owner, expiresAt: clock.now() + ttlMs });
    },
    release: () => {
      seen.push("release");
      return Promise.resolve();
    },
  };
  const locking = { timeoutMs: 5_000, retryIntervalMs: 50 };
  return { clock, seen, lock: new RecordLock({ storage, key: "state", clock, locking }) };
}

describe("The lock of a record", () => {
  it("is renewed every second while the work lasts, and released after it", async () => {
    const { clock, seen, lock } = scene();
    let finish = () => {};
    const working = lock.run(async (isOurs) => {
      await new Promise<void>((resolve) => finish = resolve);
      return isOurs();
    });
    await settle();
    await clock.advance(10_000);
    finish();
    await working;
    assertEquals([seen[0], seen.filter((what) => what === "acquire 0").length, seen.at(-1)], [
      "acquire 5000",
      10,
      "release",
    ]);
    assertEquals(clock.pending, 0);
  });

  it("is tried once by an owner that does not wait", async () => {
    const { seen, lock } = scene();
    lock.waitsForOwner = false;
    await lock.run(() => Promise.resolve(true));
    assertEquals(seen, ["acquire 0", "release"]);
  });

  it("that was lost has the work begun anew, three times in all", async () => {
    const { seen, lock } = scene();
    let times = 0;
    await lock.run(() => Promise.resolve(++times === 3));
    assertEquals([times, seen.filter((what) => what === "release").length], [3, 3]);
    await assertRejects(() => lock.run(() => Promise.resolve(false)), ConnectorError, "the lock expired");
  });

  it("is this process's no longer once it could not be renewed for three seconds", async () => {
    let isReachable = true;
    const { clock, lock } = scene({ isReachable: () => isReachable });
    const ours: boolean[] = [];
    await lock.run(async (isOurs) => {
      isReachable = false;
      for (let second = 1; second <= 3; second++) {
        await clock.advance(1_000);
        ours.push(isOurs());
      }
      return true;
    });
    assertEquals(ours, [true, true, false]);
  });

  it("is released by work that throws", async () => {
    const { seen, lock } = scene();
    await assertRejects(() => lock.run(() => Promise.reject(new Error("full"))), Error, "full");
    assertEquals(seen, ["acquire 5000", "release"]);
  });
});
