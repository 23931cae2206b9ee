/**
 * What a process has used, as the kernel counts it.
 * @module
 */

let ticksPerSecond: number | undefined;

async function readTicksPerSecond(): Promise<number> {
  const { stdout } = await new Deno.Command("getconf", { args: ["CLK_TCK"] }).output();
  return Number(new TextDecoder().decode(stdout));
}

/**
 * User and system time of a process, seconds.
 *
 * @param pid The process.
 */
export async function cpuSeconds(pid: number): Promise<number> {
  ticksPerSecond ??= await readTicksPerSecond();
  return cpuTicksIn(await Deno.readTextFile(`/proc/${pid}/stat`)) / ticksPerSecond;
}

/**
 * `utime` and `stime` in a line of `/proc/<pid>/stat`, ticks.
 *
 * @param line The line; a program's name may have spaces and brackets in it.
 */
export function cpuTicksIn(line: string): number {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

/**
 * User and system time that all programs used of a core, seconds.
 *
 * @param core Its number.
 */
export async function coreSeconds(core: number): Promise<number> {
  ticksPerSecond ??= await readTicksPerSecond();
  return coreTicksIn(await Deno.readTextFile("/proc/stat"), core) / ticksPerSecond;
}

/**
 * User, nice and system time of a core in the text of `/proc/stat`, ticks.
 *
 * @param text The text.
 * @param core The core's number.
 */
export function coreTicksIn(text: string, core: number): number {
  const line = new RegExp(`^cpu${core} (\\d+) (\\d+) (\\d+)`, "m").exec(text);
  return Number(line?.[1]) + Number(line?.[2]) + Number(line?.[3]);
}

/**
 * Resident memory of a process, KiB.
 *
 * @param pid The process.
 */
export async function residentKib(pid: number): Promise<number> {
  return residentKibIn(await Deno.readTextFile(`/proc/${pid}/status`));
}

/**
 * `VmRSS` in the text of `/proc/<pid>/status`, KiB.
 *
 * @param text The text.
 */
export function residentKibIn(text: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]);
}
