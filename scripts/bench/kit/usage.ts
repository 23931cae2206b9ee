/**
 * Resource usage of processes, from `/proc`.
 * @module
 */

let ticksPerSecond: number | undefined;

async function readTicksPerSecond(): Promise<number> {
  const { stdout } = await new Deno.Command("getconf", { args: ["CLK_TCK"] }).output();
  return Number(new TextDecoder().decode(stdout));
}

/**
 * Returns user plus system CPU time of a process, seconds.
 *
 * @param pid The process id.
 */
export async function cpuSeconds(pid: number): Promise<number> {
  ticksPerSecond ??= await readTicksPerSecond();
  return cpuTicksIn(await Deno.readTextFile(`/proc/${pid}/stat`)) / ticksPerSecond;
}

/**
 * Returns `utime` plus `stime` from `/proc/<pid>/stat`, in ticks.
 *
 * @param line Its content. The name of a program may contain spaces and parentheses.
 */
export function cpuTicksIn(line: string): number {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

/**
 * Returns the CPU time that programs used of a core, and that the host of a virtual machine withheld from it, seconds.
 *
 * @param core Number of the core.
 */
export async function coreSeconds(core: number): Promise<number> {
  ticksPerSecond ??= await readTicksPerSecond();
  return coreTicksIn(await Deno.readTextFile("/proc/stat"), core) / ticksPerSecond;
}

/**
 * Returns user, nice, system and stolen time of a core from `/proc/stat`, in ticks.
 *
 * @param core Number of the core.
 */
export function coreTicksIn(text: string, core: number): number {
  const [, user, nice, system, , , , , stolen = 0] = new RegExp(`^cpu${core} .*`, "m").exec(text)?.[0].split(" ") ?? [];
  return Number(user) + Number(nice) + Number(system) + Number(stolen);
}

/**
 * Returns the resident memory of a process, KiB.
 *
 * @param pid The process id.
 */
export async function residentKib(pid: number): Promise<number> {
  return residentKibIn(await Deno.readTextFile(`/proc/${pid}/status`));
}

/** Returns `VmRSS` from `/proc/<pid>/status`, KiB. */
export function residentKibIn(text: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1]);
}
